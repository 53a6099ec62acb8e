/* SPDX-License-Identifier: MIT */
/* coroutine.c - coroutines by ucontext, for x86-64. */
#include "coroutine.h"

#include "../support/thread_locals.h"
#include "states.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { STACK = 32 << 10 };

struct coroutine {
    _Alignas(64) unsigned char stack[STACK];
    ucontext_t context; /* while it is paused */
    bool is_paused;
    void (*body)(void *);
    void *arg;
    uint64_t *locals; /* its thread-local variables, while it does not run */
};

/* The registers that a call keeps. */
static const int kept[] = { REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15 };
enum { KEPT = sizeof(kept) / sizeof(kept[0]) };

static struct coroutine *present;
static ucontext_t outside;
static uint64_t *outside_locals;

static size_t words_of_locals(void) {
    return (thread_locals_size() + 7) / 8;
}

struct coroutine *coroutine_create(void) {
    struct coroutine *coroutine = aligned_alloc(64, sizeof(*coroutine));
    if (coroutine == NULL)
        abort();
    memset(coroutine, 0, sizeof(*coroutine));
    coroutine->locals = calloc(words_of_locals() + 1, 8);
    if (outside_locals == NULL)
        outside_locals = calloc(words_of_locals() + 1, 8);
    if (coroutine->locals == NULL || outside_locals == NULL)
        abort();
    return coroutine;
}

static void run(void) {
    present->body(present->arg);
}

static void enter(struct coroutine *coroutine) {
    present = coroutine;
    coroutine->is_paused = false;
    thread_locals_save(outside_locals);
    thread_locals_load(coroutine->locals);
    if (swapcontext(&outside, &coroutine->context) != 0)
        abort();
    thread_locals_save(coroutine->locals);
    thread_locals_load(outside_locals);
    present = NULL;
}

void coroutine_start(struct coroutine *coroutine, void (*body)(void *), void *arg) {
    coroutine->body = body;
    coroutine->arg = arg;
    memset(coroutine->stack, 0, STACK); /* what is digested depends on this call alone */
    memset(&coroutine->context, 0, sizeof(coroutine->context));
    thread_locals_init(coroutine->locals);
    if (getcontext(&coroutine->context) != 0)
        abort();
    for (size_t i = 0; i < KEPT; i++)
        coroutine->context.uc_mcontext.gregs[kept[i]] = 0; /* not those of the caller */
    coroutine->context.uc_stack.ss_sp = coroutine->stack;
    coroutine->context.uc_stack.ss_size = STACK;
    coroutine->context.uc_link = &outside;
    makecontext(&coroutine->context, run, 0);
    enter(coroutine);
}

void coroutine_resume(struct coroutine *coroutine) {
    enter(coroutine);
}

bool coroutine_is_paused(const struct coroutine *coroutine) {
    return coroutine->is_paused;
}

void coroutine_pause(void) {
    struct coroutine *coroutine = present;
    coroutine->is_paused = true;
    if (swapcontext(&coroutine->context, &outside) != 0)
        abort();
}

uint64_t coroutine_digest(const struct coroutine *coroutine) {
    const greg_t *registers = coroutine->context.uc_mcontext.gregs;
    uint64_t digest = 1;
    for (size_t i = 0; i < KEPT; i++)
        digest = digest_add(digest, (uint64_t)registers[kept[i]]);
    uintptr_t stack = (uintptr_t)coroutine->stack;
    for (uintptr_t at = (uintptr_t)registers[REG_RSP]; at + 8 <= stack + STACK; at += 8) {
        uint64_t word;
        memcpy(&word, (const void *)at, sizeof(word));
        digest = digest_add(digest, word);
    }
    for (size_t i = 0; i < words_of_locals(); i++)
        digest = digest_add(digest, coroutine->locals[i]);
    return digest;
}

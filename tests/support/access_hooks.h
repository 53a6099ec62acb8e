/* SPDX-License-Identifier: MIT */
/*
 * access_hooks.h - each access of code to memory becomes a call.
 *
 * access_hooks.c has the functions that the compiler calls with -fsanitize=thread, instead of ThreadSanitizer's.
 * They call those declared here, which a program defines that links it. This header is also included before each
 * source file that is compiled so: what the compiler would turn into instructions becomes calls, too.
 *
 * `code` is the address behind the call, in the code that accesses memory. `order` is one of the __ATOMIC_
 * constants. A call comes before the access itself, which follows at once when it returns.
 */
#ifndef TESTS_SUPPORT_ACCESS_HOOKS_H
#define TESTS_SUPPORT_ACCESS_HOOKS_H

#include <stddef.h>
#include <stdint.h>

/* ---- plain accesses */

void hook_read(const volatile void *memory, size_t size, const void *code);
void hook_write(const volatile void *memory, size_t size, const void *code);

/* ---- atomic operations */

/* Returns the value that the load sees. */
uint64_t hook_load(const volatile void *word, size_t size, int order, const void *code);

/* Returns the value that the word has then: another one if the store comes before it. */
uint64_t hook_store(const volatile void *word, size_t size, uint64_t value, int order,
                    const void *code);

/* A read-modify-write begins; returns the value that it sees. `expected`: the one that a compare-and-swap wants; NULL:
   another operation. One of the others follows, before any other thread can run: it ends with a new value, and the word
   has then the value that is returned; or, a compare-and-swap, without one. */
uint64_t hook_begin_change(const volatile void *word, size_t size, int order,
                           const uint64_t *expected, const void *code);
uint64_t hook_end_change(const volatile void *word, size_t size, uint64_t value, int order,
                         const void *code);
void hook_end_unchanged(const volatile void *word, size_t size, int order, const void *code);

void hook_fence(int order, const void *code);

/* The value that a word has now. */
uint64_t access_word(const volatile void *word, size_t size);

/* ---- instructions */

/* A step of a spin lock's wait. */
void hook_pause(void);
#define __builtin_ia32_pause hook_pause

/* A line is fetched to be written to. */
void hook_prefetch(const void *memory);
#define HTW__PREFETCH(memory) hook_prefetch(memory)

#endif /* TESTS_SUPPORT_ACCESS_HOOKS_H */

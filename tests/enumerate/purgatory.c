/* SPDX-License-Identifier: MIT */
/*
 * purgatory.c - every short history of two requests on two keys, with three threads.
 *
 *     enumerate_purgatory DEPTH                    all histories of up to DEPTH steps
 *     enumerate_purgatory TEXT [close|complete]    one history, as a failure prints it
 *
 * A step is a call of a thread, as a whole or up to its first hook; or a thread goes on, to its next hook or to the
 * end of its call. As no lock is held in a hook, this is where threads meet; between two hooks, ./dev explore
 * has them meet. Threads are coroutines, time is manual, and the thread that lets time pass runs what is due.
 *
 * purgatory_judge.c says what must hold.
 */
/* holds: purgatory-1, purgatory-2, purgatory-3, purgatory-4, purgatory-15, purgatory-24 */
#include "purgatory_judge.h"
#include "search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPS_MAX = 96 };

struct operation {
    enum { CALL, GO_ON, MAKE_READY } kind;
    struct call call;
    unsigned number; /* of the thread that goes on, or the request that becomes ready */
    bool up_to_hook;
};

static struct operation ops[OPS_MAX];
static size_t op_count;

/* ---- calls, in a coroutine */

static struct htw_key key_of(unsigned key) {
    return (struct htw_key) { &"AB"[key], 1 };
}

static int64_t submit(const struct call *call) {
    struct htw_key keys[KEYS];
    size_t count = 0;
    for (unsigned key = 0; key < KEYS; key++)
        if ((call->keys & 1u << key) != 0)
            keys[count++] = key_of(key);
    return htw_purgatory_try_complete_else_watch(judge->purgatory,
                                                 &judge->waiters[call->request].request, keys,
                                                 count, call->is_timed ? TICK_NS : HTW_NEVER_NS);
}

static int64_t make(const struct call *call) {
    struct htw_purgatory *purgatory = judge->purgatory;
    struct htw_request *request = &judge->waiters[call->request].request;
    struct htw_key key = key_of(call->keys - 1);
    switch (call->kind) {
    case SUBMIT:
        return submit(call);
    case CHECK:
        return htw_purgatory_check(purgatory, key.bytes, key.size);
    case CHECK_LATER:
        return htw_purgatory_check_later(purgatory, key.bytes, key.size);
    case COMPLETE:
        return htw_request_complete(purgatory, request);
    case CANCEL:
        return htw_request_cancel(purgatory, request);
    case CANCEL_KEY:
        return htw_purgatory_cancel_key(purgatory, key.bytes, key.size, NULL, NULL);
    case ADVANCE:
        return htw_scheduler_advance(judge->scheduler, TICK_NS);
    case CLOSE:
        return htw_purgatory_close(purgatory, NULL, NULL);
    }
    return -EINVAL;
}

static void work(void *arg) {
    struct worker *worker = arg;
    judge_call(worker);
    judge_result(worker, make(&worker->call));
}

static void enter(struct worker *worker, bool up_to_hook, bool is_new) {
    judge->present = worker;
    worker->up_to_hook = up_to_hook;
    if (is_new)
        coroutine_start(worker->coroutine, work, worker);
    else
        coroutine_resume(worker->coroutine);
    judge->present = NULL;
}

static struct worker *idle_worker(void) {
    for (struct worker *worker = judge->workers; worker < judge->workers + WORKERS; worker++)
        if (!coroutine_is_paused(worker->coroutine))
            return worker;
    return NULL;
}

/* ---- operations */

static void append(struct operation operation) {
    if (op_count == OPS_MAX)
        abort();
    ops[op_count++] = operation;
}

/* Up to a hook, too, if hooks may run. */
static void append_call(struct call call) {
    append((struct operation) { .kind = CALL, .call = call });
    if (call.kind != CHECK_LATER)
        append((struct operation) { .kind = CALL, .call = call, .up_to_hook = true });
}

/* Two requests that the user owns are alike. */
static void append_for_request(unsigned number, bool *idle_was_tried) {
    const struct waiter *waiter = &judge->waiters[number];
    if (!waiter->is_submitted && *idle_was_tried)
        return;
    if (!waiter->is_ready)
        append((struct operation) { .kind = MAKE_READY, .number = number });
    if (waiter->is_submitted) {
        append_call((struct call) { .kind = COMPLETE, .request = number });
        append_call((struct call) { .kind = CANCEL, .request = number });
        return;
    }
    *idle_was_tried = true;
    append_call((struct call) { .kind = SUBMIT, .request = number, .keys = 1, .is_timed = true });
    for (unsigned keys = 1; keys < 1u << KEYS; keys++)
        append_call((struct call) { .kind = SUBMIT, .request = number, .keys = keys });
}

static size_t list_operations(void) {
    bool idle_was_tried = false;
    op_count = 0;
    for (unsigned i = 0; i < WORKERS; i++)
        for (unsigned up_to_hook = 0; up_to_hook < 2; up_to_hook++)
            if (coroutine_is_paused(judge->workers[i].coroutine))
                append((struct operation) {
                    .kind = GO_ON, .number = i, .up_to_hook = up_to_hook != 0 });
    if (idle_worker() == NULL)
        return op_count;
    for (unsigned i = 0; i < WAITERS; i++)
        append_for_request(i, &idle_was_tried);
    for (unsigned key = 0; key < KEYS; key++)
        append_call((struct call) { .kind = CHECK, .keys = 1 + key });
    append_call((struct call) { .kind = CHECK_LATER, .keys = 1 });
    append_call((struct call) { .kind = CANCEL_KEY, .keys = 1 });
    if (!judge_is_making(ADVANCE)) /* only one thread may */
        append_call((struct call) { .kind = ADVANCE });
    if (!judge->is_closed)
        append_call((struct call) { .kind = CLOSE });
    return op_count;
}

static void describe(size_t operation, char *text) {
    static const char *const names[] = { "submit", "check",      "check later", "complete",
                                         "cancel", "cancel key", "advance",     "close" };
    static const char *const keys[] = { "", " A", " B", " A and B" };
    const struct operation *op = &ops[operation];
    const char *hook = op->up_to_hook ? " up to a hook" : "";
    char request[8] = "";
    switch (op->kind) {
    case GO_ON:
        snprintf(text, SEARCH_TEXT, "thread %u goes on%s", op->number, hook);
        break;
    case MAKE_READY:
        snprintf(text, SEARCH_TEXT, "%u is ready", op->number);
        break;
    case CALL:
        if (op->call.kind == SUBMIT || op->call.kind == COMPLETE || op->call.kind == CANCEL)
            snprintf(request, sizeof(request), " %u", op->call.request);
        snprintf(text, SEARCH_TEXT, "%s%s%s%s%s", names[op->call.kind], request,
                 keys[op->call.keys], op->call.is_timed ? " with a timeout" : "", hook);
        break;
    }
}

static bool run(size_t operation) {
    const struct operation *op = &ops[operation];
    struct worker *worker;
    switch (op->kind) {
    case GO_ON:
        enter(&judge->workers[op->number], op->up_to_hook, false);
        break;
    case MAKE_READY:
        judge->waiters[op->number].is_ready = true;
        break;
    case CALL:
        worker = idle_worker();
        worker->call = op->call;
        enter(worker, op->up_to_hook, true);
        break;
    }
    judge_quiet();
    return judge->message == NULL;
}

/* ---- the begin and the end */

static void create_purgatory(void) {
    struct htw_scheduler_options scheduling = manual_options(judge->until_ns);
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    scheduling.allocator = &judge->memory.allocator;
    judge_set_hooks(&options);
    options.shards = 1;
    options.allocator = &judge->memory.allocator;
    if (htw_scheduler_create(&judge->scheduler, &scheduling) != 0 ||
        htw_purgatory_create(&judge->purgatory, judge->scheduler, &options) != 0)
        abort();
}

static void begin(void) {
    judge = calloc(1, sizeof(*judge));
    if (judge == NULL)
        abort();
    judge->until_ns = HTW_SECOND;
    failing_allocator_init(&judge->memory);
    for (unsigned i = 0; i < WORKERS; i++)
        judge->workers[i].coroutine = coroutine_create();
    create_purgatory();
}

/* What the threads have begun comes to its end, then all requests do. */
static bool finish(size_t end) {
    for (unsigned i = 0; i < WORKERS; i++) {
        struct worker *worker = &judge->workers[end == 0 ? i : WORKERS - 1 - i];
        if (coroutine_is_paused(worker->coroutine))
            enter(worker, false, false);
    }
    judge_quiet();
    for (unsigned i = 0; end == 1 && i < WAITERS; i++)
        judge->waiters[i].is_ready = true;
    for (unsigned key = 1; end == 1 && key <= KEYS; key++) {
        judge->workers[0].call = (struct call) { .kind = CHECK, .keys = key };
        enter(&judge->workers[0], false, true);
    }
    if (end == 1 && judge->message == NULL && judge_count_waiting() > 0)
        judge_fail("a check of both keys has left a request that is ready");
    if (end == 0 && !judge->is_closed) {
        judge->workers[0].call = (struct call) { .kind = CLOSE };
        enter(&judge->workers[0], false, true);
    }
    judge_quiet();
    if (judge->message == NULL && htw_purgatory_destroy(judge->purgatory) != 0)
        judge_fail("the purgatory cannot be destroyed");
    if (judge->message != NULL)
        return false;
    htw_scheduler_destroy(judge->scheduler);
    if (judge->memory.error != NULL || judge->memory.live_blocks != 0)
        judge_fail(judge->memory.error != NULL ? judge->memory.error : "memory leaked");
    return judge->message == NULL;
}

static bool compare(bool is_new) {
    (void)is_new; /* judge_quiet() has done so */
    return true;
}

static const char *message(void) {
    return judge->message == NULL ? "none" : judge->message;
}

static const char *const ends[] = { "close", "complete", NULL };

static const struct search_model model = { begin,   list_operations, describe, run,    judge_read,
                                           compare, finish,          ends,     message };

int main(int argc, char *argv[]) {
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: enumerate_purgatory DEPTH\n"
                        "       enumerate_purgatory TEXT [close|complete]\n");
        return 2;
    }
    return search_told(&model, "purgatory", argv[1], argv[2]) ? 0 : 1;
}

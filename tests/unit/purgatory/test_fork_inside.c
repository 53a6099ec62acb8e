/* SPDX-License-Identifier: MIT */
/*
 * test_fork_inside - a child that returns from the hook, visitor or executor in which it was
 * forked. It runs no other hook of its parent's, takes no lock, and comes out of the call.
 *
 * The child takes all locks of the purgatory before it returns, as it might have inherited them,
 * and replaces the allocator. If the library then takes a lock, allocates, releases, or calls a
 * hook or visitor, the child ends with a status that says so.
 */
#include "../../support/child.h"
#include "../../support/purgatory_case.h"

#include "../../../src/purgatory/cpu.h"
#include "../../../src/purgatory/frame.h"
#include "../../../src/purgatory/shard.h"
#include "../../../src/purgatory/waiting.h"
#include "../../../src/scheduler/expirer.h"
#include "../../../src/scheduler/run.h"
#include "../../../src/scheduler/shard.h"

#include <string.h>
#include <unistd.h>

/* How a child ends: with its first mistake. */
enum { CAME_OUT, WRONG_RESULT, CALLED_A_HOOK, TOOK_A_LOCK, USED_MEMORY };

static pid_t child;
static bool in_child;

/* What the log says when the hook that wrote last forks, or checks a key. */
static const char *fork_at, *check_at, *key_to_check, *cancel_at;

/* Called when a lock is taken already. */
void __real_htw__lock_wait(struct htw__lock *lock);
void __wrap_htw__lock_wait(struct htw__lock *lock);

void __wrap_htw__lock_wait(struct htw__lock *lock) {
    if (in_child)
        _exit(TOOK_A_LOCK);
    __real_htw__lock_wait(lock);
}

static void *must_not_allocate(void *context, size_t size, size_t alignment) {
    (void)context;
    (void)size;
    (void)alignment;
    _exit(USED_MEMORY);
}

static void must_not_release(void *context, void *memory, size_t size, size_t alignment) {
    (void)context;
    (void)memory;
    (void)size;
    (void)alignment;
    _exit(USED_MEMORY);
}

/* Not in the order of ranks: this replaces several threads. */
static void hold(struct htw__lock *lock) {
    atomic_store(&lock->locked, 1);
}

static void inherit_locks(struct purgatory_case *test) {
    struct htw_purgatory *purgatory = test->purgatory;
    for (uint32_t i = 0; i < purgatory->shard_count; i++)
        hold(&purgatory->shards[i].lock);
    for (uint32_t i = 0; i < purgatory->cpu_count; i++) {
        hold(&purgatory->cpus[i].lock);
        hold(&purgatory->cpus[i].key_pool_lock);
    }
    hold(&purgatory->lock);
    if (test->threshold != NULL)
        hold(&test->threshold->lock);
    for (uint32_t i = 0; i < test->scheduler->shard_count; i++)
        hold(&test->scheduler->shards[i].lock);
    pthread_mutex_lock(&test->scheduler->clock_listeners.mutex.mutex);
    purgatory->allocator.allocate = must_not_allocate;
    purgatory->allocator.release = must_not_release;
}

static void fork_once(struct purgatory_case *test) {
    child = fork();
    if (child != 0)
        return;
    in_child = true;
    alarm(60);
    inherit_locks(test);
}

static bool is_at(const struct purgatory_case *test, const char *log) {
    return log != NULL && strcmp(test->log, log) == 0;
}

/* What each hook and the visitor do. */
static void act(struct waiter *self) {
    struct purgatory_case *test = self->test;
    if (in_child)
        _exit(CALLED_A_HOOK);
    if (is_at(test, fork_at))
        fork_once(test);
    else if (is_at(test, check_at))
        check_key(test, key_to_check);
    else if (is_at(test, cancel_at))
        cancel(self);
}

static struct waiter *waiter(struct purgatory_case *test, char name) {
    struct waiter *self = purgatory_case_waiter(test, name);
    self->on_asked = self->on_ended = self->on_released = self->on_visited = act;
    return self;
}

static int how_child_ended(void) {
    int ended = child_end(child);
    child = 0;
    return ended;
}

/* Makes a call, in which a hook forks. It returns `in_child` in the child. */
static void call_and_fork(struct purgatory_case *test, int64_t (*call)(struct purgatory_case *test),
                          const char *log, int64_t result_in_child) {
    purgatory_case_forget_log(test);
    fork_at = log;
    int64_t result = call(test);
    if (in_child)
        _exit(result == result_in_child && htw__innermost_frame == NULL &&
                      htw__innermost_callback_frame == NULL
                  ? CAME_OUT
                  : WRONG_RESULT);
    fork_at = NULL;
    assert_true(result >= 0);
    int ended = how_child_ended();
    if (ended != CAME_OUT)
        print_error("forked at \"%s\"; in the end the log is \"%s\"\n", log, test->log);
    assert_int_equal(ended, CAME_OUT);
}

static void begin(struct purgatory_case *test, const struct htw_scheduler_options *scheduler) {
    struct htw_purgatory_options options = purgatory_case_options();
    options.shards = 1;
    purgatory_case_begin(test, scheduler, &options);
}

#define LOGS(...) ((const char *const[]) { __VA_ARGS__, NULL })

/* ---- the calls */

static void prepare_nothing(struct purgatory_case *test) {
    (void)test;
}

/* Four requests on a key, of which the second and third can be completed. */
static void prepare_key(struct purgatory_case *test) {
    for (char name = 'a'; name <= 'd'; name++)
        watch(waiter(test, name), name * MS, "k");
    test->waiters[1].ready = test->waiters[2].ready = true;
}

static void prepare_keys(struct purgatory_case *test) {
    prepare_key(test);
    watch(waiter(test, 'e'), HTW_SECOND, "l");
}

static void prepare_threshold(struct purgatory_case *test) {
    assert_int_equal(htw_threshold_create(test->purgatory, 0, &test->threshold), 0);
    for (char name = 'f'; name <= 'g'; name++)
        assert_int_equal(waiter_await(waiter(test, name), (uint64_t)name, name * MS), HTW_WATCHED);
}

static void prepare_later(struct purgatory_case *test) {
    watch(waiter(test, 'a'), HTW_NEVER_NS, "k");
    watch(waiter(test, 'b'), HTW_NEVER_NS, "l");
    test->waiters[0].ready = true;
    assert_int_equal(check_key_later(test, "k"), 0);
    assert_int_equal(check_key_later(test, "l"), 0);
}

static void prepare_close(struct purgatory_case *test) {
    watch(waiter(test, 'a'), HTW_SECOND, "k");
    watch(waiter(test, 'b'), HTW_SECOND, "k");
    prepare_threshold(test);
}

static int64_t call_submit(struct purgatory_case *test) {
    return submit(waiter(test, 'a'), HTW_SECOND, "k", "l", "m", "n");
}

static int64_t call_submit_ready(struct purgatory_case *test) {
    struct waiter *a = waiter(test, 'a');
    a->ready = true;
    return submit(a, HTW_SECOND, "k");
}

static int64_t call_submit_soon_ready(struct purgatory_case *test) {
    struct waiter *a = waiter(test, 'a');
    a->yes_at = 2;
    return submit(a, HTW_SECOND, "k");
}

static int64_t call_await(struct purgatory_case *test) {
    return waiter_await(waiter(test, 'a'), 0, HTW_SECOND);
}

static int64_t call_check(struct purgatory_case *test) {
    return check_key(test, "k");
}

static int64_t call_check_for_one(struct purgatory_case *test) {
    return check_key_at_most(test, "k", 1);
}

static int64_t call_advance(struct purgatory_case *test) {
    return htw_scheduler_advance(test->scheduler, 2 * HTW_SECOND);
}

static int64_t call_threshold_advance(struct purgatory_case *test) {
    return htw_threshold_advance(test->threshold, 1000);
}

static int64_t call_complete(struct purgatory_case *test) {
    return complete(&test->waiters['b' - 'a']);
}

static int64_t call_cancel(struct purgatory_case *test) {
    return cancel(&test->waiters['f' - 'a']);
}

static int64_t call_cancel_key(struct purgatory_case *test) {
    return cancel_key(test, "k");
}

static int64_t call_end_all(struct purgatory_case *test) {
    return htw_threshold_end_all(test->threshold, HTW_REASON_CANCELLED, waiter_visit, test);
}

static int64_t call_threshold_destroy(struct purgatory_case *test) {
    int result = htw_threshold_destroy(test->threshold);
    if (result == 0)
        test->threshold = NULL;
    return result;
}

static int64_t call_close(struct purgatory_case *test) {
    return htw_purgatory_close(test->purgatory, waiter_visit, test);
}

/* A call, the events that come before, and the places at which one of its hooks forks: what the log
   says by then. */
struct call {
    void (*prepare)(struct purgatory_case *test);
    int64_t (*make)(struct purgatory_case *test);
    int64_t result_in_child;
    const char *check_at, *key, *cancel_at;
    const char *logs[8];
};

static const struct call calls[] = {
    { prepare_nothing, call_submit, -EOWNERDEAD, .logs = { "a?", "a? a?" } },
    { prepare_nothing, call_submit_ready, -EOWNERDEAD, .logs = { "a?", "a? aC", "a? aC a=" } },
    { prepare_nothing, call_submit_soon_ready, -EOWNERDEAD,
      .logs = { "a? a?", "a? a? aC", "a? a? aC a=" } },
    /* A hook has marked its own request, which is asked or ended at the end of the submission. */
    { prepare_nothing, call_submit, -EOWNERDEAD, "a? a?", "k", NULL, { "a? a? a?" } },
    { prepare_nothing,
      call_submit,
      -EOWNERDEAD,
      NULL,
      NULL,
      "a? a?",
      { "a? a? aX", "a? a? aX a=" } },
    { prepare_threshold, call_await, -EOWNERDEAD, .logs = { "aC", "aC a=" } },
    { prepare_key, call_check, -EOWNERDEAD,
      .logs = { "a?", "a? b?", "a? b? bC", "a? b? bC b=", "a? b? bC b= c? cC c= d?" } },
    { prepare_key, call_check_for_one, -EOWNERDEAD,
      .logs = { "a?", "a? b?", "a? b? bC", "a? b? bC b=" } },
    /* A check that would go round again. */
    { prepare_key,
      call_check,
      -EOWNERDEAD,
      "a?",
      "k",
      NULL,
      { "a? b? bC", "a? b? bC b= c? cC c= d?", "a? b? bC b= c? cC c= d? a?",
        "a? b? bC b= c? cC c= d? a? d?" } },
    /* A check inside a check. */
    { prepare_keys, call_check, -EOWNERDEAD, "a?", "l", NULL, { "a? e?" } },
    { prepare_later, call_advance, -EOWNERDEAD,
      .logs = { "a?", "a? aC", "a? aC a=", "a? aC a= b?" } },
    { prepare_threshold, call_threshold_advance, -EOWNERDEAD,
      .logs = { "fC", "fC f=", "fC f= gC", "fC f= gC g=" } },
    { prepare_key, call_advance, -EOWNERDEAD,
      .logs = { "aE", "aE a=", "aE a= bE b= cE c= dE", "aE a= bE b= cE c= dE d=" } },
    { prepare_threshold, call_advance, -EOWNERDEAD, .logs = { "fE", "fE f=", "fE f= gE g=" } },
    { prepare_key, call_complete, true, .logs = { "bC", "bC b=" } },
    { prepare_threshold, call_cancel, true, .logs = { "fX", "fX f=" } },
    { prepare_key, call_cancel_key, -EOWNERDEAD,
      .logs = { "a!", "a! aX", "a! aX a=", "a! aX a= b! bX b= c! cX c= d! dX d=" } },
    { prepare_threshold, call_end_all, -EOWNERDEAD,
      .logs = { "f!", "f! fX", "f! fX f=", "f! fX f= g! gX g=" } },
    { prepare_threshold, call_threshold_destroy, -EOWNERDEAD,
      .logs = { "fS", "fS f=", "fS f= gS g=" } },
    { prepare_close, call_close, -EOWNERDEAD,
      .logs = { "a!", "a! aS", "a! aS a=", "a! aS a= b! bS b=", "a! aS a= b! bS b= f!",
                "a! aS a= b! bS b= f! fS f=", "a! aS a= b! bS b= f! fS f= g! gS g=" } },
};

UNIT_TEST(purgatory_child_of_a_hook_returns_from_any_call) {
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        for (const char *const *log = calls[i].logs; *log != NULL; log++) {
            struct purgatory_case test;
            begin(&test, NULL);
            check_at = calls[i].check_at;
            key_to_check = calls[i].key;
            cancel_at = calls[i].cancel_at;
            calls[i].prepare(&test);
            call_and_fork(&test, calls[i].make, *log, calls[i].result_in_child);
            purgatory_case_end(&test);
        }
    check_at = cancel_at = NULL;
}

/* ---- calls that need more */

static struct purgatory_case *executed;

/* Drops a task while the scheduler can schedule no other, and runs the others. */
static void drop_and_run(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    if (is_at(executed, fork_at))
        fork_once(executed);
    failing_allocator_fail(&executed->scheduler_memory, 1, true);
    int outcome = htw_task_drop(tasks[0], NULL);
    (void)outcome;
    for (size_t i = 1; i < count; i++)
        htw_task_run(tasks[i]);
}

UNIT_TEST(purgatory_child_of_a_hook_returns_from_an_executor) {
    struct htw_executor executor = { drop_and_run, NULL };
    struct htw_scheduler_options options = purgatory_case_scheduler_options();
    options.executor = &executor;
    for (const char *const *log = LOGS("", "a?", "a? aC", "a? aC a=", "a? aC a= b?"); *log != NULL;
         log++) {
        struct purgatory_case test;
        begin(&test, &options);
        executed = &test;
        prepare_later(&test);
        call_and_fork(&test, call_advance, *log, -EOWNERDEAD);
        purgatory_case_end(&test);
    }
}

static int64_t call_destroy(struct purgatory_case *test) {
    return htw_purgatory_destroy(test->purgatory);
}

UNIT_TEST(purgatory_child_of_a_hook_returns_from_destroy) {
    for (const char *const *log = LOGS("aS", "aS a="); *log != NULL; log++) {
        struct purgatory_case test;
        begin(&test, NULL);
        watch(waiter(&test, 'a'), HTW_SECOND, "k");
        call_and_fork(&test, call_destroy, *log, -EOWNERDEAD);
        assert_int_equal(htw_scheduler_destroy(test.scheduler), 0);
        assert_int_equal(test.memory.live_blocks, 0);
        assert_null(test.error);
        failing_allocator_fini(&test.memory);
        failing_allocator_fini(&test.scheduler_memory);
    }
}

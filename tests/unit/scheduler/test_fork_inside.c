/* SPDX-License-Identifier: MIT */
/*
 * test_fork_inside.c - a child that returns from the callback, hook, visitor or executor in
 * which it was forked. It runs nothing else of its parent's, takes no lock, and comes out.
 *
 * The child takes all locks of the scheduler before it returns, as it might have inherited them: if
 * the library took one after that, the child would hang, and SIGALRM would end it.
 */
#include "../../support/child.h"
#include "scheduler_fixture.h"

#include "../../../src/scheduler/expirer.h"
#include "../../../src/scheduler/run.h"
#include "../../../src/scheduler/shard.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_bool has_forked; /* two workers may want to at once */
static pid_t child;
static bool in_child;

static bool fork_when_dirty; /* that is, when there are pages to be given back */

/* Takes the lock without waiting: a thread of the parent may have held it at the fork. Not in the
   order of ranks: this replaces several threads. */
static void hold(struct htw__lock *lock) {
    atomic_store(&lock->locked, 1);
}

static void inherit_locks(struct htw_scheduler *scheduler) {
    struct scheduler_fixture *fixture = scheduler->allocator.context;
    (void)pthread_mutex_trylock(&fixture->mutex); /* that of the allocator */
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        hold(&scheduler->shards[i].lock);
    for (uint32_t i = 0; i < scheduler->expirer_count; i++) {
        struct htw__expirer *expirer = &scheduler->expirers[i];
        struct htw__alarm *alarm = &expirer->waker.alarm;
#ifdef HTW_PORTABLE
        if (alarm->fd >= 0)
            (void)pthread_mutex_trylock(&alarm->mutex.mutex);
#else
        atomic_fetch_or(&alarm->version, 1); /* a thread was setting it */
#endif
        if (!fork_when_dirty)
            atomic_store(&expirer->waker.cleanup, true); /* so that it would clean up */
    }
    if (scheduler->executor_run_stats != NULL)
        hold(&scheduler->executor_run_stats->lock);
    (void)pthread_mutex_trylock(&scheduler->work_queue.mutex.mutex);
    (void)pthread_mutex_trylock(&scheduler->cancel_waiters.mutex.mutex);
    (void)pthread_mutex_trylock(&scheduler->life.mutex.mutex);
}

/* How a child ends that has come out. */
static void leave(void) {
    kill(getpid(), SIGKILL);
}

static void fork_once(struct htw_scheduler *scheduler) {
    if (atomic_exchange(&has_forked, true))
        return;
    child = fork();
    if (child != 0)
        return;
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    in_child = true;
    child = -1;
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
    alarm(60);
    inherit_locks(scheduler);
}

/* Nothing of the parent's is called in the child. */
static void stay_out(void) {
    if (in_child)
        _exit(2);
}

/* The child, too, comes here: it leaves if `condition` holds. */
#define CHILD_LEAVES(condition)                                       \
    do {                                                              \
        if (in_child) {                                               \
            if ((condition) && htw__innermost_callback_frame == NULL) \
                leave();                                              \
            _exit(1);                                                 \
        }                                                             \
        assert_int_equal(how_child_ended(), -SIGKILL);                \
    } while (0)

static int how_child_ended(void) {
    int ended = child_end(child);
    child = 0;
    has_forked = false;
    return ended;
}

static void act_fork(struct probe *self) {
    (void)self;
    stay_out();
    fork_once(self->last.scheduler);
}

#define TIMERS 200u

/* The first to run forks. */
static void arm_many(struct scheduler_fixture *f, int64_t delay_ns) {
    for (unsigned i = 0; i < TIMERS; i++) {
        f->probes[i].act = act_fork;
        arm(f, i, i % 2 * delay_ns);
    }
}

/* ---- callbacks */

SCHEDULER_TEST(child_of_a_callback_returns_from_advance) {
    for (f->options.shards = 1; f->options.shards <= 8; f->options.shards *= 8) {
        f->count = TIMERS;
        scheduler_reopen(f);
        arm_many(f, MS);
        int result = htw_scheduler_advance(f->scheduler, HTW_SECOND);
        CHILD_LEAVES(result == -EOWNERDEAD);
        assert_int_equal(result, 0);
        assert_int_equal(f->log_count, TIMERS);
        arm_many(f, 0);
        result = htw_scheduler_set_time(f->scheduler, 2 * HTW_SECOND);
        CHILD_LEAVES(result == -EOWNERDEAD);
        assert_int_equal(result, 0);
    }
}

SCHEDULER_TEST(child_of_a_callback_returns_from_process) {
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.embedded = true;
    f->count = TIMERS;
    scheduler_reopen(f);
    arm_many(f, 0);
    size_t count = 77;
    int result = htw_scheduler_process(f->scheduler, 0, &count);
    CHILD_LEAVES(result == -EOWNERDEAD && count == 77);
    assert_int_equal(result, HTW_DONE);
    assert_int_equal(count, TIMERS);
}

SCHEDULER_TEST(child_of_a_callback_that_repeats_returns) {
    for (unsigned i = 0; i < 2; i++) {
        f->probes[i].act = act_fork;
        arm_every(f, i, MS, MS, HTW_REPEAT_SKIP);
    }
    int result = htw_scheduler_advance(f->scheduler, 5 * MS);
    CHILD_LEAVES(result == -EOWNERDEAD);
    assert_int_equal(f->probes[0].runs + f->probes[1].runs, 10);
}

/* The thread in which it was forked is a worker or an expirer. */
static void end_in_the_thread(struct scheduler_fixture *f, uint32_t workers, enum htw_clock clock) {
    f->options.workers = workers;
    f->options.start_threads = true;
    f->options.clock = clock;
    f->count = TIMERS;
    scheduler_reopen(f);
    arm_many(f, 0);
    if (clock == HTW_CLOCK_MANUAL)
        advance(f, 0);
    for (unsigned i = 0; i < TIMERS; i++)
        assert_true(cancel_wait(f, i) >= 0);
    /* In real time all may have been cancelled before they ran. */
    while (clock != HTW_CLOCK_MANUAL && scheduler_stats(f).runs == 0) {
        arm(f, 0, 0);
        sched_yield();
        assert_true(cancel_wait(f, 0) >= 0);
    }
    assert_false(in_child);
    assert_int_equal(how_child_ended(), EXIT_FAILURE);
}

SCHEDULER_TEST(child_of_a_callback_in_a_thread_of_the_library_is_ended) {
    end_in_the_thread(f, 1, HTW_CLOCK_MANUAL);
    end_in_the_thread(f, 2, HTW_CLOCK_MANUAL);
    end_in_the_thread(f, 0, HTW_CLOCK_MONOTONIC);
    end_in_the_thread(f, 2, HTW_CLOCK_MONOTONIC);
}

/* ---- executors */

static bool execute_forks;
static struct scheduler_fixture *executing;

static void execute(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    stay_out();
    if (execute_forks)
        fork_once(executing->scheduler);
    for (size_t i = 0; i < count; i++)
        htw_task_run(tasks[i]); /* in the child, nothing */
}

SCHEDULER_TEST(child_returns_from_an_executor) {
    for (unsigned i = 0; i < 2; i++) {
        struct htw_executor executor = { execute, NULL };
        f->options.executor = &executor;
        execute_forks = i == 1;
        executing = f;
        f->count = TIMERS;
        scheduler_reopen(f);
        arm_many(f, MS);
        int result = htw_scheduler_advance(f->scheduler, HTW_SECOND);
        CHILD_LEAVES(result == -EOWNERDEAD);
        assert_int_equal(f->log_count, TIMERS);
    }
}

SCHEDULER_TEST(child_of_an_executor_in_the_expirer_is_ended) {
    struct htw_executor executor = { execute, NULL };
    f->options.executor = &executor;
    f->options.clock = HTW_CLOCK_MONOTONIC;
    execute_forks = true;
    executing = f;
    scheduler_reopen(f);
    arm(f, 0, 0);
    while (is_pending(f, 0))
        sched_yield();
    assert_true(cancel_wait(f, 0) >= 0);
    assert_false(in_child);
    assert_int_equal(how_child_ended(), EXIT_FAILURE);
}

static struct htw_task *kept;

static void keep(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    (void)count;
    kept = tasks[0];
}

/* ---- hooks and visitors */

static struct htw_scheduler *hooked;
/* As if a thread of the parent waited for the callback. */
static void let_await(htw_handle handle) {
    uint64_t ident;
    struct htw__record *record = htw__handle_record(&hooked->shards[0], handle, &ident);
    if (record != NULL)
        htw__status_set(record, ident | HTW__AWAITED);
}

static void hook_awaited(void *arg) {
    struct probe *probe = arg;
    stay_out();
    fork_once(hooked);
    if (in_child)
        let_await(probe->handle);
}

static void hook(void *arg) {
    (void)arg;
    stay_out();
    if (!fork_when_dirty || hooked->shards[0].slab.empty_count > 1)
        fork_once(hooked);
}

static void visit(void *context, const struct htw_unexpired *unexpired) {
    (void)context;
    (void)unexpired;
    stay_out();
    fork_once(hooked);
}

static htw_handle arm_hooked(struct scheduler_fixture *f, struct htw_group *group,
                             const char *key) {
    struct htw_spec spec = HTW_SPEC_INIT;
    htw_handle handle;
    hooked = f->scheduler;
    spec.callback = probe_run;
    spec.arg = &f->probes[0];
    spec.release = hook;
    spec.group = group;
    spec.key = key;
    spec.key_size = key == NULL ? 0 : 1;
    assert_true(htw_schedule_spec(f->scheduler, &spec, &handle, NULL) >= 0);
    return handle;
}

SCHEDULER_TEST(child_of_a_hook_returns_from_advance) {
    arm_hooked(f, NULL, NULL);
    arm_hooked(f, NULL, NULL);
    int result = htw_scheduler_advance(f->scheduler, 0);
    CHILD_LEAVES(result == -EOWNERDEAD);
    assert_int_equal(f->log_count, 2);
}

SCHEDULER_TEST(child_of_a_hook_returns_from_a_callback_that_is_awaited) {
    struct htw_spec spec = HTW_SPEC_INIT;
    hooked = f->scheduler;
    spec.callback = probe_run;
    spec.arg = &f->probes[0];
    spec.release = hook_awaited;
    arm_spec(f, 0, &spec);
    int result = htw_scheduler_advance(f->scheduler, 0);
    CHILD_LEAVES(result == -EOWNERDEAD);
}

SCHEDULER_TEST(child_of_a_hook_returns_from_what_ends_a_timer) {
    int result = htw_cancel(f->scheduler, arm_hooked(f, NULL, NULL));
    CHILD_LEAVES(result == HTW_CANCELLED);
    result = htw_cancel_wait(f->scheduler, arm_hooked(f, NULL, NULL));
    CHILD_LEAVES(result == HTW_CANCELLED);
    arm_hooked(f, NULL, "k");
    result = htw_cancel_key(f->scheduler, NULL, "k", 1, NULL);
    CHILD_LEAVES(result == HTW_CANCELLED);
    arm_hooked(f, NULL, "k");
    arm_hooked(f, NULL, "k"); /* replaces it */
    CHILD_LEAVES(true);
    has_forked = true; /* the second one's hook need not fork */
    scheduler_reopen(f);
    has_forked = false;
}

/* After such a cancel the expirer is told to clean up. */
SCHEDULER_TEST(child_of_a_hook_returns_from_a_cancel_that_empties_pages) {
    enum { MANY = 3 * 4096 };
    static htw_handle handles[MANY];
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.embedded = true;
    scheduler_reopen(f);
    for (unsigned i = 0; i < MANY; i++)
        handles[i] = arm_hooked(f, NULL, NULL);
    fork_when_dirty = true;
    int result = HTW_CANCELLED;
    for (unsigned i = 0; i < MANY && child == 0 && result == HTW_CANCELLED; i++)
        result = htw_cancel(f->scheduler, handles[i]);
    CHILD_LEAVES(result == HTW_CANCELLED);
    fork_when_dirty = false;
    has_forked = true; /* the hooks of those that are left need not fork */
    scheduler_reopen(f);
    has_forked = false;
}

SCHEDULER_TEST(child_of_a_hook_returns_from_a_dropped_task) {
    struct htw_executor executor = { keep, NULL };
    f->options.executor = &executor;
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.embedded = true;
    scheduler_reopen(f);
    arm_hooked(f, NULL, NULL);
    assert_int_equal(htw_scheduler_process(f->scheduler, 0, NULL), HTW_DONE);
    void *arg = f;
    int outcome = htw_task_drop(kept, &arg);
    CHILD_LEAVES(outcome == HTW_CANCELLED && arg == NULL);
}

SCHEDULER_TEST(child_returns_from_the_cancel_of_a_group) {
    struct htw_group *group;
    assert_int_equal(htw_group_create(f->scheduler, &group), 0);
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned j = 0; j < TIMERS; j++)
            arm_hooked(f, group, NULL);
        int64_t result = htw_group_cancel(group, i == 0 ? NULL : visit, NULL);
        CHILD_LEAVES(result == -EOWNERDEAD);
        assert_int_equal(result, TIMERS);
    }
    htw_group_destroy(group);
}

SCHEDULER_TEST(child_returns_from_stop) {
    for (unsigned i = 0; i < 2; i++) {
        scheduler_reopen(f);
        for (unsigned j = 0; j < TIMERS; j++)
            arm_hooked(f, NULL, NULL);
        int result = htw_scheduler_stop(f->scheduler, i == 0 ? NULL : visit, NULL);
        CHILD_LEAVES(result == -EOWNERDEAD);
        assert_int_equal(result, 0);
    }
}

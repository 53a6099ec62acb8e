/* SPDX-License-Identifier: MIT */
/*
 * test_cpus.c - timeouts when the timer of the scheduler that they use is dropped or lost,
 * when a hook takes long, and when the clock is set.
 */
#include "../../support/purgatory_case.h"

#include <errno.h>
#include <limits.h>
#include <semaphore.h>
#include <time.h>

/* ------------------------------------------------------------------ an executor that drops */

/* Both alarms are lost, and there is no memory: the next submission is refused, or sets another. */
/* holds: purgatory-9b */
UNIT_TEST(purgatory_submission_after_all_alarms_were_lost_sets_one) {
    struct purgatory_case test;
    purgatory_case_begin_dropping(&test, 0);
    watch(purgatory_case_waiter(&test, 'a'), MS, "k");
    failing_allocator_fail(&test.scheduler_memory, 1, true);
    test.drops = 2;
    purgatory_case_advance(&test, 5 * MS);
    assert_int_equal(test.drops, 0);
    assert_int_equal(submit(purgatory_case_waiter(&test, 'b'), 3600 * HTW_SECOND, "k"), -ENOMEM);
    assert_ends(&test, "");
    failing_allocator_relent(&test.scheduler_memory);
    watch(purgatory_case_waiter(&test, 'c'), 3600 * HTW_SECOND, "k");
    assert_ends_after(&test, MS, "aE");
    purgatory_case_end(&test);
}

/* holds: purgatory-9b */
UNIT_TEST(purgatory_executor_that_drops_everything_gets_tasks_less_often) {
    struct purgatory_case test;
    purgatory_case_begin_dropping(&test, UINT_MAX);
    watch(purgatory_case_waiter(&test, 'a'), MS, "k");
    purgatory_case_advance(&test, 10 * HTW_SECOND);
    assert_in_range(test.executed, 10, 40);
    purgatory_case_advance(&test, 100 * HTW_SECOND);
    assert_in_range(test.executed, 50, 150);
    for (char name = 'b'; name <= 'z'; name++) /* nor is it more often with more submissions */
        watch(purgatory_case_waiter(&test, name), (int64_t)('{' - name) * MS, "k");
    purgatory_case_advance(&test, 10 * HTW_SECOND);
    assert_in_range(test.executed, 50, 200);
    assert_ends(&test, "");
    test.drops = 0;
    purgatory_case_advance(&test, 2 * HTW_SECOND);
    assert_int_equal(test.ends[HTW_REASON_EXPIRED], 26);
    purgatory_case_forget_log(&test);
    test.executed = 0;
    assert_int_equal(cancel(test.waiters), false);
    watch(purgatory_case_waiter(&test, 'a'), MS, "k"); /* and all is forgotten */
    test.drops = 1;
    assert_ends_after(&test, MS, "aE");
    purgatory_case_end(&test);
}

/* ------------------------------------------------------------------ the clock */

/* Then the wheel cannot follow at once. */
PURGATORY_TEST(purgatory_timeout_after_a_step_back_without_memory_is_not_early) {
    watch(purgatory_case_waiter(test, 'a'), 50 * HTW_SECOND, "k");
    watch(purgatory_case_waiter(test, 'b'), 20 * HTW_SECOND, "k");
    assert_ends_after(test, 30 * HTW_SECOND, "bE");
    assert_int_equal(htw_scheduler_set_time(test->scheduler, CASE_START_NS), 0);
    failing_allocator_fail(&test->memory, 1, true);
    watch(purgatory_case_waiter(test, 'c'), 10 * HTW_SECOND, "k");
    watch(purgatory_case_waiter(test, 'd'), 0, "k");
    purgatory_case_advance(test, 10 * HTW_SECOND - MS);
    assert_true(test->waiters['c' - 'a'].ended == 0);
    purgatory_case_advance(test, 30 * HTW_SECOND);
    assert_int_equal(test->ends[HTW_REASON_EXPIRED], 3);
    failing_allocator_relent(&test->memory);
    purgatory_case_advance(test, 10 * HTW_SECOND + MS);
    assert_int_equal(test->ends[HTW_REASON_EXPIRED], 4);
}

/* holds: purgatory-9 */
UNIT_TEST(purgatory_timeout_in_the_last_hour_of_the_range_expires) {
    struct purgatory_case test;
    struct htw_scheduler_options options = purgatory_case_scheduler_options();
    options.manual_start_ns = HTW_NEVER_NS - 3600 * HTW_SECOND;
    purgatory_case_begin(&test, &options, NULL);
    watch(purgatory_case_waiter(&test, 'a'), HTW_SECOND, "k");
    watch(purgatory_case_waiter(&test, 'b'), 3599 * HTW_SECOND, "k");
    watch(purgatory_case_waiter(&test, 'c'), 3600 * HTW_SECOND - 1, "k");
    watch(purgatory_case_waiter(&test, 'd'), 3600 * HTW_SECOND, "k");
    watch(purgatory_case_waiter(&test, 'e'), HTW_NEVER_NS - 1, "k");
    assert_ends_after(&test, HTW_SECOND, "");
    purgatory_case_advance(&test, MS); /* the clock is not at the beginning of a tick */
    assert_ends(&test, "aE");
    assert_ends_after(&test, 3598 * HTW_SECOND, "bE");
    assert_ends_after(&test, HTW_SECOND, "");
    purgatory_case_end(&test);
}

static void submit_again(struct waiter *self) {
    if (self->released < 10000)
        self->result = submit(self, 0, "k");
}

/* More than a callback ends before it returns. Each expires in a later callback, so the stack does
   not grow. */
PURGATORY_TEST(purgatory_request_with_timeout_zero_may_be_submitted_again_ten_thousand_times) {
    static struct waiter waiter;
    waiter_init(&waiter, test, '\0');
    waiter.on_released = submit_again;
    watch(&waiter, 0, "k");
    purgatory_case_advance(test, 0);
    assert_int_equal(waiter.released, 10000);
}

/* ------------------------------------------------------------------ hooks that take long */

struct slow {
    struct htw_request requests[8];
    _Atomic unsigned started;
    sem_t all_started, ended;
    _Atomic bool timed_out;
};

/* Each waits until all others have begun: they need as many workers. */
static void meet(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)request;
    (void)reason;
    struct slow *slow = context;
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 30;
    if (++slow->started == 8)
        for (int i = 0; i < 8; i++)
            sem_post(&slow->all_started);
    if (sem_timedwait(&slow->all_started, &limit) != 0)
        slow->timed_out = true;
    sem_post(&slow->ended);
}

static void check_slow_hooks(enum htw_clock clock) {
    static struct slow slow;
    slow = (struct slow) { .started = 0 };
    struct htw_scheduler_options scheduler_options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    struct htw_key key = { "k", 1 };
    scheduler_options.workers = 8;
    scheduler_options.clock = clock;
    options.on_complete = meet;
    options.context = &slow;
    sem_init(&slow.all_started, 0, 0);
    sem_init(&slow.ended, 0, 0);
    assert_int_equal(htw_scheduler_create(&scheduler, &scheduler_options), 0);
    assert_int_equal(htw_purgatory_create(&purgatory, scheduler, &options), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(
            htw_purgatory_try_complete_else_watch(purgatory, &slow.requests[i], &key, 1, HTW_HOUR),
            HTW_WATCHED);
    /* Only now, when this thread owns no request any more, so that its hook cannot run here. */
    for (int i = 0; i < 8; i++)
        assert_int_equal(htw_request_set_timeout(purgatory, &slow.requests[i], 20 * MS), 0);
    for (int i = 0; i < 8; i++)
        sem_wait(&slow.ended);
    assert_false(slow.timed_out);
    assert_int_equal(htw_purgatory_destroy(purgatory), 0);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

/* By each of the kernel's clocks. */
/* holds: purgatory-9 */
UNIT_TEST(purgatory_slow_hook_delays_no_other_timeout) {
    for (int clock = HTW_CLOCK_MONOTONIC; clock <= HTW_CLOCK_REALTIME; clock++)
        if (clock != HTW_CLOCK_BOOTTIME || HAS_BOOTTIME)
            check_slow_hooks((enum htw_clock)clock);
}

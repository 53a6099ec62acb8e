/* SPDX-License-Identifier: MIT */
/* test_cpus.c - timeouts when a hook takes long, and when the clock is set; and a deferred check then. */
#include "../../support/purgatory_case.h"
#include "../../support/told.h"

#include <htw/executor.h>
#include <htw/loop.h>

#include <pthread.h>

/* No header declares what the linker or the compiler calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* Then the wheel cannot follow at once. */
PURGATORY_TEST(purgatory_timeout_after_a_step_back_without_memory_is_not_early) {
    watch(purgatory_case_waiter(test, 'a'), 50 * HTW_SECOND, "k");
    watch(purgatory_case_waiter(test, 'b'), 20 * HTW_SECOND, "k");
    assert_ends_after(test, 30 * HTW_SECOND, "bE");
    assert_int_equal(htw_scheduler_set_clock(test->scheduler, HTW_CLOCK_DEFAULT, CASE_START_NS), 0);
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

/* The kernel's clocks (-Wl,--wrap), by which an embedded scheduler goes. */
static int64_t monotonic_ns = CASE_START_NS, realtime_ns = CASE_START_NS;

int64_t __wrap_htw__clock_monotonic_ns(void) {
    return monotonic_ns;
}

int64_t __wrap_htw__clock_realtime_ns(void) {
    return realtime_ns;
}

UNIT_TEST(purgatory_check_later_does_not_wait_for_a_wall_clock_that_is_set_back) {
    struct purgatory_case test;
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.clock = HTW_CLOCK_REALTIME;
    options.embedded = true;
    purgatory_case_begin(&test, &options, NULL);
    watch_each(&test, "A", HTW_HOUR, "k");
    assert_int_equal(check_key_later(&test, "k"), 0);
    realtime_ns -= 12 * HTW_HOUR;
    assert_int_equal(htw_scheduler_process(test.scheduler, 0, NULL), HTW_DONE);
    assert_log(&test, "a? aC a=");
    purgatory_case_end(&test);
}

/* ------------------------------------------------------------------ hooks that take long */

/* All requests are on one CPU, which has two alarms that repeat. */
int __wrap_sched_getcpu(void) {
    return 0;
}

/* The executor of an embedded scheduler holds tasks for the test. */

static struct {
    struct htw_task *tasks[8];
    size_t count;
} held;

static void hold(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    for (size_t i = 0; i < count; i++)
        held.tasks[held.count++] = tasks[i];
}

/* What is due, and what that makes due. */
static void *work(void *scheduler) {
    do
        (void)htw_scheduler_process(scheduler, 0, NULL);
    while (htw_scheduler_next(scheduler) <= monotonic_ns);
    while (held.count > 0)
        htw_task_run(held.tasks[--held.count]);
    return NULL;
}

static unsigned hooks, most; /* that run, at once */

/* Another worker does what is due while this one is in a hook. */
static void let_another_work(struct waiter *self) {
    pthread_t thread;
    if (++hooks > most)
        most = hooks;
    if (pthread_create(&thread, NULL, work, self->test->scheduler) == 0)
        pthread_join(thread, NULL);
    hooks--;
}

/* Two of the alarms repeat, and cannot ring while their callbacks are in hooks: then another one is made for each request.
   If the scheduler has no memory for that, the third request waits for a hook. */
/* holds: purgatory-9, purgatory-9b */
UNIT_TEST(purgatory_timeout_expires_while_two_hooks_run) {
    struct purgatory_case test;
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.embedded = true;
    options.executor = &(const struct htw_executor) { hold, NULL };
    for (unsigned is_refused = 0; is_refused < 2; is_refused++) {
        purgatory_case_begin(&test, &options, NULL);
        for (struct waiter *w = watch_each(&test, "abcde", MS, "k"); w < test.waiters + 5; w++)
            w->on_ended = let_another_work;
        if (is_refused)
            failing_allocator_fail(&test.scheduler_memory, 1, true);
        most = 0;
        begin_told(keep_told);
        monotonic_ns += MS;
        work(test.scheduler);
        assert_told(is_refused ? "no timer for a purgatory" : "");
        assert_int_equal(told.count, is_refused);
        assert_int_equal(most, is_refused ? 2 : 5);
        assert_int_equal(test.ends[HTW_REASON_EXPIRED], 5);
        purgatory_case_end(&test);
    }
}

/* SPDX-License-Identifier: MIT */
/* What becomes of timeouts when the timer of the scheduler that stands for them is dropped or lost,
   when a hook takes long, and when the clock is set. */
#include "../support/purgatory_case.h"

#include <errno.h>
#include <semaphore.h>
#include <time.h>

/* ------------------------------------------------------------------ an executor that drops */

static unsigned to_drop;

static void execute(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    for (size_t i = 0; i < count; i++)
        if (to_drop > 0) {
            to_drop--;
            htw_task_drop(tasks[i]);
        } else {
            htw_task_run(tasks[i]);
        }
}

static void begin_with_executor(struct purgatory_case *test, unsigned drops) {
    struct htw_scheduler_options options = purgatory_case_scheduler_options();
    struct htw_executor executor = { execute, NULL };
    options.executor = &executor;
    to_drop = drops;
    purgatory_case_begin(test, &options, NULL);
}

static void purgatory_alarm_that_an_executor_drops_is_set_again(void **state) {
    (void)state;
    struct purgatory_case test;
    begin_with_executor(&test, 2);
    watch(purgatory_case_waiter(&test, 'a'), MS, "k");
    watch(purgatory_case_waiter(&test, 'b'), 2 * MS, "k");
    purgatory_case_advance(&test, MS);
    purgatory_case_advance(&test, MS);
    assert_int_equal(to_drop, 0);
    assert_ends(&test, "aE bE");
    watch(purgatory_case_waiter(&test, 'c'), MS, "k");
    purgatory_case_advance(&test, MS);
    assert_ends(&test, "cE");
    purgatory_case_end(&test);
}

static void purgatory_check_later_that_an_executor_drops_is_made(void **state) {
    (void)state;
    struct purgatory_case test;
    begin_with_executor(&test, 1);
    struct waiter *a = purgatory_case_waiter(&test, 'a');
    watch(a, HTW_FOREVER, "k");
    a->ready = true;
    assert_int_equal(check_key_later(&test, "k"), 0);
    purgatory_case_advance(&test, 0);
    purgatory_case_advance(&test, 0);
    assert_int_equal(to_drop, 0);
    assert_ends(&test, "aC");
    purgatory_case_end(&test);
}

static void forget(void *context, const struct htw_leftover *leftover) {
    (void)context;
    (void)leftover;
}

static void purgatory_whose_scheduler_was_stopped_refuses_timeouts(void **state) {
    struct purgatory_case *test = *state;
    struct waiter *a = purgatory_case_waiter(test, 'a');
    watch(a, MS, "k");
    assert_int_equal(check_key_later(test, "k"), 0);
    assert_int_equal(htw_scheduler_stop(test->scheduler, forget, NULL), 0);
    assert_int_equal(submit(purgatory_case_waiter(test, 'b'), HTW_SECOND, "k"), -ESHUTDOWN);
    assert_int_equal(check_key_later(test, "k"), -ESHUTDOWN);
    watch(purgatory_case_waiter(test, 'c'), HTW_FOREVER, "k");
    a->ready = true;
    assert_int_equal(check_key(test, "k"), 1);
}

/* ------------------------------------------------------------------ a scheduler without room */

/* The alarm for the second is refused when the first rings: nobody is there to be told. */
static void purgatory_whose_alarm_is_refused_still_expires_requests(void **state) {
    struct purgatory_case *test = *state;
    watch(purgatory_case_waiter(test, 'a'), MS, "k");
    watch(purgatory_case_waiter(test, 'b'), 10 * MS, "k");
    failing_allocator_fail(&test->scheduler_memory, 1, true);
    purgatory_case_advance(test, 5 * MS);
    assert_ends(test, "aE");
    failing_allocator_relent(&test->scheduler_memory);
    watch(purgatory_case_waiter(test, 'c'), 3600 * HTW_SECOND, "k");
    purgatory_case_advance(test, 5 * MS);
    assert_ends(test, "bE");
}

static void purgatory_at_the_limit_of_its_scheduler_expires_requests(void **state) {
    (void)state;
    struct purgatory_case test;
    struct htw_scheduler_options options = purgatory_case_scheduler_options();
    options.max_pending = 1;
    purgatory_case_begin(&test, &options, NULL);
    watch(purgatory_case_waiter(&test, 'a'), MS, "k");
    watch(purgatory_case_waiter(&test, 'b'), 10 * MS, "k");
    watch(purgatory_case_waiter(&test, 'c'), 2 * MS, "k");
    purgatory_case_advance(&test, 10 * MS);
    assert_ends(&test, "aE cE bE");
    purgatory_case_end(&test);
}

/* ------------------------------------------------------------------ the clock */

static void purgatory_timeout_after_the_clock_was_set_back_is_not_early(void **state) {
    struct purgatory_case *test = *state;
    watch(purgatory_case_waiter(test, 'a'), HTW_SECOND, "k");
    purgatory_case_advance(test, 100 * HTW_SECOND);
    assert_ends(test, "aE");
    assert_int_equal(htw_scheduler_set_time(test->scheduler, CASE_START_NS + HTW_SECOND), 0);
    watch(purgatory_case_waiter(test, 'b'), 10 * HTW_SECOND, "k");
    for (char name = 'c'; name <= 'e'; name++)
        watch(purgatory_case_waiter(test, name), 0, "k");
    purgatory_case_advance(test, 0);
    assert_int_equal(test->ends[HTW_REASON_EXPIRED], 4);
    purgatory_case_forget_log(test);
    purgatory_case_advance(test, 10 * HTW_SECOND - 1);
    assert_ends(test, "");
    purgatory_case_advance(test, MS);
    assert_ends(test, "bE");
}

static void submit_again(struct waiter *self) {
    if (self->released < 10000)
        self->result = submit(self, 0, "k");
}

/* More than a callback ends before it returns. */
static void purgatory_request_without_time_may_come_again_ten_thousand_times(void **state) {
    struct purgatory_case *test = *state;
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

static void purgatory_slow_hook_keeps_no_other_waiting(void **state) {
    (void)state;
    static struct slow slow;
    struct htw_scheduler_options scheduler_options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    struct htw_key key = { "k", 1 };
    scheduler_options.workers = 8;
    options.on_complete = meet;
    options.context = &slow;
    sem_init(&slow.all_started, 0, 0);
    sem_init(&slow.ended, 0, 0);
    assert_int_equal(htw_scheduler_create(&scheduler, &scheduler_options), 0);
    assert_int_equal(htw_purgatory_create(&purgatory, scheduler, &options), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(
            htw_purgatory_try_complete_else_watch(purgatory, &slow.requests[i], &key, 1, 20 * MS),
            HTW_WATCHED);
    for (int i = 0; i < 8; i++)
        sem_wait(&slow.ended);
    assert_false(slow.timed_out);
    assert_int_equal(htw_purgatory_destroy(purgatory), 0);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(purgatory_alarm_that_an_executor_drops_is_set_again),
        cmocka_unit_test(purgatory_check_later_that_an_executor_drops_is_made),
        PURGATORY_CASE(purgatory_whose_scheduler_was_stopped_refuses_timeouts),
        PURGATORY_CASE(purgatory_whose_alarm_is_refused_still_expires_requests),
        cmocka_unit_test(purgatory_at_the_limit_of_its_scheduler_expires_requests),
        PURGATORY_CASE(purgatory_timeout_after_the_clock_was_set_back_is_not_early),
        PURGATORY_CASE(purgatory_request_without_time_may_come_again_ten_thousand_times),
        cmocka_unit_test(purgatory_slow_hook_keeps_no_other_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

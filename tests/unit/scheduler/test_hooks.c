/* SPDX-License-Identifier: MIT */
/* Release hooks: called exactly once for whatever way a timer ends, after its callback, or
   after the visitor. */
#include "../../support/scheduler_case.h"

#include "../unit.h"

#include <errno.h>
#include <string.h>

#define DELAY_NS (10 * HTW_MILLISECOND)

static void hook_of_a_timer_that_fired_comes_after_its_callback(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = case_probe_spec_hooked(&a, DELAY_NS);
    probe_schedule_spec(&a, &spec);
    scheduler_case_advance(test, DELAY_NS - 1);
    assert_string_equal(scheduler_case_log(test), "");
    scheduler_case_advance(test, 1);
    assert_string_equal(scheduler_case_log(test), "aA");
    assert_int_equal(htw_cancel(test->scheduler, a.handle), HTW_GONE);
    assert_int_equal(a.releases, 1);
}

static void hook_of_a_cancelled_timer_comes_before_cancel_returns(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = case_probe_spec_hooked(&a, DELAY_NS);
    probe_schedule_spec(&a, &spec);
    assert_int_equal(htw_cancel(test->scheduler, a.handle), HTW_CANCELLED);
    assert_string_equal(scheduler_case_log(test), "A");
    probe_schedule_spec(&a, &spec);
    assert_int_equal(htw_cancel_wait(test->scheduler, a.handle), HTW_CANCELLED);
    assert_string_equal(scheduler_case_log(test), "A");
}

static void hook_of_a_group_comes_after_the_visitor(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = case_probe_spec_hooked(&a, DELAY_NS);
    assert_int_equal(htw_group_create(test->scheduler, &test->group), 0);
    spec.group = test->group;
    probe_schedule_spec(&a, &spec);
    assert_int_equal(htw_group_cancel(test->group, case_probe_visit, NULL), 1);
    assert_string_equal(scheduler_case_log(test), "!aA");
    probe_schedule_spec(&a, &spec);
    assert_int_equal(htw_group_cancel(test->group, NULL, NULL), 1);
    assert_string_equal(scheduler_case_log(test), "A");
}

static void hook_of_a_keyed_timer_comes_when_it_is_replaced_or_cancelled(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec first = case_probe_spec_hooked(&a, DELAY_NS);
    struct htw_spec second = case_probe_spec_hooked(&b, DELAY_NS);
    first.key = second.key = "key";
    first.key_size = second.key_size = 3;
    probe_schedule_spec(&a, &first);
    assert_int_equal(htw_schedule_spec(test->scheduler, &second, NULL, NULL), 0);
    assert_string_equal(scheduler_case_log(test), "A");
    assert_int_equal(htw_cancel_key(test->scheduler, NULL, "key", 3, NULL), HTW_CANCELLED);
    assert_string_equal(scheduler_case_log(test), "B");
}

static void hook_of_a_repeating_timer_comes_after_its_last_run(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = case_probe_spec_hooked(&a, DELAY_NS);
    spec.period_ns = DELAY_NS;
    probe_schedule_spec(&a, &spec);
    scheduler_case_advance(test, 3 * DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "aaa");
    assert_int_equal(htw_cancel(test->scheduler, a.handle), HTW_CANCELLED);
    assert_string_equal(scheduler_case_log(test), "A");
}

static unsigned cancel_itself(struct probe *probe) {
    return (unsigned)htw_cancel(probe->test->scheduler, probe->handle);
}

static void hook_of_a_timer_that_cancels_itself_comes_once(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = case_probe_spec_hooked(&a, DELAY_NS);
    a.during = cancel_itself;
    probe_schedule_spec(&a, &spec);
    scheduler_case_advance(test, DELAY_NS);
    spec.period_ns = DELAY_NS;
    probe_schedule_spec(&a, &spec);
    scheduler_case_advance(test, 5 * DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "aAaA");
    assert_int_equal(a.answer, HTW_RUNNING);
}

static unsigned come_again_once(struct probe *probe) {
    if (probe->runs > 1)
        return 0;
    return (unsigned)htw_reschedule(probe->test->scheduler, probe->handle, DELAY_NS);
}

static void hook_of_a_timer_that_comes_again_waits_for_the_last_run(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = case_probe_spec_hooked(&a, DELAY_NS);
    a.during = come_again_once;
    probe_schedule_spec(&a, &spec);
    scheduler_case_advance(test, DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "a");
    scheduler_case_advance(test, DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "aA");
}

static void hook_of_what_stop_finds_comes_after_the_visitor(void **state) {
    (void)state;
    struct scheduler_case test;
    struct htw_scheduler_options options = scheduler_case_options();
    scheduler_case_begin(&test, &options);
    struct probe a = scheduler_case_probe(&test, 'a'), b = scheduler_case_probe(&test, 'b');
    struct probe c = scheduler_case_probe(&test, 'c');
    struct htw_spec first = case_probe_spec_hooked(&a, DELAY_NS);
    struct htw_spec second = case_probe_spec_hooked(&b, HTW_NEVER_NS);
    struct htw_spec third = case_probe_spec_hooked(&c, 2 * DELAY_NS);
    assert_int_equal(htw_group_create(test.scheduler, &test.group), 0);
    third.group = test.group;
    htw_group_pause(test.group);
    probe_schedule_spec(&a, &first);
    probe_schedule_spec(&b, &second);
    probe_schedule_spec(&c, &third);
    assert_int_equal(htw_scheduler_stop(test.scheduler, case_probe_visit, NULL), 0);
    const char *log = scheduler_case_log(&test); /* in no particular order */
    assert_int_equal(strlen(log), 9);
    assert_non_null(strstr(log, "!aA"));
    assert_non_null(strstr(log, "!bB"));
    assert_non_null(strstr(log, "!cC"));
    assert_int_equal(htw_schedule_spec(test.scheduler, &first, NULL, NULL), -ESHUTDOWN);
    assert_int_equal(a.releases, 1);
    scheduler_case_end(&test);
}

static void hook_of_what_destroy_finds_comes(void **state) {
    (void)state;
    struct scheduler_case test;
    struct htw_scheduler_options options = scheduler_case_options();
    scheduler_case_begin(&test, &options);
    struct probe a = scheduler_case_probe(&test, 'a');
    struct htw_spec spec = case_probe_spec_hooked(&a, DELAY_NS);
    probe_schedule_spec(&a, &spec);
    scheduler_case_end(&test);
    assert_string_equal(scheduler_case_log(&test), "A");
}

/* ---- not at all when scheduling failed */

static void hook_is_not_called_when_scheduling_failed(void **state) {
    (void)state;
    struct scheduler_case test;
    struct htw_scheduler_options options = scheduler_case_options();
    options.max_pending = 1;
    scheduler_case_begin(&test, &options);
    struct probe a = scheduler_case_probe(&test, 'a'), b = scheduler_case_probe(&test, 'b');
    struct htw_spec first = case_probe_spec(&a, DELAY_NS),
                    spec = case_probe_spec_hooked(&b, DELAY_NS);
    first.key = "key";
    first.key_size = 3;
    probe_schedule_spec(&a, &first);
    assert_int_equal(htw_schedule_spec(test.scheduler, &spec, NULL, NULL), -EAGAIN);
    spec.key = "key";
    spec.key_size = 3;
    spec.keep_existing = true;
    assert_int_equal(htw_schedule_spec(test.scheduler, &spec, NULL, NULL), -EEXIST);
    spec.keep_existing = false;
    spec.period_ns = -1;
    assert_int_equal(htw_schedule_spec(test.scheduler, &spec, NULL, NULL), -EINVAL);
    spec.period_ns = 0;
    spec.callback = NULL;
    assert_int_equal(htw_schedule_spec(test.scheduler, &spec, NULL, NULL), -EINVAL);
    spec.callback = case_probe_run;
    failing_allocator_fail(&test.memory, 1, true);
    assert_int_equal(htw_schedule_spec(test.scheduler, &spec, NULL, NULL), -ENOMEM);
    failing_allocator_relent(&test.memory);
    assert_int_equal(htw_scheduler_stop(test.scheduler, NULL, NULL), 0);
    assert_int_equal(htw_schedule_spec(test.scheduler, &spec, NULL, NULL), -ESHUTDOWN);
    assert_int_equal(b.releases, 0);
    scheduler_case_end(&test);
}

/* ---- hooks that call the library */

static void schedule_next(struct probe *probe) {
    struct probe *next = probe->context;
    struct htw_spec spec = case_probe_spec_hooked(next, DELAY_NS);
    next->answer = (unsigned)htw_schedule_spec(probe->test->scheduler, &spec, &next->handle, NULL);
}

static void hook_may_schedule(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct probe c = scheduler_case_probe(test, 'c');
    a.on_release = schedule_next;
    a.context = &b;
    b.on_release = schedule_next;
    b.context = &c;
    struct htw_spec spec = case_probe_spec_hooked(&a, DELAY_NS);
    probe_schedule_spec(&a, &spec);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(b.answer, 0);
    assert_int_equal(htw_cancel(test->scheduler, b.handle), HTW_CANCELLED);
    scheduler_case_advance(test, DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "aABcC");
}

static void cancel_next(struct probe *probe) {
    struct probe *next = probe->context;
    next->answer = (unsigned)htw_cancel(probe->test->scheduler, next->handle);
}

static void hook_may_cancel(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct probe c = scheduler_case_probe(test, 'c');
    a.on_release = b.on_release = c.on_release = cancel_next;
    a.context = &b;
    b.context = &c;
    c.context = &a;
    struct htw_spec first = case_probe_spec_hooked(&a, DELAY_NS);
    struct htw_spec second = case_probe_spec_hooked(&b, DELAY_NS);
    struct htw_spec third = case_probe_spec_hooked(&c, DELAY_NS);
    probe_schedule_spec(&a, &first);
    probe_schedule_spec(&b, &second);
    probe_schedule_spec(&c, &third);
    assert_int_equal(htw_cancel(test->scheduler, a.handle), HTW_CANCELLED);
    assert_string_equal(scheduler_case_log(test), "ABC");
    assert_int_equal(b.answer, HTW_CANCELLED);
    assert_int_equal(c.answer, HTW_CANCELLED);
    assert_int_equal(a.answer, HTW_GONE); /* its own hook was under way */
}

struct answers {
    int cancel, reschedule, set_period, deadline, wait;
    bool pending;
};

static void ask_everything(struct probe *probe) {
    struct htw_scheduler *scheduler = probe->test->scheduler;
    struct answers *answers = probe->context;
    int64_t deadline_ns;
    answers->reschedule = htw_reschedule(scheduler, probe->handle, DELAY_NS);
    answers->pending = htw_is_pending(scheduler, probe->handle);
    answers->set_period = htw_set_period(scheduler, probe->handle, DELAY_NS);
    answers->deadline = htw_deadline(scheduler, probe->handle, &deadline_ns);
    answers->cancel = htw_cancel(scheduler, probe->handle);
    answers->wait = htw_cancel_wait(scheduler, probe->handle);
}

/* The hook is the last of the timer: nothing can bring it back. */
static void hook_cannot_bring_its_timer_back(void **state) {
    (void)state;
    struct scheduler_case test;
    struct htw_scheduler_options options = scheduler_case_options();
    options.max_pending = 1;
    scheduler_case_begin(&test, &options);
    struct probe a = scheduler_case_probe(&test, 'a');
    for (unsigned round = 0; round < 3; round++) { /* a credit lost would be missed then */
        struct answers answers;
        a.context = &answers;
        a.on_release = ask_everything;
        struct htw_spec spec = case_probe_spec_hooked(&a, DELAY_NS);
        probe_schedule_spec(&a, &spec);
        scheduler_case_advance(&test, DELAY_NS);
        assert_true(answers.reschedule == HTW_RUNNING || answers.reschedule == HTW_GONE);
        assert_false(answers.pending);
        assert_true(answers.set_period <= 0);
        assert_true(answers.cancel == HTW_RUNNING || answers.cancel == HTW_GONE);
        assert_true(answers.wait == -EDEADLK || answers.wait == HTW_GONE);
        scheduler_case_advance(&test, 5 * DELAY_NS);
        assert_string_equal(scheduler_case_log(&test), "aA");
    }
    assert_int_equal(scheduler_case_stats(test.scheduler).moved, 0);
    scheduler_case_end(&test);
}

static void stop_scheduler(struct probe *probe) {
    *(int *)probe->context = htw_scheduler_stop(probe->test->scheduler, NULL, NULL);
}

static void hook_that_stops_the_scheduler_is_told_edeadlk(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    int after_run = 0, after_cancel = 0;
    struct htw_spec spec = case_probe_spec_hooked(&a, DELAY_NS);
    a.on_release = stop_scheduler;
    a.context = &after_run;
    probe_schedule_spec(&a, &spec);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(after_run, -EDEADLK);
    a.context = &after_cancel;
    probe_schedule_spec(&a, &spec);
    assert_int_equal(htw_cancel(test->scheduler, a.handle), HTW_CANCELLED);
    assert_int_equal(after_cancel, -EDEADLK);
    a.on_release = NULL;
    probe_schedule_spec(&a, &spec); /* it lives */
    assert_int_equal(htw_cancel(test->scheduler, a.handle), HTW_CANCELLED);
}

static int answer_of_visitor;

static void visit_and_stop(void *context, const struct htw_unexpired *unexpired) {
    (void)unexpired;
    answer_of_visitor = htw_scheduler_stop(context, NULL, NULL);
}

static void visitor_of_stop_that_stops_is_told_edeadlk(void **state) {
    (void)state;
    struct scheduler_case test;
    struct htw_scheduler_options options = scheduler_case_options();
    scheduler_case_begin(&test, &options);
    struct probe a = scheduler_case_probe(&test, 'a');
    probe_schedule(&a, DELAY_NS);
    assert_int_equal(htw_scheduler_stop(test.scheduler, visit_and_stop, test.scheduler), 0);
    assert_int_equal(answer_of_visitor, -EDEADLK);
    scheduler_case_end(&test);
}

#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, scheduler_case_setup, scheduler_case_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(hook_of_a_timer_that_fired_comes_after_its_callback),
        CASE(hook_of_a_cancelled_timer_comes_before_cancel_returns),
        CASE(hook_of_a_group_comes_after_the_visitor),
        CASE(hook_of_a_keyed_timer_comes_when_it_is_replaced_or_cancelled),
        CASE(hook_of_a_repeating_timer_comes_after_its_last_run),
        CASE(hook_of_a_timer_that_cancels_itself_comes_once),
        CASE(hook_of_a_timer_that_comes_again_waits_for_the_last_run),
        cmocka_unit_test(hook_of_what_stop_finds_comes_after_the_visitor),
        cmocka_unit_test(hook_of_what_destroy_finds_comes),
        cmocka_unit_test(hook_is_not_called_when_scheduling_failed),
        CASE(hook_may_schedule),
        CASE(hook_may_cancel),
        cmocka_unit_test(hook_cannot_bring_its_timer_back),
        CASE(hook_that_stops_the_scheduler_is_told_edeadlk),
        cmocka_unit_test(visitor_of_stop_that_stops_is_told_edeadlk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

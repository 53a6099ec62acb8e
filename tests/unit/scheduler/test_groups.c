/* SPDX-License-Identifier: MIT */
/* Timers that are cancelled, paused and resumed together. */
#include "../../support/scheduler_case.h"

#include "../unit.h"

#include <errno.h>
#include <string.h>

#define DELAY_NS (10 * HTW_MILLISECOND)

enum { MANY = 300 }; /* several slices */

static int setup(void **state) {
    scheduler_case_setup(state);
    struct scheduler_case *test = *state;
    assert_int_equal(htw_group_create(test->scheduler, &test->group), 0);
    return 0;
}

static struct htw_spec grouped(struct probe *probe, int64_t delay_ns) {
    struct htw_spec spec = case_probe_spec(probe, delay_ns);
    spec.group = probe->test->group;
    return spec;
}

/* In a group, DELAY_NS from now and a millisecond apart if `apart`. */
static void schedule_many(struct scheduler_case *test, struct probe *probes, bool apart) {
    for (unsigned i = 0; i < MANY; i++) {
        probes[i] = scheduler_case_probe(test, 'm');
        struct htw_spec spec = grouped(&probes[i], DELAY_NS + (apart ? i * HTW_MILLISECOND : 0));
        probe_schedule_spec(&probes[i], &spec);
    }
}

static unsigned runs_of(const struct probe *probes) {
    unsigned runs = 0;
    for (unsigned i = 0; i < MANY; i++)
        runs += probes[i].runs;
    return runs;
}

static int64_t deadline_of(const struct probe *probe) {
    int64_t deadline_ns = -1;
    assert_int_equal(htw_deadline(probe->test->scheduler, probe->handle, &deadline_ns), 0);
    return deadline_ns;
}

static void pause_group(struct scheduler_case *test) {
    assert_int_equal(htw_group_pause(test->group), 0);
}

static void resume_group(struct scheduler_case *test) {
    assert_int_equal(htw_group_resume(test->group), 0);
}

/* ---- bad input, counts */

static void group_given_as_null_is_refused(void **state) {
    struct scheduler_case *test = *state;
    assert_int_equal(htw_group_create(test->scheduler, NULL), -EINVAL);
    assert_int_equal(htw_group_create(NULL, &test->group), -EINVAL);
    assert_int_equal(htw_group_cancel(NULL, case_probe_visit, NULL), -EINVAL);
    assert_int_equal(htw_group_pause(NULL), -EINVAL);
    assert_int_equal(htw_group_resume(NULL), -EINVAL);
    assert_int_equal(htw_group_count(NULL), 0);
    htw_group_destroy(NULL);
}

static void group_of_another_scheduler_is_refused(void **state) {
    struct scheduler_case *test = *state;
    struct scheduler_case other;
    struct htw_scheduler_options options = scheduler_case_options();
    scheduler_case_begin(&other, &options);
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = grouped(&a, DELAY_NS);
    assert_int_equal(htw_schedule_spec(other.scheduler, &spec, NULL, NULL), -EINVAL);
    assert_int_equal(htw_group_count(test->group), 0);
    scheduler_case_end(&other);
}

static void group_after_stop_answers_eshutdown(void **state) {
    (void)state;
    struct scheduler_case test;
    struct htw_scheduler_options options = scheduler_case_options();
    scheduler_case_begin(&test, &options);
    struct probe a = scheduler_case_probe(&test, 'a');
    assert_int_equal(htw_group_create(test.scheduler, &test.group), 0);
    struct htw_spec spec = grouped(&a, DELAY_NS);
    probe_schedule_spec(&a, &spec);
    pause_group(&test);
    scheduler_case_advance(&test, HTW_SECOND);
    assert_int_equal(htw_scheduler_stop(test.scheduler, case_probe_visit, NULL), 0);
    assert_string_equal(scheduler_case_log(&test), "!a");
    /* Of a paused one: as if it were resumed now. */
    assert_int_equal(a.leftover_ns, CASE_START_NS + HTW_SECOND + DELAY_NS);
    struct htw_group *another;
    assert_int_equal(htw_group_create(test.scheduler, &another), -ESHUTDOWN);
    assert_int_equal(htw_schedule_spec(test.scheduler, &spec, NULL, NULL), -ESHUTDOWN);
    assert_int_equal(htw_group_count(test.group), 0);
    assert_int_equal(htw_group_cancel(test.group, case_probe_visit, NULL), 0);
    resume_group(&test);
    scheduler_case_end(&test);
}

static unsigned count_own_group(struct probe *probe) {
    return (unsigned)htw_group_count(probe->test->group);
}

static void group_counts_what_is_pending_paused_or_running(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec first = grouped(&a, DELAY_NS), second = grouped(&b, HTW_NEVER_NS);
    assert_int_equal(htw_group_count(test->group), 0);
    a.during = count_own_group;
    probe_schedule_spec(&a, &first);
    probe_schedule_spec(&b, &second);
    assert_int_equal(htw_group_count(test->group), 2);
    pause_group(test);
    assert_int_equal(htw_group_count(test->group), 2);
    resume_group(test);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(a.answer, 2);
    assert_int_equal(htw_group_count(test->group), 1);
    assert_int_equal(htw_cancel(test->scheduler, b.handle), HTW_CANCELLED);
    assert_int_equal(htw_group_count(test->group), 0);
}

/* ---- cancel */

static void group_cancelled_gives_each_timer_to_the_visitor(void **state) {
    struct scheduler_case *test = *state;
    struct probe probes[MANY], outsider = scheduler_case_probe(test, 'o');
    schedule_many(test, probes, true);
    probe_schedule(&outsider, DELAY_NS);
    assert_int_equal(htw_group_cancel(test->group, case_probe_visit, NULL), MANY);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(probes[i].visits, 1);
        assert_int_equal(probes[i].leftover_ns, CASE_START_NS + DELAY_NS + i * HTW_MILLISECOND);
        assert_int_equal(htw_cancel(test->scheduler, probes[i].handle), HTW_GONE);
    }
    assert_int_equal(htw_group_count(test->group), 0);
    assert_int_equal(htw_group_cancel(test->group, case_probe_visit, NULL), 0);
    scheduler_case_advance(test, HTW_SECOND);
    assert_int_equal(runs_of(probes), 0);
    assert_int_equal(outsider.runs, 1);
}

static void group_cancelled_without_a_visitor_counts_only(void **state) {
    struct scheduler_case *test = *state;
    struct probe probes[MANY];
    schedule_many(test, probes, false);
    assert_int_equal(htw_group_cancel(test->group, NULL, NULL), MANY);
    assert_int_equal(scheduler_case_stats(test->scheduler).cancelled, MANY);
    assert_int_equal(htw_pending(test->scheduler), 0);
}

static unsigned cancel_own_group(struct probe *probe) {
    return (unsigned)htw_group_cancel(probe->test->group, case_probe_visit, NULL);
}

/* All are due at once: one runs, 63 are queued, the rest is in the wheel. */
static void group_cancelled_by_one_of_its_callbacks_leaves_that_one(void **state) {
    struct scheduler_case *test = *state;
    struct probe probes[MANY];
    schedule_many(test, probes, false);
    for (unsigned i = 0; i < MANY; i++)
        probes[i].during = cancel_own_group;
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(runs_of(probes), 1);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(probes[i].visits, probes[i].runs == 0);
        assert_int_equal(probes[i].answer, probes[i].runs == 0 ? 0 : MANY - 1);
    }
}

static void group_cancelled_in_a_repeating_callback_ends_it(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = grouped(&a, DELAY_NS);
    spec.period_ns = DELAY_NS;
    a.during = cancel_own_group;
    probe_schedule_spec(&a, &spec);
    scheduler_case_advance(test, HTW_SECOND);
    assert_string_equal(scheduler_case_log(test), "a");
    assert_int_equal(a.answer, 0);
    assert_int_equal(htw_group_count(test->group), 0);
}

static void group_cancelled_while_paused_tells_deadlines_as_if_resumed(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec first = grouped(&a, DELAY_NS), second = grouped(&b, HTW_NEVER_NS);
    probe_schedule_spec(&a, &first);
    probe_schedule_spec(&b, &second);
    pause_group(test);
    scheduler_case_advance(test, HTW_SECOND);
    assert_int_equal(htw_group_cancel(test->group, case_probe_visit, NULL), 2);
    assert_int_equal(a.leftover_ns, CASE_START_NS + HTW_SECOND + DELAY_NS);
    assert_int_equal(b.leftover_ns, HTW_NEVER_NS);
    resume_group(test);
    scheduler_case_advance(test, HTW_SECOND);
    assert_int_equal(a.runs + b.runs, 0);
}

static void visit_and_resume(void *context, const struct htw_unexpired *unexpired) {
    struct scheduler_case *test = context;
    struct probe *probe = unexpired->arg;
    probe->visits++;
    htw_group_pause(test->group);
    htw_group_resume(test->group);
    htw_group_count(test->group);
}

/* Sweeps of the same group within one another: each must still see every timer. */
static void group_cancelled_by_a_visitor_that_pauses_it_spares_none(void **state) {
    struct scheduler_case *test = *state;
    struct probe probes[MANY];
    schedule_many(test, probes, false);
    assert_int_equal(htw_group_cancel(test->group, visit_and_resume, test), MANY);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(probes[i].visits, 1);
    assert_int_equal(htw_group_count(test->group), 0);
}

static void visit_and_cancel(void *context, const struct htw_unexpired *unexpired) {
    struct scheduler_case *test = context;
    struct probe *probe = unexpired->arg;
    probe->visits++;
    htw_group_cancel(test->group, visit_and_cancel, test);
}

static void group_cancelled_by_its_own_visitor_gives_each_once(void **state) {
    struct scheduler_case *test = *state;
    struct probe probes[MANY];
    schedule_many(test, probes, false);
    htw_group_cancel(test->group, visit_and_cancel, test);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(probes[i].visits, 1);
    assert_int_equal(scheduler_case_stats(test->scheduler).cancelled, MANY);
}

static void visit_and_destroy(void *context, const struct htw_unexpired *unexpired) {
    struct scheduler_case *test = context;
    struct probe *probe = unexpired->arg;
    probe->visits++;
    htw_group_destroy(test->group);
    test->group = NULL;
}

static void group_destroyed_by_its_visitor_is_cancelled_to_the_end(void **state) {
    struct scheduler_case *test = *state;
    struct probe probes[MANY];
    schedule_many(test, probes, false);
    assert_int_equal(htw_group_cancel(test->group, visit_and_destroy, test), MANY);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(probes[i].visits, 1);
    assert_int_equal(htw_pending(test->scheduler), 0);
}

static struct probe *late_comers;
static unsigned late_comer_count;

static void visit_and_schedule(void *context, const struct htw_unexpired *unexpired) {
    struct probe *probe = unexpired->arg;
    probe->visits++;
    struct probe *late = &late_comers[late_comer_count++];
    *late = scheduler_case_probe(context, 'l');
    struct htw_spec spec = grouped(late, DELAY_NS);
    if (htw_schedule_spec(late->test->scheduler, &spec, &late->handle, NULL) != 0)
        late->handle = 0;
}

static void group_cancelled_ends_though_its_visitor_schedules_more(void **state) {
    struct scheduler_case *test = *state;
    struct probe probes[MANY];
    static struct probe late[4 * MANY];
    late_comers = late;
    late_comer_count = 0;
    schedule_many(test, probes, false);
    int64_t cancelled = htw_group_cancel(test->group, visit_and_schedule, test);
    assert_true(cancelled >= MANY);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(probes[i].visits, 1);
    assert_int_equal(htw_group_count(test->group), late_comer_count + MANY - (uint64_t)cancelled);
    htw_group_cancel(test->group, NULL, NULL);
}

/* ---- pause and resume */

static void group_paused_keeps_what_remained(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec first = grouped(&a, DELAY_NS + 123), second = grouped(&b, 3 * DELAY_NS);
    probe_schedule_spec(&a, &first);
    probe_schedule_spec(&b, &second);
    scheduler_case_advance(test, 4 * HTW_MILLISECOND + 77);
    pause_group(test);
    scheduler_case_advance(test, 7 * HTW_SECOND + 11);
    assert_true(htw_is_pending(test->scheduler, a.handle));
    assert_int_equal(htw_pending(test->scheduler), 2);
    assert_int_equal(htw_scheduler_next(test->scheduler), HTW_NEVER_NS);
    int64_t paused_ns = 7 * HTW_SECOND + 11;
    assert_int_equal(deadline_of(&a), CASE_START_NS + paused_ns + DELAY_NS + 123);
    scheduler_case_advance(test, 1);
    assert_int_equal(deadline_of(&a), CASE_START_NS + paused_ns + 1 + DELAY_NS + 123);
    resume_group(test);
    assert_int_equal(deadline_of(&a), CASE_START_NS + paused_ns + 1 + DELAY_NS + 123);
    scheduler_case_advance(test, HTW_SECOND);
    assert_string_equal(scheduler_case_log(test), "ab");
    assert_int_equal(a.last.deadline_ns, CASE_START_NS + paused_ns + 1 + DELAY_NS + 123);
    assert_int_equal(b.last.deadline_ns, CASE_START_NS + paused_ns + 1 + 3 * DELAY_NS);
    assert_false(a.early || b.early);
}

static void group_paused_twice_is_paused_once(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = grouped(&a, DELAY_NS);
    probe_schedule_spec(&a, &spec);
    pause_group(test);
    scheduler_case_advance(test, HTW_SECOND);
    pause_group(test);
    scheduler_case_advance(test, HTW_SECOND);
    resume_group(test);
    resume_group(test);
    assert_int_equal(deadline_of(&a), CASE_START_NS + 2 * HTW_SECOND + DELAY_NS);
    scheduler_case_advance(test, DELAY_NS - 1);
    assert_int_equal(a.runs, 0);
    scheduler_case_advance(test, 1);
    assert_int_equal(a.runs, 1);
}

static void group_paused_again_and_again_loses_no_time(void **state) {
    struct scheduler_case *test = *state;
    struct probe probes[MANY];
    schedule_many(test, probes, true);
    for (unsigned i = 0; i < 9; i++) {
        scheduler_case_advance(test, HTW_MILLISECOND);
        pause_group(test);
        scheduler_case_advance(test, 3 * HTW_MILLISECOND + i);
        resume_group(test);
    }
    int64_t paused_ns = 9 * 3 * HTW_MILLISECOND + 36;
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(deadline_of(&probes[i]),
                         CASE_START_NS + paused_ns + DELAY_NS + i * HTW_MILLISECOND);
    scheduler_case_advance(test, HTW_SECOND);
    assert_int_equal(runs_of(probes), MANY);
}

static unsigned pause_own_group(struct probe *probe) {
    return (unsigned)htw_group_pause(probe->test->group);
}

static void group_paused_when_its_timers_are_due_runs_none_of_them(void **state) {
    struct scheduler_case *test = *state;
    struct probe probes[MANY];
    schedule_many(test, probes, false);
    for (unsigned i = 0; i < MANY; i++)
        probes[i].during = pause_own_group;
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(runs_of(probes), 1);
    scheduler_case_advance(test, HTW_SECOND);
    assert_int_equal(runs_of(probes), 1);
    assert_int_equal(htw_pending(test->scheduler), MANY - 1);
    for (unsigned i = 0; i < MANY; i++)
        probes[i].during = NULL;
    resume_group(test);
    scheduler_case_advance(test, 0);
    assert_int_equal(runs_of(probes), MANY);
}

static unsigned pause_and_resume_own_group(struct probe *probe) {
    return (unsigned)(htw_group_pause(probe->test->group) + htw_group_resume(probe->test->group));
}

static void group_paused_and_resumed_when_due_runs_each_once(void **state) {
    struct scheduler_case *test = *state;
    struct probe probes[MANY];
    schedule_many(test, probes, false);
    for (unsigned i = 0; i < MANY; i++)
        probes[i].during = pause_and_resume_own_group;
    scheduler_case_advance(test, DELAY_NS);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(probes[i].runs, 1);
}

static unsigned pause_and_cancel_own_group(struct probe *probe) {
    htw_group_pause(probe->test->group);
    return (unsigned)htw_group_cancel(probe->test->group, case_probe_visit, NULL);
}

static void group_paused_then_cancelled_when_due_runs_no_more(void **state) {
    struct scheduler_case *test = *state;
    struct probe probes[MANY];
    schedule_many(test, probes, false);
    for (unsigned i = 0; i < MANY; i++)
        probes[i].during = pause_and_cancel_own_group;
    scheduler_case_advance(test, HTW_SECOND);
    assert_int_equal(runs_of(probes), 1);
    assert_int_equal(htw_group_count(test->group), 0);
}

static void group_paused_with_a_timer_that_never_comes_keeps_it_so(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = grouped(&a, HTW_NEVER_NS);
    probe_schedule_spec(&a, &spec);
    pause_group(test);
    scheduler_case_advance(test, HTW_SECOND);
    assert_int_equal(deadline_of(&a), HTW_NEVER_NS);
    resume_group(test);
    assert_int_equal(deadline_of(&a), HTW_NEVER_NS);
    scheduler_case_advance(test, 1000 * HTW_SECOND);
    assert_int_equal(a.runs, 0);
    assert_int_equal(htw_reschedule(test->scheduler, a.handle, DELAY_NS), HTW_MOVED);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(a.runs, 1);
}

static void group_paused_stops_a_repeating_timer_between_two_runs(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = grouped(&a, DELAY_NS);
    spec.period_ns = DELAY_NS;
    probe_schedule_spec(&a, &spec);
    scheduler_case_advance(test, 2 * DELAY_NS + 3 * HTW_MILLISECOND);
    assert_int_equal(a.runs, 2);
    pause_group(test);
    scheduler_case_advance(test, 100 * DELAY_NS);
    assert_int_equal(a.runs, 2);
    resume_group(test);
    scheduler_case_advance(test, 7 * HTW_MILLISECOND - 1);
    assert_int_equal(a.runs, 2);
    scheduler_case_advance(test, 1);
    assert_int_equal(a.runs, 3);
    assert_int_equal(a.last.missed, 0);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(a.runs, 4);
}

static void group_paused_by_a_repeating_callback_lets_it_wait(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = grouped(&a, DELAY_NS);
    spec.period_ns = 4 * DELAY_NS;
    a.during = pause_own_group;
    probe_schedule_spec(&a, &spec);
    scheduler_case_advance(test, HTW_SECOND);
    assert_int_equal(a.runs, 1);
    assert_true(htw_is_pending(test->scheduler, a.handle));
    resume_group(test);
    scheduler_case_advance(test, 4 * DELAY_NS - 1);
    assert_int_equal(a.runs, 1);
    scheduler_case_advance(test, 1);
    assert_int_equal(a.runs, 2);
}

static void group_paused_keeps_its_keys(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec first = grouped(&a, DELAY_NS), second = grouped(&b, DELAY_NS);
    first.key = second.key = "key";
    first.key_size = second.key_size = 3;
    probe_schedule_spec(&a, &first);
    pause_group(test);
    assert_int_equal(htw_find_key(test->scheduler, test->group, "key", 3), a.handle);
    struct htw_unexpired replaced;
    assert_int_equal(htw_schedule_spec(test->scheduler, &second, &b.handle, &replaced), 0);
    assert_ptr_equal(replaced.arg, &a);
    scheduler_case_advance(test, HTW_SECOND);
    assert_int_equal(b.runs, 0);
    resume_group(test);
    scheduler_case_advance(test, DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "b");
}

static void group_paused_lets_what_joins_wait(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec first = grouped(&a, DELAY_NS), second = grouped(&b, -5);
    pause_group(test);
    probe_schedule_spec(&a, &first);
    probe_schedule_spec(&b, &second);
    scheduler_case_advance(test, HTW_SECOND);
    assert_int_equal(a.runs + b.runs, 0);
    assert_int_equal(deadline_of(&a), CASE_START_NS + HTW_SECOND + DELAY_NS);
    resume_group(test);
    scheduler_case_advance(test, 0);
    assert_string_equal(scheduler_case_log(test), "b");
    scheduler_case_advance(test, DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "a");
}

static void group_paused_lets_a_new_delay_wait_too(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec first = grouped(&a, DELAY_NS), second = grouped(&b, DELAY_NS);
    probe_schedule_spec(&a, &first);
    probe_schedule_spec(&b, &second);
    pause_group(test);
    scheduler_case_advance(test, HTW_SECOND);
    assert_int_equal(htw_reschedule(test->scheduler, a.handle, 5 * DELAY_NS), HTW_MOVED);
    int64_t now_ns = htw_scheduler_now(test->scheduler);
    assert_int_equal(htw_reschedule_at(test->scheduler, b.handle, now_ns + 2 * DELAY_NS),
                     HTW_MOVED);
    scheduler_case_advance(test, HTW_SECOND);
    assert_int_equal(deadline_of(&a), now_ns + HTW_SECOND + 5 * DELAY_NS);
    assert_int_equal(deadline_of(&b), now_ns + HTW_SECOND + 2 * DELAY_NS);
    assert_int_equal(a.runs + b.runs, 0);
    resume_group(test);
    scheduler_case_advance(test, 2 * DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "b");
    scheduler_case_advance(test, 3 * DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "a");
}

/* ---- the end of a group */

static void group_destroyed_while_paused_resumes_its_timers(void **state) {
    struct scheduler_case *test = *state;
    struct probe probes[MANY];
    schedule_many(test, probes, true);
    pause_group(test);
    scheduler_case_advance(test, HTW_SECOND);
    htw_group_destroy(test->group);
    test->group = NULL;
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(deadline_of(&probes[i]),
                         CASE_START_NS + HTW_SECOND + DELAY_NS + i * HTW_MILLISECOND);
    scheduler_case_advance(test, HTW_SECOND);
    assert_int_equal(runs_of(probes), MANY);
}

static void group_destroyed_lets_its_keyed_and_repeating_timers_go_on(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec first = grouped(&a, DELAY_NS), second = grouped(&b, DELAY_NS);
    first.key = "key";
    first.key_size = 3;
    second.period_ns = DELAY_NS;
    probe_schedule_spec(&a, &first);
    probe_schedule_spec(&b, &second);
    htw_group_destroy(test->group);
    test->group = NULL;
    scheduler_case_advance(test, 3 * DELAY_NS);
    assert_int_equal(a.runs, 1);
    assert_int_equal(b.runs, 3);
    assert_int_equal(htw_cancel(test->scheduler, b.handle), HTW_CANCELLED);
}

static unsigned destroy_own_group(struct probe *probe) {
    htw_group_destroy(probe->test->group);
    probe->test->group = NULL;
    return 0;
}

static void group_destroyed_by_the_last_of_its_callbacks_goes_with_it(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = grouped(&a, DELAY_NS);
    a.during = destroy_own_group;
    spec.release = case_probe_release;
    probe_schedule_spec(&a, &spec);
    scheduler_case_advance(test, DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "aA");
}

static void groups_are_independent(void **state) {
    struct scheduler_case *test = *state;
    struct htw_group *other;
    assert_int_equal(htw_group_create(test->scheduler, &other), 0);
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec first = grouped(&a, DELAY_NS), second = case_probe_spec(&b, DELAY_NS);
    second.group = other;
    probe_schedule_spec(&a, &first);
    probe_schedule_spec(&b, &second);
    pause_group(test);
    scheduler_case_advance(test, DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "b");
    assert_int_equal(htw_group_cancel(other, NULL, NULL), 0);
    resume_group(test);
    scheduler_case_advance(test, DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "a");
    htw_group_destroy(other);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, scheduler_case_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(group_given_as_null_is_refused),
        CASE(group_of_another_scheduler_is_refused),
        cmocka_unit_test(group_after_stop_answers_eshutdown),
        CASE(group_counts_what_is_pending_paused_or_running),
        CASE(group_cancelled_gives_each_timer_to_the_visitor),
        CASE(group_cancelled_without_a_visitor_counts_only),
        CASE(group_cancelled_by_one_of_its_callbacks_leaves_that_one),
        CASE(group_cancelled_in_a_repeating_callback_ends_it),
        CASE(group_cancelled_while_paused_tells_deadlines_as_if_resumed),
        CASE(group_cancelled_by_a_visitor_that_pauses_it_spares_none),
        CASE(group_cancelled_by_its_own_visitor_gives_each_once),
        CASE(group_destroyed_by_its_visitor_is_cancelled_to_the_end),
        CASE(group_cancelled_ends_though_its_visitor_schedules_more),
        CASE(group_paused_keeps_what_remained),
        CASE(group_paused_twice_is_paused_once),
        CASE(group_paused_again_and_again_loses_no_time),
        CASE(group_paused_when_its_timers_are_due_runs_none_of_them),
        CASE(group_paused_and_resumed_when_due_runs_each_once),
        CASE(group_paused_then_cancelled_when_due_runs_no_more),
        CASE(group_paused_with_a_timer_that_never_comes_keeps_it_so),
        CASE(group_paused_stops_a_repeating_timer_between_two_runs),
        CASE(group_paused_by_a_repeating_callback_lets_it_wait),
        CASE(group_paused_keeps_its_keys),
        CASE(group_paused_lets_what_joins_wait),
        CASE(group_paused_lets_a_new_delay_wait_too),
        CASE(group_destroyed_while_paused_resumes_its_timers),
        CASE(group_destroyed_lets_its_keyed_and_repeating_timers_go_on),
        CASE(group_destroyed_by_the_last_of_its_callbacks_goes_with_it),
        CASE(groups_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

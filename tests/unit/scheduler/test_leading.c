/* SPDX-License-Identifier: MIT */
/* test_leading.c - the clockwork of a class of spans: the clock of its wheel is ahead, and can go back. */
#include "scheduler_fixture.h"

enum { MANY = 200 }; /* several slices */

static void setup(void) {
    struct scheduler_fixture *f = &scheduler_fixture;
    scheduler_setup_later();
    f->count = MANY;
    scheduler_reopen(f);
    create_group(f);
}

#define LEADING_TEST(name) SCHEDULER_TEST_AFTER(setup, name)

static void arm_span(struct scheduler_fixture *f, unsigned number, int64_t least_ns) {
    struct htw_spec spec = grouped_spec(f, number, least_ns);
    spec.span_ns = HTW_MINUTE;
    arm_spec(f, number, &spec);
}

#define set_scale(f, scale) assert_int_equal(htw_group_set_scale((f)->group, scale), 0)

/* Leaves the wheel of the class at a minute from now, at scale 1. */
static void lead_and_return(struct scheduler_fixture *f, unsigned number) {
    set_scale(f, 0);
    arm_span(f, number, 0);
    advance(f, 0);
    assert_ran(f, number);
    set_scale(f, 1);
}

static void act_return_to_1(struct probe *self) {
    self->result = htw_group_set_scale(self->fixture->group, 1);
}

/* The first callback of many that a smaller scale has ended gives the others their time back. */
/* holds: scheduler-21 */
LEADING_TEST(leading_wheel_that_goes_back_in_the_middle_of_a_tick_wakes_the_expirer_seldom) {
    for (unsigned i = 0; i < MANY; i++) {
        f->probes[i].act = act_return_to_1;
        arm_span(f, i, MS);
    }
    advance(f, 10 * MS);
    set_scale(f, 0);
    advance(f, 0);
    size_t ran = f->log_count;
    f->log_count = 0;
    assert_in_range(ran, 1, 64);
    uint64_t before = scheduler_stats(f).wakeups;
    advance(f, HTW_MINUTE - 9 * MS - 1);
    assert_none_ran(f);
    advance(f, 1);
    assert_int_equal(f->log_count, MANY - ran);
    assert_each_ran(f, 0, MANY, 1);
    assert_in_range(scheduler_stats(f).wakeups - before, 1, 20);
}

/* What was due before the change is not late by the span. */
LEADING_TEST(leading_clock_that_jumps_changes_no_deadline_that_has_passed) {
    arm_span(f, 0, MS / 2);
    advance(f, HTW_MINUTE + 3 * MS / 4); /* its tick has not begun */
    assert_none_ran(f);
    set_scale(f, 0);
    assert_int_equal(deadline_of(f, 0), START_NS + HTW_MINUTE + MS / 2);
    advance(f, MS / 4);
    assert_ran(f, 0);
    assert_int_equal(f->probes[0].last.deadline_ns, START_NS + HTW_MINUTE + MS / 2);
    assert_in_range(f->probes[0].last.late_ns, 0, MS / 2);
}

LEADING_TEST(leading_wheel_that_is_replaced_counts_no_demotion_twice) {
    for (unsigned i = 2; i < MANY; i++) /* in one bucket, until the first of them is due */
        arm_span(f, i, HTW_HOUR + i * 100 * MS);
    advance(f, HTW_HOUR + 2 * HTW_MINUTE);
    assert_int_equal(f->log_count, MANY - 2);
    f->log_count = 0;
    uint64_t before = scheduler_stats(f).demoted;
    assert_in_range(before, MANY - 3, 10 * MANY);
    lead_and_return(f, 0);
    arm_span(f, 1, 0);
    assert_int_equal(reschedule_at(f, 1, htw_scheduler_now(f->scheduler) + 10 * MS - HTW_MINUTE),
                     HTW_MOVED);
    assert_runs_after(f, 10 * MS, 1);
    assert_in_range(scheduler_stats(f).demoted - before, 0, 10);
}

/* Its new wheel lacks a level, and the timer is in the previous one. */
/* holds: scheduler-32 */
LEADING_TEST(leading_timer_that_is_moved_without_memory_is_not_lost) {
    for (size_t nth = 1; nth < 6; nth++) {
        scheduler_reopen(f);
        create_group(f);
        arm_span(f, 2, HTW_DAY);
        lead_and_return(f, 0);
        arm_span(f, 1, -10 * MS);
        assert_int_equal(reschedule_at(f, 1, START_NS + 10 * MS - HTW_MINUTE), HTW_MOVED);
        failing_allocator_fail(&f->memory, nth, true);
        int outcome = reschedule(f, 2, 2 * HTW_DAY);
        failing_allocator_relent(&f->memory);
        assert_int_equal(outcome, HTW_MOVED);
        assert_runs_after(f, 10 * MS, 1);
        assert_runs_after(f, 2 * HTW_DAY + HTW_MINUTE - 10 * MS, 2);
    }
}

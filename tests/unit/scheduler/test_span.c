/* SPDX-License-Identifier: MIT */
/* test_span.c - timers with a least and a greatest delay, and the scale of their group. */
#include "scheduler_fixture.h"

#include <errno.h>
#include <math.h>

enum { MANY = 300 }; /* several slices */

static void reopen(struct scheduler_fixture *f) {
    scheduler_reopen(f);
    create_group(f);
}

static void setup(void) {
    struct scheduler_fixture *f = &scheduler_fixture;
    scheduler_setup_later();
    f->count = MANY + 1;
    reopen(f);
}

#define SPAN_TEST(name) SCHEDULER_TEST_AFTER(setup, name)

static struct htw_spec span_spec(struct scheduler_fixture *f, unsigned number, int64_t least_ns,
                                 int64_t span_ns) {
    struct htw_spec spec = grouped_spec(f, number, least_ns);
    spec.span_ns = span_ns;
    return spec;
}

static void arm_span(struct scheduler_fixture *f, unsigned number, int64_t least_ns,
                     int64_t span_ns) {
    struct htw_spec spec = span_spec(f, number, least_ns, span_ns);
    arm_spec(f, number, &spec);
}

#define set_scale(f, scale) assert_int_equal(htw_group_set_scale((f)->group, scale), 0)

/* ---- what is refused */

SPAN_TEST(span_scale_out_of_its_range_is_refused_and_changes_nothing) {
    static const double wrong[] = { -0.01, 1.01, NAN, INFINITY, -INFINITY, -1e-300 };
    assert_true(htw_group_scale(f->group) == 1);
    set_scale(f, 0.25);
    for (unsigned i = 0; i < COUNT_OF(wrong); i++) {
        assert_int_equal(htw_group_set_scale(f->group, wrong[i]), -EINVAL);
        assert_true(htw_group_scale(f->group) == 0.25);
    }
    assert_int_equal(htw_group_set_scale(NULL, 1), -EINVAL);
    assert_true(htw_group_scale(NULL) == 0);
}

/* ---- the deadline */

/* holds: scheduler-29 */
SPAN_TEST(span_deadline_moves_with_the_scale) {
    arm_span(f, 0, 10 * MS, 100 * MS);
    assert_int_equal(deadline_of(f, 0), START_NS + 110 * MS);
    set_scale(f, 0.3);
    assert_int_equal(deadline_of(f, 0), START_NS + 40 * MS);
    assert_int_equal(htw_scheduler_next(f->scheduler), START_NS + 40 * MS);
    arm_span(f, 1, 20 * MS, 100 * MS); /* armed later, with the same scale */
    assert_int_equal(deadline_of(f, 1), START_NS + 50 * MS);
    assert_runs_after(f, 40 * MS, 0);
    assert_int_equal(f->probes[0].last.deadline_ns, START_NS + 40 * MS);
    assert_int_equal(f->probes[0].last.late_ns, 0);
    set_scale(f, 1);
    assert_int_equal(deadline_of(f, 1), START_NS + 120 * MS);
    assert_runs_after(f, 80 * MS, 1);
}

/* As many different spans as count exactly; none of them is one of the tests below. */
static void use_up_the_exact_ones(struct scheduler_fixture *f) {
    for (unsigned i = 0; i < 64; i++) {
        arm_span(f, MANY, MS, (100001 + (int64_t)i) * MS);
        assert_int_equal(cancel(f, MANY), HTW_CANCELLED);
    }
}

/* Also with spans that are shorter than a tick, or longer than any delay. */
static void check_spans_at_all_scales(struct scheduler_fixture *f, double rounded) {
    static const int64_t spans[] = { 1,
                                     MS - 1,
                                     MS,
                                     99 * MS,
                                     101 * MS,
                                     109 * MS,
                                     298 * MS,
                                     1099 * MS,
                                     59 * HTW_SECOND + 1,
                                     HTW_HOUR,
                                     HTW_DAY,
                                     1234567890123,
                                     HTW_SPAN_NS_MAX };
    const int64_t least_ns = 5 * MS;
    for (unsigned i = 0; i < COUNT_OF(spans); i++)
        for (int percent = 0; percent <= 100; percent += 4) {
            set_scale(f, percent / 100.0);
            arm_span(f, 0, least_ns, spans[i]);
            int64_t span_ns = deadline_of(f, 0) - START_NS - least_ns;
            double wanted_ns = percent / 100.0 * (double)spans[i];
            assert_true(span_ns >= 0 && span_ns <= spans[i]);
            assert_true((double)span_ns >= wanted_ns * (1 - 1e-15) - 0.5 * MS);
            assert_true((double)span_ns <= wanted_ns * (1 + 1e-15) + 1.5 * MS +
                                               (100 - percent) * rounded * (double)spans[i]);
            assert_true(percent < 100 || span_ns == spans[i]);
            assert_int_equal(cancel(f, 0), HTW_CANCELLED);
        }
}

/* holds: scheduler-29 */
SPAN_TEST(span_never_ends_before_the_least_delay_and_little_after_its_part) {
    check_spans_at_all_scales(f, 0);
    reopen(f);
    use_up_the_exact_ones(f);
    check_spans_at_all_scales(f, 0.001);
}

/* The timers of a group may have any spans, and many: the memory for them has a limit. */
/* holds: scheduler-31 */
SPAN_TEST(span_classes_of_a_group_are_not_as_many_as_its_timers) {
    size_t before = f->memory.live_bytes;
    for (unsigned i = 0; i < 3000; i++) {
        arm_span(f, MANY, MS, (1000 + 3 * (int64_t)i) * MS); /* to 10 s */
        assert_int_equal(cancel(f, MANY), HTW_CANCELLED);
    }
    assert_in_range(f->memory.live_bytes - before, 64 * 1024, (64 + 90) * 16384);
}

/* ---- a change of the scale */

/* holds: scheduler-30 */
SPAN_TEST(span_that_a_smaller_scale_ends_is_late_from_then_on) {
    arm_span(f, 0, 10 * MS, 1000 * MS);
    arm_span(f, 1, 990 * MS, 1000 * MS);
    advance(f, 700 * MS);
    set_scale(f, 0);
    assert_int_equal(deadline_of(f, 0), START_NS + 700 * MS);
    assert_int_equal(deadline_of(f, 1), START_NS + 990 * MS);
    set_time(f, START_NS + 703 * MS); /* it comes late */
    assert_ran(f, 0);
    assert_int_equal(f->probes[0].last.deadline_ns, START_NS + 700 * MS);
    assert_int_equal(f->probes[0].last.late_ns, 3 * MS);
    assert_runs_after(f, 287 * MS, 1);
}

static void act_return_to_1(struct probe *self) {
    self->result = htw_group_set_scale(self->fixture->group, 1);
}

/* The first callback of many that a smaller scale has ended gives the others their time back. */
/* holds: scheduler-21 */
SPAN_TEST(span_that_gets_its_time_back_in_the_middle_of_a_tick_wakes_the_expirer_seldom) {
    for (unsigned i = 0; i < MANY; i++) {
        f->probes[i].act = act_return_to_1;
        arm_span(f, i, MS, HTW_MINUTE);
    }
    advance(f, 10 * MS);
    set_scale(f, 0);
    advance(f, 0);
    assert_in_range(f->log_count, 1, 64);
    uint64_t before = scheduler_stats(f).wakeups;
    advance(f, HTW_MINUTE - 9 * MS);
    assert_each_ran(f, 0, MANY, 1);
    assert_in_range(scheduler_stats(f).wakeups - before, 1, 20);
}

/* SPDX-License-Identifier: MIT */
/*
 * test_span_cost.c - what a change of the scale costs: steps for each class of spans, whatever the number
 * of timers. The calls that arm and disarm in the wheels are the test's own, which count.
 */
#include "scheduler_fixture.h"

#include <stdlib.h>

static unsigned calls;

int __real_htw_wheel_schedule(struct htw_wheel *wheel, struct htw_timer *timer, uint64_t deadline);
int __wrap_htw_wheel_schedule(struct htw_wheel *wheel, struct htw_timer *timer, uint64_t deadline);
bool __real_htw_wheel_cancel(struct htw_wheel *wheel, struct htw_timer *timer);
bool __wrap_htw_wheel_cancel(struct htw_wheel *wheel, struct htw_timer *timer);

int __wrap_htw_wheel_schedule(struct htw_wheel *wheel, struct htw_timer *timer, uint64_t deadline) {
    calls++;
    return __real_htw_wheel_schedule(wheel, timer, deadline);
}

bool __wrap_htw_wheel_cancel(struct htw_wheel *wheel, struct htw_timer *timer) {
    calls++;
    return __real_htw_wheel_cancel(wheel, timer);
}

static void run_nothing(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    (void)expiration;
}

/* How many times a change of the scale arms or disarms, and allocates. */
static unsigned calls_of_a_change(struct scheduler_fixture *f, unsigned timers, unsigned classes) {
    struct htw_spec spec = HTW_SPEC_INIT;
    create_group(f);
    spec.callback = run_nothing;
    spec.when_ns = 10 * MS;
    spec.group = f->group;
    for (unsigned i = 0; i < timers; i++) {
        spec.span_ns = (10 + i % classes) * 10 * HTW_SECOND;
        assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), 0);
    }
    calls = 0;
    size_t blocks = f->memory.live_blocks;
    assert_int_equal(htw_group_set_scale(f->group, 0.3), 0);
    assert_int_equal(f->memory.live_blocks, blocks);
    unsigned counted = calls;
    assert_int_equal(htw_group_cancel(f->group, NULL, NULL), timers);
    destroy_group(f);
    return counted;
}

/* holds: scheduler-31 */
SCHEDULER_TEST(span_scale_costs_as_much_with_many_timers_as_with_few) {
    assert_int_equal(calls_of_a_change(f, 1, 1), 1);
    assert_int_equal(calls_of_a_change(f, 5000, 1), 1);
    assert_int_equal(calls_of_a_change(f, 7, 7), 7);
    assert_int_equal(calls_of_a_change(f, 5000, 7), 7);
    assert_int_equal(calls_of_a_change(f, 5000, 90), 90);
}

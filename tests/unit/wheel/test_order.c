/* SPDX-License-Identifier: MIT */
/* test_order - order within and between ticks; steps and jumps; determinism. */
#include "../../support/fixture.h"

#include "../../support/random.h"

WHEEL_TEST(wheel_strict_order_survives_demotion_to_a_tick_armed_from_near, 8, 0, true, 8) {
    /* The same tick, armed when the clock is nearer and nearer: at each level one of its buckets.
       */
    arm(f, 7, 5000);
    arm(f, 6, 5000);
    arm(f, 5, 4600);
    assert_round(f, 4600, 5); /* this demotes the others of its bucket */
    arm(f, 4, 5000);
    arm(f, 3, 4950);
    assert_round(f, 4950, 3);
    arm(f, 2, 5000);
    arm(f, 1, 4997);
    assert_round(f, 4997, 1);
    arm(f, 0, 5000);
    assert_round(f, 5000, 7, 6, 4, 2, 0);
}

/* Arms the same timers and polls up to `end` in steps of `step`; notes the order. */
static size_t run_in_steps(uint32_t size, bool strict, uint64_t end, uint64_t step,
                           size_t *numbers) {
    struct fixture f;
    fixture_open(&f, size, 0, strict, 400);
    struct random_source source = { 5 };
    for (size_t i = 0; i < 400; i++)
        arm(&f, i, random_below(&source, 3000));
    for (size_t i = 0; i < 400; i += 7)
        assert_true(htw_wheel_cancel(f.wheel, &f.timers[i]));
    size_t count = 0;
    for (uint64_t now = 0; now <= end; now += step) {
        struct htw_timer *timer;
        while ((timer = htw_wheel_poll(f.wheel, now)) != NULL)
            numbers[count++] = fixture_number(&f, timer);
        assert_int_equal(htw_wheel_now(f.wheel), now);
    }
    fixture_close(&f);
    return count;
}

/* holds: wheel-3 */
UNIT_TEST(wheel_step_of_ten_equals_ten_steps_of_one) {
    static const uint64_t steps[] = { 10, 100, 2500 };
    size_t by_one[400];
    size_t by_step[400];
    for (uint32_t size = 2; size <= 256; size *= 4) {
        size_t count = run_in_steps(size, true, 2500, 1, by_one);
        assert_in_range(count, 200, 400);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(run_in_steps(size, true, 2500, steps[i], by_step), count);
            assert_memory_equal(by_step, by_one, count * sizeof by_one[0]);
        }
    }
}

/* holds: wheel-2 */
UNIT_TEST(wheel_relaxed_order_is_the_same_every_time) {
    size_t first[400];
    size_t again[400];
    for (uint32_t size = 2; size <= 256; size *= 4) {
        size_t count = run_in_steps(size, false, 2500, 5, first);
        assert_int_equal(run_in_steps(size, false, 2500, 5, again), count);
        assert_memory_equal(again, first, count * sizeof first[0]);
    }
}

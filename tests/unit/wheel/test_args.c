/* SPDX-License-Identifier: MIT */
/* test_args - bad arguments are refused and change nothing. */
/* holds: wheel-13 */
#include "../../support/fixture.h"

/* Creating with the default options, but for one member, fails and leaves the result alone. */
#define assert_refused_for(member, value)                                   \
    do {                                                                    \
        struct htw_wheel_options bad_ = HTW_WHEEL_OPTIONS_INIT;             \
        struct htw_wheel *untouched_ = (void *)&bad_, *wheel_ = untouched_; \
        bad_.member = (value);                                              \
        assert_int_equal(htw_wheel_create(&wheel_, &bad_), -EINVAL);        \
        assert_ptr_equal(wheel_, untouched_);                               \
        assert_string_equal(htw_invalid_member(), #member);                 \
    } while (0)

UNIT_TEST(wheel_options_out_of_range_are_refused) {
    static const uint32_t sizes[] = { 1,   3,    5,    6,    7,          255,
                                      257, 4095, 5000, 8192, UINT32_MAX, UINT32_C(1) << 31 };
    static const size_t struct_sizes[] = { 0, 1, sizeof(struct htw_wheel_options) - 1,
                                           sizeof(struct htw_wheel_options) + 1, SIZE_MAX };
    struct failing_allocator memory;
    failing_allocator_init(&memory);
    struct htw_allocator no_allocate = memory.allocator, no_release = memory.allocator;
    no_allocate.allocate = NULL;
    no_release.release = NULL;
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        assert_refused_for(size, sizes[i]);
    for (size_t i = 0; i < COUNT_OF(struct_sizes); i++)
        assert_refused_for(struct_size, struct_sizes[i]);
    assert_refused_for(start, HTW_NEVER_TICK);
    assert_refused_for(allocator, &no_allocate);
    assert_refused_for(allocator, &no_release);
    assert_int_equal(memory.calls, 0);
    failing_allocator_fini(&memory);
    assert_int_equal(htw_wheel_create(NULL, NULL), -EINVAL);
}

static bool visit_none(struct htw_timer *timer, void *arg) {
    (void)timer, (void)arg;
    fail();
    return true;
}

UNIT_TEST(wheel_null_wheel_is_refused_or_empty) {
    struct htw_timer timer = { 0 };
    struct htw_timer *timers[1] = { NULL };
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    size_t count = 7;
    htw_wheel_destroy(NULL);
    assert_int_equal(htw_wheel_schedule(NULL, &timer, 1), -EINVAL);
    assert_int_equal(htw_wheel_schedule_within(NULL, &timer, 1, 2), -EINVAL);
    assert_false(htw_wheel_cancel(NULL, &timer));
    assert_null(htw_wheel_poll(NULL, 1));
    assert_int_equal(htw_wheel_poll_batch(NULL, 1, timers, 1, 0, &count), -EINVAL);
    assert_int_equal(count, 7);
    assert_int_equal(htw_wheel_next(NULL), HTW_NEVER_TICK);
    assert_int_equal(htw_wheel_now(NULL), HTW_NEVER_TICK);
    assert_int_equal(htw_wheel_count(NULL), 0);
    assert_int_equal(htw_wheel_reserve(NULL, 1), -EINVAL);
    assert_null(htw_wheel_drain(NULL));
    assert_int_equal(htw_wheel_for_each(NULL, visit_none, NULL), 0);
    assert_int_equal(htw_wheel_check(NULL), -EINVAL);
    assert_int_equal(htw_wheel_dump(NULL, stdout), -EINVAL);
    assert_int_equal(htw_wheel_get_stats(NULL, &stats), -EINVAL);
    assert_false(htw_timer_is_pending(&timer));
}

WHEEL_TEST(wheel_null_timer_is_refused, 8, 0, false, 0) {
    assert_int_equal(htw_wheel_schedule(f->wheel, NULL, 1), -EINVAL);
    assert_int_equal(htw_wheel_schedule_within(f->wheel, NULL, 1, 2), -EINVAL);
    assert_false(htw_wheel_cancel(f->wheel, NULL));
    assert_false(htw_timer_is_pending(NULL));
    assert_int_equal(htw_timer_deadline(NULL), HTW_NEVER_TICK);
    htw_timer_init(NULL);
    assert_int_equal(htw_wheel_count(f->wheel), 0);
    assert_int_equal(fixture_stats(f).scheduled, 0);
}

WHEEL_TEST(wheel_batch_without_room_or_places_is_refused, 8, 0, false, 1) {
    struct htw_timer *timers[1] = { NULL };
    size_t count = 7;
    arm(f, 0, 5);
    assert_int_equal(htw_wheel_poll_batch(f->wheel, 9, timers, 0, 0, &count), -EINVAL);
    assert_int_equal(htw_wheel_poll_batch(f->wheel, 9, NULL, 1, 0, &count), -EINVAL);
    assert_int_equal(htw_wheel_poll_batch(f->wheel, 9, timers, 1, 0, NULL), -EINVAL);
    assert_int_equal(count, 7);
    assert_null(timers[0]);
    assert_int_equal(htw_wheel_now(f->wheel), 0);
    /* No round was begun: what is armed now for the past comes with the next poll. */
    arm(f, 0, 0);
    assert_round(f, 0, 0);
}

WHEEL_TEST(wheel_range_that_ends_before_it_begins_is_refused, 8, 0, false, 2) {
    arm(f, 1, 50);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(htw_wheel_schedule_within(f->wheel, &f->timers[i], 11, 10), -EINVAL);
        assert_int_equal(htw_wheel_schedule_within(f->wheel, &f->timers[i], HTW_NEVER_TICK, 10),
                         -EINVAL);
        assert_int_equal(
            htw_wheel_schedule_within(f->wheel, &f->timers[i], HTW_NEVER_TICK, HTW_NEVER_TICK - 1),
            -EINVAL);
    }
    assert_false(htw_timer_is_pending(&f->timers[0]));
    assert_int_equal(fixture_stats(f).moved, 0);
    assert_comes_alone(f, 1, 50);
}

UNIT_TEST(wheel_timer_of_another_wheel_is_refused) {
    struct fixture f, other;
    fixture_open(&f, 8, 0, false, 1);
    fixture_open(&other, 8, 0, false, 1);
    arm(&other, 0, 60); /* it has levels: for later deadlines there is a short way */
    static const uint64_t deadlines[] = { 0, 50, HTW_NEVER_TICK };
    for (size_t i = 0; i < 3; i++) {
        arm(&f, 0, deadlines[i]);
        assert_int_equal(htw_wheel_schedule(other.wheel, &f.timers[0], 60), -EINVAL);
        assert_int_equal(htw_wheel_schedule_within(other.wheel, &f.timers[0], 60, 70), -EINVAL);
        assert_false(htw_wheel_cancel(other.wheel, &f.timers[0]));
        assert_true(htw_timer_is_pending(&f.timers[0]));
        assert_int_equal(htw_timer_deadline(&f.timers[0]), deadlines[i]);
        assert_int_equal(htw_wheel_count(other.wheel), 1);
        assert_sound(&f);
    }
    fixture_close(&other);
    fixture_close(&f);
}

WHEEL_TEST(wheel_for_each_without_a_visitor_and_dump_without_a_stream_are_refused, 8, 0, false, 1) {
    arm(f, 0, 5);
    assert_int_equal(htw_wheel_for_each(f->wheel, NULL, NULL), 0);
    assert_int_equal(htw_wheel_dump(f->wheel, NULL), -EINVAL);
}

WHEEL_TEST(wheel_stats_of_unknown_size_are_left_alone, 8, 0, false, 0) {
    static const size_t sizes[] = { 0, sizeof(struct htw_wheel_stats) - 1,
                                    sizeof(struct htw_wheel_stats) + 1 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct htw_wheel_stats stats, same;
        memset(&stats, 0x5a, sizeof stats);
        stats.struct_size = sizes[i];
        memcpy(&same, &stats, sizeof stats);
        assert_int_equal(htw_wheel_get_stats(f->wheel, &stats), -EINVAL);
        assert_memory_equal(&stats, &same, sizeof stats);
    }
    assert_int_equal(htw_wheel_get_stats(f->wheel, NULL), -EINVAL);
}

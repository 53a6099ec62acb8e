/* SPDX-License-Identifier: MIT */
/* test_delay_clock.c - the clocks of `htw delay`, which are replaced (-Wl,--wrap). */
#include "../../../programs/delay/timeline.h"

#include "../unit.h"

static int64_t wall_ns;
static int64_t monotonic_ns;
static int64_t gap_ns; /* what passes between the next two readings, and not after that */

int64_t __wrap_htw__clock_realtime_ns(void);
int64_t __wrap_htw__clock_realtime_ns(void) {
    int64_t now_ns = wall_ns;
    monotonic_ns += gap_ns;
    wall_ns += gap_ns;
    gap_ns = 0;
    return now_ns;
}

int64_t __wrap_htw__clock_monotonic_ns(void);
int64_t __wrap_htw__clock_monotonic_ns(void) {
    return monotonic_ns;
}

static void pass(int64_t ns) {
    wall_ns += ns;
    monotonic_ns += ns;
}

static struct htw__timeline start(bool is_simulated) {
    struct htw__timeline timeline;
    wall_ns = 1000 * HTW_SECOND;
    monotonic_ns = 7 * HTW_SECOND;
    gap_ns = 0;
    htw__timeline_init(&timeline, HTW_MILLISECOND, is_simulated);
    return timeline;
}

/* holds: delay-10 */
UNIT_TEST(timeline_after_the_clock_was_set_follows_it) {
    static const int64_t steps_ns[] = { 3600 * HTW_SECOND, -3600 * HTW_SECOND, 2 * HTW_MILLISECOND,
                                        -2 * HTW_MILLISECOND };
    for (size_t i = 0; i < 4; i++) {
        struct htw__timeline timeline = start(false);
        pass(5 * HTW_SECOND);
        wall_ns += steps_ns[i];
        htw__timeline_follow_wall_clock(&timeline);
        assert_int_equal(htw__timeline_to_wall(&timeline, htw__timeline_now(&timeline)), wall_ns);
        assert_int_equal(htw__timeline_from_wall(&timeline, wall_ns), 5 * HTW_SECOND);
    }
}

/* Lines with one instant stay in order although the clock is adjusted a little. */
/* holds: delay-10 */
UNIT_TEST(timeline_adjusted_a_little_stays) {
    static const int64_t steps_ns[] = { HTW_MILLISECOND, -HTW_MILLISECOND, 1, -1 };
    for (size_t i = 0; i < 4; i++) {
        struct htw__timeline timeline = start(false);
        int64_t offset_ns = timeline.wall_offset_ns;
        wall_ns += steps_ns[i];
        htw__timeline_follow_wall_clock(&timeline);
        assert_true(timeline.wall_offset_ns == offset_ns);
    }
}

/* Another process ran between the two readings: the clock was not set. */
UNIT_TEST(timeline_disturbed_once_stays) {
    struct htw__timeline timeline = start(false);
    int64_t offset_ns = timeline.wall_offset_ns;
    gap_ns = 50 * HTW_MILLISECOND;
    htw__timeline_follow_wall_clock(&timeline);
    assert_true(timeline.wall_offset_ns == offset_ns);
}

UNIT_TEST(timeline_simulated_follows_no_clock) {
    struct htw__timeline timeline = start(true);
    int64_t offset_ns = timeline.wall_offset_ns;
    pass(HTW_SECOND);
    wall_ns += 3600 * HTW_SECOND;
    htw__timeline_follow_wall_clock(&timeline);
    assert_true(timeline.wall_offset_ns == offset_ns);
    assert_int_equal(htw__timeline_now(&timeline), 0);
    htw__timeline_jump(&timeline, 5);
    htw__timeline_jump(&timeline, 3);
    assert_int_equal(htw__timeline_now(&timeline), 5 * HTW_MILLISECOND);
}

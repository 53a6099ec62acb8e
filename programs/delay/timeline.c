/* SPDX-License-Identifier: MIT */
/* timeline.c - the time of one run: real or simulated. */
#include "timeline.h"

#include "../../src/base/clock.h"

/* Two measurements of the offset differ by this much at most unless the clock was set. */
#define NOISE_NS HTW_MILLISECOND

/*
 * The two clocks cannot be read at once. The wall clock is read first, so that the offset is too small
 * if at all: instants are then late and not early. The largest of several attempts was disturbed
 * least.
 */
static int64_t measure_wall_offset(const struct htw__timeline *timeline, int attempts) {
    int64_t best_ns = INT64_MIN;
    while (attempts-- > 0) {
        int64_t wall_ns = htw__clock_realtime_ns();
        int64_t time_ns = htw__clock_monotonic_ns() - timeline->start_ns;
        if (wall_ns - time_ns > best_ns)
            best_ns = wall_ns - time_ns;
    }
    return best_ns;
}

void htw__timeline_init(struct htw__timeline *timeline, int64_t tick_ns, bool is_simulated) {
    *timeline = (struct htw__timeline) {
        .tick_ns = tick_ns,
        .is_simulated = is_simulated,
        .start_ns = htw__clock_monotonic_ns(),
    };
    timeline->wall_offset_ns = measure_wall_offset(timeline, 5);
}

int64_t htw__timeline_now(const struct htw__timeline *timeline) {
    if (timeline->is_simulated)
        return timeline->simulated_ns;
    return htw__clock_monotonic_ns() - timeline->start_ns;
}

void htw__timeline_jump(struct htw__timeline *timeline, uint64_t tick) {
    timeline->simulated_ns =
        htw__time_later(timeline->simulated_ns, htw__time_of_tick(tick, timeline->tick_ns));
}

/* Small differences do not count: lines with the same instant must stay in order. */
static bool is_set(int64_t change_ns) {
    return change_ns < -NOISE_NS || change_ns > NOISE_NS;
}

void htw__timeline_follow_wall_clock(struct htw__timeline *timeline) {
    if (timeline->is_simulated)
        return;
    if (!is_set(measure_wall_offset(timeline, 1) - timeline->wall_offset_ns))
        return;
    /* Perhaps another process ran between the readings of the two clocks: measure again. */
    int64_t change_ns = measure_wall_offset(timeline, 5) - timeline->wall_offset_ns;
    if (is_set(change_ns))
        timeline->wall_offset_ns += change_ns;
}

int64_t htw__timeline_to_wall(const struct htw__timeline *timeline, int64_t time_ns) {
    return htw__time_add(time_ns, timeline->wall_offset_ns);
}

int64_t htw__timeline_from_wall(const struct htw__timeline *timeline, int64_t wall_ns) {
    return htw__time_subtract(wall_ns, timeline->wall_offset_ns);
}

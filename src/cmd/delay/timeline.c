/* SPDX-License-Identifier: MIT */
/* timeline.c - the time of one run: real, simulated or the wall clock's. */
#include "timeline.h"

#include "../../base/clock.h"

/* Two measurements of the offset differ by this much at most unless the clock was set. */
#define NOISE_NS HTW__NS_PER_MS

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

void htw__timeline_init_wall(struct htw__timeline *timeline, int64_t tick_ns) {
    *timeline = (struct htw__timeline) { .tick_ns = tick_ns, .is_wall = true };
}

struct htw__time htw__timeline_now(const struct htw__timeline *timeline) {
    if (timeline->is_simulated)
        return timeline->simulated;
    if (timeline->is_wall)
        return htw__time_of(0, htw__clock_realtime_ns());
    return htw__time_of(0, htw__clock_monotonic_ns() - timeline->start_ns);
}

void htw__timeline_jump(struct htw__timeline *timeline, uint64_t tick) {
    timeline->simulated =
        htw__time_later(timeline->simulated, htw__time_of_tick(tick, timeline->tick_ns));
}

/* Small differences do not count: lines with the same instant must stay in order. */
static bool is_set(int64_t change_ns) {
    return change_ns < -NOISE_NS || change_ns > NOISE_NS;
}

void htw__timeline_follow_wall_clock(struct htw__timeline *timeline) {
    if (timeline->is_simulated || timeline->is_wall)
        return;
    if (!is_set(measure_wall_offset(timeline, 1) - timeline->wall_offset_ns))
        return;
    /* Perhaps another process ran between the readings of the two clocks: measure again. */
    int64_t change_ns = measure_wall_offset(timeline, 5) - timeline->wall_offset_ns;
    if (is_set(change_ns))
        timeline->wall_offset_ns += change_ns;
}

struct htw__time htw__timeline_to_wall(const struct htw__timeline *timeline,
                                       struct htw__time time) {
    return htw__time_of(time.s, time.ns + timeline->wall_offset_ns);
}

struct htw__time htw__timeline_from_wall(const struct htw__timeline *timeline,
                                         struct htw__time wall) {
    return htw__time_of(wall.s, wall.ns - timeline->wall_offset_ns);
}

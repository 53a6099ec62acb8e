/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - the time of one run, since the program's start. It passes by the monotonic clock or,
 * simulated, only when the loop jumps.
 */
#ifndef HTW_DELAY_TIMELINE_H
#define HTW_DELAY_TIMELINE_H

#include "../kit/times.h"

#include <stdbool.h>
#include <stdint.h>

struct htw__timeline {
    int64_t tick_ns;
    bool is_simulated;
    int64_t simulated_ns;   /* the present time, where it is */
    int64_t start_ns;       /* by the monotonic clock */
    int64_t wall_offset_ns; /* from the time of the run to that since 1970 */
};

/* Starts the time of the run. */
void htw__timeline_init(struct htw__timeline *timeline, int64_t tick_ns, bool is_simulated);

/* The present, since the start. */
int64_t htw__timeline_now(const struct htw__timeline *timeline);

/* Moves simulated time on to the beginning of a tick. */
void htw__timeline_jump(struct htw__timeline *timeline, uint64_t tick);

/* Notes whether the wall clock was set since the last call. Instants that are read from now on follow
 * the new time; those read before do not change. */
void htw__timeline_follow_wall_clock(struct htw__timeline *timeline);

/* From the time of the run to the wall clock's, and back. */
int64_t htw__timeline_to_wall(const struct htw__timeline *timeline, int64_t time_ns);
int64_t htw__timeline_from_wall(const struct htw__timeline *timeline, int64_t wall_ns);

#endif /* HTW_DELAY_TIMELINE_H */

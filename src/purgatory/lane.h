/* SPDX-License-Identifier: MIT */
/* lane.h - what a processor has for itself; here, the timeouts of requests. */
#ifndef HTW_SRC_PURGATORY_LANE_H
#define HTW_SRC_PURGATORY_LANE_H

#include "state.h"

/* 0 or -ENOMEM. */
int htw__lane_init(struct htw__lane *lane, struct htw_purgatory *purgatory);

/* No alarm is set any more. Those that are set belong to the purgatory's group of callbacks. */
void htw__lane_stop(struct htw__lane *lane);

/* Whether of all its alarms the last has come. */
bool htw__lane_is_quiet(struct htw__lane *lane);

/* Also of one that is not initialised, but zeroed. */
void htw__lane_fini(struct htw__lane *lane);

/* Arms the timeout of a request (not HTW_FOREVER). 0, or what the scheduler answers; then
   nothing has changed. The owner only. */
int htw__lane_arm(struct htw_request *request, int64_t timeout_ns);

/* Moves the timeout of a request that is in the wheel of a lane. 0; -ENOENT: it is not; or what the
   scheduler answers: then nothing has changed. Any thread. */
int htw__lane_move(struct htw_purgatory *purgatory, struct htw_request *request,
                   int64_t timeout_ns);

/* The owner only; afterwards the request is not known here. */
void htw__lane_disarm(struct htw_request *request);

/* The wall clock was set, by which the scheduler's timers go. */
void htw__lane_clock_was_set(struct htw__lane *lane);

/* Adds what it holds to the statistics. */
void htw__lane_add(struct htw__lane *lane, struct htw_purgatory_stats *stats);

#endif /* HTW_SRC_PURGATORY_LANE_H */

/* SPDX-License-Identifier: MIT */
/* timeout.h - what a processor has for itself; here, the timeouts of requests. */
#ifndef HTW_SRC_PURGATORY_TIMEOUT_H
#define HTW_SRC_PURGATORY_TIMEOUT_H

#include "state.h"

/* 0 or -ENOMEM. */
int htw__timeouts_init(struct htw__cpu *cpu, struct htw_purgatory *purgatory);

/* No alarm is set any more. Those that are set belong to the purgatory's group of callbacks. */
void htw__timeouts_stop(struct htw__cpu *cpu);

/* Whether of all its alarms the last has come. */
bool htw__timeouts_is_quiet(struct htw__cpu *cpu);

/* Also of one that is not initialised, but zeroed. */
void htw__timeouts_fini(struct htw__cpu *cpu);

/* Arms the timeout of a request (not HTW_NEVER_NS). 0, or what the scheduler answers; then
   nothing has changed. The owner only. */
int htw__timeouts_arm(struct htw_request *request, int64_t timeout_ns);

/* Moves the timeout of a request that is in the wheel of a CPU. 0; -ENOENT: it is not; or what the
   scheduler answers: then nothing has changed. Any thread. */
int htw__timeouts_move(struct htw_purgatory *purgatory, struct htw_request *request,
                       int64_t timeout_ns);

/* The owner only; afterwards the request is not known here. */
void htw__timeouts_disarm(struct htw_request *request);

/* The wall clock was set, by which the scheduler's timers go. */
void htw__timeouts_clock_was_set(struct htw__cpu *cpu);

/* Adds what it holds to the statistics. */
void htw__timeouts_add(struct htw__cpu *cpu, struct htw_purgatory_stats *stats);

#endif /* HTW_SRC_PURGATORY_TIMEOUT_H */

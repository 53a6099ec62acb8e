/* SPDX-License-Identifier: MIT */
/*
 * waits.h - how long requests waited: a histogram in each CPU.
 *
 * A request that an event ends reads no clock, and must not: that would make it slower by a
 * seventh. So in each millisecond at least 16 requests of a CPU are measured. The others cost a
 * comparison when they begin to wait and one when they end. For a request with a timeout, the clock
 * was read already when it begins to wait. For one without, it is read if the request is measured,
 * and for one of 16 others, to find out whether the millisecond is over.
 */
#ifndef HTW_SRC_PURGATORY_WAITS_H
#define HTW_SRC_PURGATORY_WAITS_H

#include "state.h"

/* A request with a timeout begins to wait at this instant of the steady clock. The owner only. */
void htw__wait_begin(struct htw__cpu *cpu, struct htw_request *request, int64_t now_ns);

/* A request without a timeout begins to wait. The owner only. */
void htw__wait_begin_without_clock(struct htw_request *request);

/* A request that is measured ends. The owner only. */
void htw__wait_end(struct htw_request *request);

/* Adds the histogram of a CPU to the statistics. Under the lock of the CPU. */
void htw__waits_add(const struct htw__waits *waits, struct htw_purgatory_stats *stats);

#endif /* HTW_SRC_PURGATORY_WAITS_H */

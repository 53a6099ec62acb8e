/* SPDX-License-Identifier: MIT */
/* run.h - running callbacks: what comes before one, and what after. */
#ifndef HTW_SRC_SCHEDULER_RUN_H
#define HTW_SRC_SCHEDULER_RUN_H

#include "state.h"

struct htw__runner *htw__runner_create(const struct htw_scheduler *scheduler);
void htw__runner_destroy(const struct htw_scheduler *scheduler, struct htw__runner *runner);

/*
 * Runs what is left of a batch, one after the other; others may take from its end meanwhile
 * (htw__batch.next). When the scheduler is being stopped, the rest is kept for stop.
 */
void htw__run_batch(struct htw__runner *runner, struct htw__batch *batch);

/* Keeps what is left of a batch for stop. */
void htw__run_nothing(struct htw__batch *batch);

#endif /* HTW_SRC_SCHEDULER_RUN_H */

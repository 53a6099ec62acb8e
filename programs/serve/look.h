/* SPDX-License-Identifier: MIT */
/*
 * look.h - commands that look at jobs or tubes: they are read by a reader (reader.h).
 *
 * A tube exists if a connection uses or watches it, which the server knows, or if it has jobs, which the journal knows. First the
 * loop copies the names of the former, and then the queues are passed: so each tube that is there all the time is found once.
 */
#ifndef HTW_SERVE_LOOK_H
#define HTW_SERVE_LOOK_H

#include "operation.h"

/* In a reader; they end the operation. */
typedef void htw__look_fn(struct htw__operation *operation);

/* The job with the id; the first of the tube in a state; the job, which is then removed. */
htw__look_fn htw__look_at_job, htw__look_at_first, htw__look_and_cancel;

/* Counts the urgent jobs of `tubes`. */
htw__look_fn htw__look_at_tube;

/* Fills in the `tubes` of the operation, which were those in use; of stats also its numbers, and counts the urgent jobs. */
htw__look_fn htw__look_at_all;

/* Submits it, as those of operation.h. */
bool htw__look(struct htw__operation *operation, htw__look_fn *read);

#endif /* HTW_SERVE_LOOK_H */

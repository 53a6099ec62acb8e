/* SPDX-License-Identifier: MIT */
/*
 * survey.h - what a command needs of all tubes: list-tubes and stats.
 *
 * A tube exists if somebody uses or watches it, which the server knows, or if it has jobs, which the journal knows. First the
 * names of the former are copied, and then the queues are passed: so each tube that is there all the time is found once.
 */
#ifndef HTW_SERVE_SURVEY_H
#define HTW_SERVE_SURVEY_H

#include "operation.h"

/* In the reader of tubes; they end the operation. */

/* Counts the urgent jobs of `tubes`. */
void htw__survey_read_tube(struct htw__operation *operation);

/* Fills in the `tubes` of the operation; of stats also its numbers, and counts the urgent jobs. */
void htw__survey_read(struct htw__operation *operation);

#endif /* HTW_SERVE_SURVEY_H */

/* SPDX-License-Identifier: MIT */
/*
 * survey.h - what a command needs of all tubes: list-tubes and stats.
 *
 * A thread does that, one command after the other, so that no other command waits for it. It begins with the first of them. A
 * tube exists if somebody uses or watches it, which the server knows, or if it has jobs, which the journal knows. First the
 * thread copies the names of the former, and then it passes the queues: so each tube that is there all the time is found once.
 */
#ifndef HTW_SRC_CMD_SERVE_SURVEY_H
#define HTW_SRC_CMD_SERVE_SURVEY_H

#include "operation.h"

void htw__survey_init(struct htw__server *server);

/* Ends the thread; nothing may be under way. */
void htw__survey_fini(struct htw__server *server);

/* Submits the operation: fills in its `tubes`; of stats also its numbers, and counts the urgent jobs. As those of operation.h. */
bool htw__survey_start(struct htw__operation *operation);

#endif /* HTW_SRC_CMD_SERVE_SURVEY_H */

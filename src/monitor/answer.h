/* SPDX-License-Identifier: MIT */
/* answer.h - understands the request of a client, and makes the answer. */
#ifndef HTW_SRC_MONITOR_ANSWER_H
#define HTW_SRC_MONITOR_ANSWER_H

#include "state.h"

/* Whether a line is a request by HTTP, whose head goes on after it. */
bool htw__answer_is_http(const char *line);

/* Makes the answer to client->line, head and body. Takes the lock of the monitor. */
void htw__answer_make(struct htw_monitor *monitor, struct htw__client *client);

/* The same, for a request that is too long. */
void htw__answer_refuse(struct htw__client *client);

#endif /* HTW_SRC_MONITOR_ANSWER_H */

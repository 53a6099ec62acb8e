/* SPDX-License-Identifier: MIT */
/* answer.h - understands the request of a client, and makes the answer. */
#ifndef HTW_SRC_MONITOR_ANSWER_H
#define HTW_SRC_MONITOR_ANSWER_H

#include "state.h"

/* Takes bytes of the request, up to its end. A request that is too long has its answer at once. */
void htw__answer_take(struct htw__client *client, const char *bytes, size_t size);

/* Makes the answer to client->line, head and body. Part of one while the
   monitor is being closed. */
void htw__answer_make(struct htw_monitor *monitor, struct htw__client *client);

#endif /* HTW_SRC_MONITOR_ANSWER_H */

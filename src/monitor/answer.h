/* SPDX-License-Identifier: MIT */
/* answer.h - understands the request of a client, and makes the answer. */
#ifndef HTW_SRC_MONITOR_ANSWER_H
#define HTW_SRC_MONITOR_ANSWER_H

#include "state.h"

/* Takes a part of the request, and looks whether that is all. One that is too long has its answer at once. */
void htw__answer_take(struct htw__client *client, const char *bytes, size_t size);

/* Makes the answer, head and text. Part of one while the monitor is being closed. */
void htw__answer_make(struct htw_monitor *monitor, struct htw__client *client);

#endif /* HTW_SRC_MONITOR_ANSWER_H */

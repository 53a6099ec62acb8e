/* SPDX-License-Identifier: MIT */
/*
 * log.h - what a relay says while it runs: a line a message on standard error, with its time and its level, as
 * logfmt: time=... level=warning msg="...". The state is one for the process.
 */
#ifndef HTW_RELAY_COMMAND_LOG_H
#define HTW_RELAY_COMMAND_LOG_H

#include "../kafka.h"

/* Says a sentence, which may hold any bytes: visible.h. One that was said last, less than ten seconds ago, is not
 * repeated. Any thread may. */
void htw__log(enum htw__severity level, const char *text);

#endif /* HTW_RELAY_COMMAND_LOG_H */

/* SPDX-License-Identifier: MIT */
/* delay.h - `htw delay`: releases each message that it reads at its time. */
#ifndef HTW_SRC_CMD_DELAY_DELAY_H
#define HTW_SRC_CMD_DELAY_DELAY_H

#include "options.h"

/*
 * Run to the end of the input and of the last delay, or until they are stopped; return the exit status.
 * The first keeps messages in memory, the second in a journal, so that no accepted message is lost by a
 * crash. One of them may be called, once in a process.
 */
int htw__memory_run(const struct htw__options *options);
int htw__durable_run(const struct htw__options *options);

#endif /* HTW_SRC_CMD_DELAY_DELAY_H */

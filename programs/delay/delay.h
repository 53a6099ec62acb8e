/* SPDX-License-Identifier: MIT */
/* delay.h - `htw delay`: releases each message that it reads at its time. */
#ifndef HTW_DELAY_DELAY_H
#define HTW_DELAY_DELAY_H

#include "options.h"

/* Runs to the end of the input and of the last delay, or until it is stopped; returns the exit status.
 * May be called once in a process. */
int htw__delay_run(const struct htw__options *options);

#endif /* HTW_DELAY_DELAY_H */

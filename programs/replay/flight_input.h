/* SPDX-License-Identifier: MIT */
/* flight_input.h - where a flight record comes from. */
#ifndef HTW_REPLAY_FLIGHT_INPUT_H
#define HTW_REPLAY_FLIGHT_INPUT_H

#include "flight.h"

#include <stdbool.h>

/* Reads a record whole, from a file (`-`: standard input), or from the monitor of a program: the number of its process, or the path of
 * its socket. False: that failed, and the reason was printed. */
bool htw__flight_read(struct htw__flight *flight, const char *name);
bool htw__flight_fetch(struct htw__flight *flight, const char *program);

#endif /* HTW_REPLAY_FLIGHT_INPUT_H */

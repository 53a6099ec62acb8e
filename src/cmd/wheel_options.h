/* SPDX-License-Identifier: MIT */
/* wheel_options.h - the options of commands that have a wheel: --tick and --wheel-size. */
#ifndef HTW_SRC_CMD_WHEEL_OPTIONS_H
#define HTW_SRC_CMD_WHEEL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the length of a tick, from 1ns to 1d. False: an error was printed. */
bool htw__tick_parse(const char *text, int64_t *ret_tick_ns);

/* Reads the number of buckets in a level. False: an error was printed. */
bool htw__wheel_size_parse(const char *text, uint32_t *ret_size);

#endif /* HTW_SRC_CMD_WHEEL_OPTIONS_H */

/* SPDX-License-Identifier: MIT */
/* options.h - the command line of `htw delay`. */
#ifndef HTW_DELAY_OPTIONS_H
#define HTW_DELAY_OPTIONS_H

#include "../kit/command_line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct htw__options {
    int64_t tick_ns;
    uint32_t wheel_size;
    size_t max_pending; /* SIZE_MAX: no limit */
    size_t max_line;
    bool from_start;
    bool simulate;
    bool timestamps;
    bool strict;
    bool stats;
    char separator;
    const char *unreleased_path; /* NULL: none */
    bool monitor;
    const char *monitor_path; /* NULL: the default one */
    char *const *names;
    int name_count; /* at least 1 */
};

/* Reads the arguments, of which the first is the prefix of error messages. */
enum htw__wish htw__options_parse(int argc, char *argv[], struct htw__options *options);

extern const struct htw__command_line htw__options_line;

#endif /* HTW_DELAY_OPTIONS_H */

/* SPDX-License-Identifier: MIT */
/* options.h - the command line of `htw top`. */
#ifndef HTW_TOP_OPTIONS_H
#define HTW_TOP_OPTIONS_H

#include "../kit/command_line.h"
#include "draw.h"

#include <stdbool.h>
#include <stdint.h>

struct htw__top_options {
    int64_t interval_ns;
    enum htw__page_kind page;
    enum htw__sort sort;
    bool is_ascii;
    bool once;
    bool json;
    bool list;
    const char *observe; /* words; NULL: what is observed stays */
    const char *program; /* a process or a path; NULL: the only one that can be watched */
};

/* Reads the arguments, of which the first is the prefix of error messages; prints what is wrong. */
enum htw__wish htw__top_options_parse(int argc, char *argv[], struct htw__top_options *options);

extern const struct htw__command_line htw__top_line;

#endif /* HTW_TOP_OPTIONS_H */

/* SPDX-License-Identifier: MIT */
/* line.h - one record of the input: a DELAY, a blank or tab, and the message. */
#ifndef HTW_KIT_LINE_H
#define HTW_KIT_LINE_H

#include "input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct htw__line {
    /* From when the line was read; or since 1970 by the wall clock, if `is_instant`. */
    int64_t when_ns;
    bool is_instant;
    /* The first word as it was written, for error messages; set for bad lines as well. */
    const char *word;
    size_t word_size;
    /* What follows the one blank or tab after it, byte for byte. */
    const char *message;
    size_t message_size;
};

/* Reads a record without its terminator. The line points into `bytes`.
 * Returns NULL, or why it is bad (a static phrase). */
const char *htw__line_parse(const char *bytes, size_t size, struct htw__line *ret_line);

/* Prints why a line, which the input is at, is bad, unless there were many such errors before. */
void htw__line_report(const struct htw__line *line, struct htw__input *input, const char *why);

#endif /* HTW_KIT_LINE_H */

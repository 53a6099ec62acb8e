/* SPDX-License-Identifier: MIT */
/* help_text.h - what a command prints for --help. */
#ifndef TESTS_UNIT_CMD_HELP_TEXT_H
#define TESTS_UNIT_CMD_HELP_TEXT_H

#include "../../../programs/kit/command_line.h"
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

/* The help of a command has this in it. */
static inline void assert_help_has(const struct htw__command_line *line, const char *part) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_true(htw__command_line_help(line, stream));
    fclose(stream);
    assert_non_null(strstr(text, part));
    free(text);
}

#endif /* TESTS_UNIT_CMD_HELP_TEXT_H */

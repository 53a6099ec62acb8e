/* SPDX-License-Identifier: MIT */
/* help_text.h - what a command prints for --help. */
#ifndef TESTS_UNIT_CMD_HELP_TEXT_H
#define TESTS_UNIT_CMD_HELP_TEXT_H

#include "../../../src/cmd/command_line.h"
#include "../unit.h"

/* To be freed. */
static inline char *help_text(const struct htw__command_line *line) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_true(htw__command_line_help(line, stream));
    fclose(stream);
    return text;
}

#endif /* TESTS_UNIT_CMD_HELP_TEXT_H */

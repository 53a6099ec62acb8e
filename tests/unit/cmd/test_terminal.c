/* SPDX-License-Identifier: MIT */
/* test_terminal.c - messages and the progress line below them, on standard error. */
#include "../../../src/cmd/terminal.h"

#include "capture.h"

UNIT_TEST(terminal_error_erases_the_line_once) {
    capture_begin();
    htw__terminal_erase();
    htw__terminal_error("%s: %d", "one", 1);
    htw__terminal_show("line");
    htw__terminal_error("two");
    htw__terminal_error("three");
    htw__terminal_show("line");
    htw__terminal_erase();
    htw__terminal_erase();
    assert_string_equal(capture_end(), "htw delay: one: 1\n"
                                       "\rline\033[K"
                                       "\r\033[K"
                                       "htw delay: two\nhtw delay: three\n"
                                       "\rline\033[K"
                                       "\r\033[K");
}

/* Without a terminal there is no width. */
UNIT_TEST(terminal_line_is_cut_before_the_last_column) {
    char line[101] = "";
    char wanted[128];
    memset(line, 'x', sizeof(line) - 1);
    snprintf(wanted, sizeof(wanted), "\r%.79s\033[K", line);
    capture_begin();
    htw__terminal_show(line);
    assert_string_equal(capture_end(), wanted);
}

/* SPDX-License-Identifier: MIT */
/* test_terminal.c - messages and the progress line below them, on standard error. */
#include "../../../src/cmd/terminal.h"

#include "capture.h"

static void terminal_error_erases_the_line_once(void **state) {
    (void)state;
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
static void terminal_line_is_cut_before_the_last_column(void **state) {
    (void)state;
    char line[101] = "";
    char wanted[128];
    memset(line, 'x', sizeof(line) - 1);
    snprintf(wanted, sizeof(wanted), "\r%.79s\033[K", line);
    capture_begin();
    htw__terminal_show(line);
    assert_string_equal(capture_end(), wanted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terminal_error_erases_the_line_once),
        cmocka_unit_test(terminal_line_is_cut_before_the_last_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_delay_options.c - the command line of `htw delay`. */
#include "../../../programs/delay/options.h"

#include "capture.h"

#include <getopt.h>
#include <stdlib.h>

#define ARGUMENTS_MAX 8
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct htw__options options;
static char *words[ARGUMENTS_MAX + 2];
static const char *complaint;

/* Parses up to ARGUMENTS_MAX words, with standard error in `complaint`. */
static enum htw__wish parse(const char *const arguments[ARGUMENTS_MAX]) {
    static char texts[ARGUMENTS_MAX][64];
    static char name[] = "htw delay";
    int count = 1;
    words[0] = name;
    for (size_t i = 0; i < ARGUMENTS_MAX && arguments[i] != NULL; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%s", arguments[i]);
        words[count++] = texts[i];
    }
    words[count] = NULL;
    optind = 0; /* as for a new program */
    capture_begin();
    enum htw__wish wish = htw__options_parse(count, words, &options);
    complaint = capture_end();
    return wish;
}

#define PARSE(...) parse((const char *const[ARGUMENTS_MAX]) { __VA_ARGS__ })

UNIT_TEST(options_without_any_are_the_defaults) {
    assert_int_equal(PARSE(NULL), HTW__WISH_RUN);
    assert_int_equal(options.tick_ns, 1000000);
    assert_int_equal(options.wheel_size, 256);
    assert_true(options.max_pending == SIZE_MAX);
    assert_int_equal(options.max_line, 16777216);
    assert_false(options.from_start || options.simulate || options.timestamps || options.strict ||
                 options.stats);
    assert_int_equal(options.separator, '\n');
    assert_null(options.unreleased_path);
    assert_int_equal(options.name_count, 1);
    assert_string_equal(options.names[0], "-");
    assert_string_equal(complaint, "");
}

UNIT_TEST(options_in_short_and_long_form_are_the_same) {
    static const char *const forms[][ARGUMENTS_MAX] = {
        { "-fnTSs0", "-t5us", "-w", "4096", "-m7", "-l9", "-uout", "in" },
        { "--from-start", "--simulate", "--timestamps", "--strict", "--stats", "--null", "in" },
    };
    for (size_t i = 0; i < COUNT(forms); i++) {
        assert_int_equal(parse(forms[i]), HTW__WISH_RUN);
        assert_true(options.from_start && options.simulate && options.timestamps &&
                    options.strict && options.stats);
        assert_int_equal(options.separator, '\0');
        assert_int_equal(options.name_count, 1);
        assert_string_equal(options.names[0], "in");
        assert_string_equal(complaint, "");
    }
    assert_int_equal(PARSE("-t5us", "-w", "4096", "-m7", "-l9", "-uout"), HTW__WISH_RUN);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(options.tick_ns, 5000);
        assert_int_equal(options.wheel_size, 4096);
        assert_int_equal(options.max_pending, 7);
        assert_int_equal(options.max_line, 9);
        assert_string_equal(options.unreleased_path, "out");
        assert_int_equal(options.name_count, 1);
        assert_int_equal(PARSE("--tick=5us", "--wheel-size", "4096", "--max-pending=7",
                               "--max-line=9", "--unreleased", "out"),
                         HTW__WISH_RUN);
    }
}

UNIT_TEST(options_at_the_ends_of_their_ranges_are_taken) {
    char most[32];
    snprintf(most, sizeof(most), "%zu", SIZE_MAX - 16);
    assert_int_equal(PARSE("-t1ns", "-w2", "-m1", "-l", most), HTW__WISH_RUN);
    assert_int_equal(options.tick_ns, 1);
    assert_int_equal(options.wheel_size, 2);
    assert_int_equal(options.max_pending, 1);
    assert_true(options.max_line == SIZE_MAX - 16);
    assert_int_equal(PARSE("-t1d", "-m", "90"), HTW__WISH_RUN);
    assert_int_equal(options.tick_ns, INT64_C(86400000000000));
    assert_int_equal(options.max_pending, 90);
}

#define TRY "Usage: htw delay [OPTION]... [FILE]...\nTry 'htw delay --help' for more information.\n"

UNIT_TEST(options_that_are_wrong_are_named) {
    static const struct {
        const char *word;
        const char *complaint;
    } cases[] = {
        { "--tick=0", "htw delay: --tick: not from 1ns to 1d: 0\n" },
        { "--tick=1d1ns", "htw delay: --tick: not from 1ns to 1d: 1d1ns\n" },
        { "--tick=-1", "htw delay: --tick: negative delay: -1\n" },
        { "-w3", "htw delay: --wheel-size: not a power of two from 2 to 4096: 3\n" },
        { "-w1", "htw delay: --wheel-size: not a power of two from 2 to 4096: 1\n" },
        { "-w0", "htw delay: --wheel-size: not a power of two from 2 to 4096: 0\n" },
        { "-w8192", "htw delay: --wheel-size: not a power of two from 2 to 4096: 8192\n" },
        { "-w8x", "htw delay: --wheel-size: not a power of two from 2 to 4096: 8x\n" },
        { "-m0", "htw delay: --max-pending: not a number of at least 1: 0\n" },
        { "-m-1", "htw delay: --max-pending: not a number of at least 1: -1\n" },
        { "-m1:", "htw delay: --max-pending: not a number of at least 1: 1:\n" },
        { "--max-pending=", "htw delay: --max-pending: not a number of at least 1: \n" },
        { "-l18446744073709551616",
          "htw delay: --max-line: not a number of at least 1: 18446744073709551616\n" },
        { "-l1844674407370955160000",
          "htw delay: --max-line: not a number of at least 1: 1844674407370955160000\n" },
        { "-u-", "htw delay: --unreleased: not the name of a file: '-'\n" },
        { "--unreleased=", "htw delay: --unreleased: not the name of a file: ''\n" },
        { "-x", "htw delay: invalid option -- 'x'\n" },
    };
    char wanted[512];
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(PARSE(cases[i].word), HTW__WISH_WRONG);
        snprintf(wanted, sizeof(wanted), "%s" TRY, cases[i].complaint);
        assert_string_equal(complaint, wanted);
    }
}

UNIT_TEST(options_that_ask_for_help_or_version_end_the_parsing) {
    assert_int_equal(PARSE("-h", "-x"), HTW__WISH_HELP);
    assert_int_equal(PARSE("--help"), HTW__WISH_HELP);
    assert_int_equal(PARSE("-V", "-x"), HTW__WISH_VERSION);
    assert_int_equal(PARSE("--version"), HTW__WISH_VERSION);
    assert_string_equal(complaint, "");
}

/* SPDX-License-Identifier: MIT */
/* test_draw_run.c - the lines that `htw draw` reads, and what they do to its wheel. */
#include "../../../programs/draw/run.h"

#include "capture.h"

#include <sys/mman.h>

static struct htw__run_options options;
static struct htw__run run;
static const char *complaints;

/* Reads the lines, from a file. */
static int read_lines(const char *lines) {
    static char path[64];
    static char *const names[] = { path };
    int file = memfd_create("lines", MFD_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(write(file, lines, strlen(lines)), strlen(lines));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    options.names = names;
    options.name_count = 1;
    assert_int_equal(htw__run_init(&run, &options), 0);
    capture_begin();
    int error = htw__run_read(&run);
    complaints = capture_end();
    close(file);
    return error;
}

static void setup(void) {
    htw__run_options_init(&options);
    options.wheel_size = 4; /* the wheel of the example in src/wheel/wheel.c */
    options.start_ns = 0;
}

static void teardown(void) {
    htw__run_fini(&run);
}

#define DRAW_TEST(name) UNIT_TEST_BETWEEN(setup, teardown, name)

/* The buckets in which timers wait, in the order in which the clock comes to them: level, bucket, timers. */
static void assert_buckets(const char *wanted) {
    struct htw_wheel_bucket buckets[8];
    char text[256] = "";
    size_t count = htw_wheel_first_buckets(run.wheel, buckets, 8);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof(text) - length, "%u.%u:%u ", (unsigned)buckets[i].level,
                 (unsigned)buckets[i].number, (unsigned)buckets[i].timers);
    }
    assert_string_equal(text, wanted);
}

DRAW_TEST(run_does_the_worked_example) {
    assert_int_equal(read_lines("2ms A\n7ms B\n21ms C\n23ms D\n61ms E\nwait 7ms\n3ms F\n5ms G\n"),
                     0);
    assert_string_equal(complaints, "");
    assert_buckets("0.2:1 1.3:1 2.1:2 2.3:1 ");
    htw__run_fini(&run);
    assert_int_equal(read_lines("2ms A\n7ms B\n21ms C\n23ms D\n61ms E\nwait 7ms\n3ms F\n5ms G\n"
                                "wait 14ms\n"),
                     0);
    assert_buckets("0.3:1 2.3:1 ");
    htw__run_advance(&run, 99000000);
    assert_int_equal(htw_wheel_now(run.wheel), 99);
    assert_int_equal(htw_wheel_count(run.wheel), 0);
    assert_int_equal(htw_wheel_check(run.wheel), 0);
}

DRAW_TEST(run_without_wait_arms_all_at_the_start) {
    assert_int_equal(read_lines("1s a\n0.25 b\n@10 c\n"), 0);
    assert_int_equal(htw_wheel_now(run.wheel), 0);
    assert_int_equal(htw_wheel_count(run.wheel), 3);
    assert_int_equal(htw_timer_deadline(&run.last->timer), 10000);
}

DRAW_TEST(run_stops_at_until) {
    options.until_ns = 2 * HTW_SECOND;
    assert_int_equal(read_lines("9s a\nwait 2s\n9s b\nwait 1ms\n9s c\n"), 0);
    assert_int_equal(htw_wheel_count(run.wheel), 2);
    assert_int_equal(htw_wheel_now(run.wheel), 2000);
}

DRAW_TEST(run_reports_bad_lines_and_reads_on) {
    assert_int_equal(read_lines("soon a\n1s b\nwait long\nwait 1s\n"), 0);
    assert_true(run.has_failed);
    assert_non_null(strstr(complaints, ":1: number expected: soon"));
    assert_non_null(strstr(complaints, ":3: number expected: long"));
    assert_int_equal(htw_wheel_now(run.wheel), 1000);
}

DRAW_TEST(run_reports_a_file_that_cannot_be_read) {
    static char missing[] = "/nonexistent/lines";
    static char *const names[] = { missing };
    options.names = names;
    assert_int_equal(htw__run_init(&run, &options), 0);
    capture_begin();
    assert_int_equal(htw__run_read(&run), 0);
    assert_non_null(strstr(capture_end(), "/nonexistent/lines"));
    assert_true(run.has_failed);
}

/* SPDX-License-Identifier: MIT */
/* test_draw_run.c - the lines that `htw draw` and `htw replay` read, and the steps of their wheel. */
#include "../../../src/cmd/draw/run.h"

#include "../../support/collisions.h"
#include "capture.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>

static struct htw__run_options options;
static struct htw__run run;
static char steps[4096]; /* what the wheel has reported */
static const char *complaints;

static void note(void *context, enum htw__trace_step step, const struct htw__run_timer *timer,
                 uint64_t number) {
    static const char *const names[] = { "placed", "moved", "cancelled", "expired", "advanced" };
    (void)context;
    size_t length = strlen(steps);
    snprintf(steps + length, sizeof(steps) - length, "%s %.*s %" PRIu64 "\n", names[step],
             timer == NULL ? 5 : (int)timer->name_size, timer == NULL ? "clock" : timer->name,
             number);
}

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
    steps[0] = '\0';
    assert_int_equal(htw__run_init(&run, &options, note, NULL), 0);
    capture_begin();
    int error = htw__run_read(&run);
    complaints = capture_end();
    close(file);
    return error;
}

static void setup(void) {
    htw__run_options_init(&options);
    options.wheel_size = 4; /* the wheel of the example in src/wheel/wheel.c */
    options.start = htw__time_of(0, 0);
}

static void teardown(void) {
    htw__run_fini(&run);
}

#define DRAW_TEST(name) UNIT_TEST_BETWEEN(setup, teardown, name)

DRAW_TEST(run_reports_the_steps_of_the_worked_example) {
    assert_int_equal(read_lines("2ms A\n7ms B\n21ms C\n23ms D\n61ms E\nwait 7ms\n3ms F\n5ms G\n"
                                "cancel G\nwait 14ms\nmove 69ms E\nwait 78ms\n"),
                     0);
    assert_string_equal(complaints, "");
    /* The number of a bucket is four times its level, and its place there. */
    assert_string_equal(steps, "placed A 2\nplaced B 5\nplaced C 9\nplaced D 9\nplaced E 11\n"
                               "advanced clock 2\nexpired A 0\nadvanced clock 7\nexpired B 0\n"
                               "placed F 2\nplaced G 7\ncancelled G 0\n"
                               "advanced clock 10\nexpired F 0\nadvanced clock 21\n"
                               "placed D 3\nexpired C 0\nmoved E 90\n"
                               "advanced clock 23\nexpired D 0\nadvanced clock 61\nplaced E 9\n"
                               "advanced clock 90\nexpired E 0\n");
    assert_int_equal(htw_wheel_now(run.wheel), 99);
    assert_int_equal(htw_wheel_check(run.wheel), 0);
}

DRAW_TEST(run_without_wait_arms_all_at_the_start) {
    assert_int_equal(read_lines("1s a\n0.25 b\n@10 c\n"), 0);
    assert_int_equal(htw_wheel_now(run.wheel), 0);
    assert_int_equal(htw_wheel_count(run.wheel), 3);
    assert_int_equal(htw_timer_deadline(&run.timers[2]->timer), 10000);
    htw__run_finish(&run);
    assert_int_equal(htw_wheel_count(run.wheel), 0);
    assert_int_equal(htw_wheel_now(run.wheel), 10000);
}

DRAW_TEST(run_stops_at_until) {
    options.until = htw__time_of(2, 0);
    assert_int_equal(read_lines("9s a\nwait 2s\n9s b\nwait 1ms\n9s c\n"), 0);
    assert_int_equal(run.timer_count, 2);
    assert_int_equal(htw_wheel_now(run.wheel), 2000);
}

DRAW_TEST(run_cancels_the_latest_pending_timer_of_a_name) {
    assert_int_equal(read_lines("3s x\n1s x\n2s x\ncancel x\nwait 1s\ncancel x\n"), 0);
    assert_string_equal(complaints, "");
    assert_int_equal(htw_wheel_count(run.wheel), 0);
    assert_non_null(strstr(steps, "expired x"));
    assert_false(htw_timer_is_pending(&run.timers[0]->timer));
}

DRAW_TEST(run_reports_bad_lines_and_reads_on) {
    assert_int_equal(
        read_lines("soon a\n1s b\ncancel a\nmove 1s a\nwait long\nwait 1s\ncancel b\n"), 0);
    assert_true(run.has_failed);
    assert_int_equal(run.timer_count, 1);
    assert_non_null(strstr(complaints, ":1: number expected: soon"));
    assert_non_null(strstr(complaints, ":3: no pending timer to cancel"));
    assert_non_null(strstr(complaints, ":4: no pending timer to move"));
    assert_non_null(strstr(complaints, ":5: number expected"));
    assert_non_null(strstr(complaints, ":7: no pending timer to cancel"));
}

DRAW_TEST(run_with_too_many_timers_fails) {
    options.max_timers = 2;
    assert_int_equal(read_lines("1s a\n1s b\n1s c\n"), -E2BIG);
    assert_int_equal(htw_wheel_count(run.wheel), 2);
}

DRAW_TEST(run_reports_a_file_that_cannot_be_read) {
    static char missing[] = "/nonexistent/lines";
    static char *const names[] = { missing };
    options.names = names;
    assert_int_equal(htw__run_init(&run, &options, NULL, NULL), 0);
    capture_begin();
    assert_int_equal(htw__run_read(&run), 0);
    assert_non_null(strstr(capture_end(), "/nonexistent/lines"));
    assert_true(run.has_failed);
}

/* Whoever writes the input chooses the names. */
DRAW_TEST(run_with_crafted_names_has_short_chains) {
    static char lines[COLLISIONS * 16];
    size_t size = 0;
    collisions_find();
    for (size_t i = 0; i < COLLISIONS; i++)
        size += (size_t)snprintf(lines + size, sizeof(lines) - size, "1s %.*s\n", COLLISION_SIZE,
                                 collisions[i]);
    assert_int_equal(read_lines(lines), 0);
    assert_int_equal(htw__key_table_count(&run.by_name), COLLISIONS);
    assert_in_range(longest_chain(&run.by_name), 1, COLLISIONS_CHAIN_MAX);
}

/* SPDX-License-Identifier: MIT */
/* test_cron_jobs.c - the jobs of `htw cron` in manual time; what they start are real processes. */
#include "../../support/manual_time.h"
#include "../../support/test_folder.h"
#include "../../../programs/cron/cron.h"
#include "capture.h"

#include <htw/loop.h>

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* 2024-03-28 00:00 UTC, a Thursday. */
#define START_NS (INT64_C(1711584000) * HTW_SECOND)

/* A file of jobs, and a fifo: a job that reads it runs until something is written. */
struct fixture {
    struct htw__cron cron;
    char folder[TEST_FOLDER_SIZE], file[64], fifo[64];
    int fifo_fd; /* keeps it open for reading and writing */
};

static void write_table(struct fixture *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void write_table(struct fixture *f, const char *format, ...) {
    FILE *file = fopen(f->file, "w");
    va_list arguments;
    assert_non_null(file);
    fputs("CRON_TZ=UTC\n", file);
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    assert_int_equal(fclose(file), 0);
}

static struct fixture fixture;

static void set_up(void) {
    struct fixture *f = &fixture;
    *f = (struct fixture) { .fifo_fd = -1 };
    assert_true(test_folder_create(f->folder));
    snprintf(f->file, sizeof(f->file), "%s/table", f->folder);
    snprintf(f->fifo, sizeof(f->fifo), "%s/fifo", f->folder);
    assert_int_equal(mkfifo(f->fifo, 0600), 0);
    f->fifo_fd = open(f->fifo, O_RDWR | O_CLOEXEC);
    assert_true(f->fifo_fd >= 0);
    f->cron.scheduler = manual_scheduler(START_NS);
    assert_non_null(f->cron.scheduler);
    f->cron.path = f->file;
    f->cron.catch_up = 1;
}

static void tear_down(void) {
    struct fixture *f = &fixture;
    htw__cron_fini(&f->cron);
    assert_int_equal(htw_scheduler_destroy(f->cron.scheduler), 0);
    close(f->fifo_fd);
    assert_true(test_folder_remove(f->folder));
}

#define CRON_TEST(name) UNIT_TEST_ON(struct fixture *f, &fixture, set_up, tear_down, name)

static void load(struct fixture *f) {
    assert_true(htw__cron_load(&f->cron));
}

static void advance(struct fixture *f, int64_t delta_ns) {
    assert_int_equal(htw_scheduler_advance(f->cron.scheduler, delta_ns), 0);
}

/* Waits until all that runs has ended; how many they were. */
static unsigned wait_for_all(struct fixture *f) {
    unsigned count = 0;
    siginfo_t info;
    for (; f->cron.child_count > 0; count++) {
        assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
        htw__cron_reap(&f->cron);
    }
    return count;
}

static unsigned running(const struct fixture *f) {
    unsigned count = 0;
    for (const struct htw__cron_job *job = f->cron.jobs; job != NULL; job = job->next)
        count += job->running;
    return count;
}

/* Lets `count` jobs end that read a line of the fifo. */
static void let_end(struct fixture *f, unsigned count) {
    while (count-- > 0)
        assert_int_equal(write(f->fifo_fd, "\n", 1), 1);
}

CRON_TEST(cron_job_runs_at_each_of_its_times_with_its_environment) {
    write_table(f,
                "TZ=Europe/Berlin\n0 3 * * *  echo \"%s: $TZ 100%% $(cat)\" >> %s\n"
                "CRON_TZ='UTC'\n@monthly exit 1\n",
                "x", f->fifo);
    load(f);
    advance(f, 2 * HTW_HOUR - 1);
    assert_int_equal(f->cron.child_count, 0);
    advance(f, 1);
    assert_int_equal(running(f), 1);
    char text[64] = "";
    ssize_t size = read(f->fifo_fd, text, sizeof(text) - 1);
    assert_true(size > 0);
    assert_string_equal(text, "x: Europe/Berlin 100% \n");
    wait_for_all(f);
    advance(f, HTW_DAY);
    assert_int_equal(running(f), 1);
    assert_true(read(f->fifo_fd, text, sizeof(text) - 1) > 0);
    wait_for_all(f);
}

CRON_TEST(cron_job_that_still_runs_is_not_started_again) {
    write_table(f, "@hourly read line < %s\n", f->fifo);
    load(f);
    advance(f, HTW_HOUR);
    capture_begin();
    advance(f, HTW_HOUR);
    assert_non_null(strstr(capture_end(), "table:2: not started: the run before has not ended"));
    assert_int_equal(running(f), 1);
    let_end(f, 1);
    wait_for_all(f);
    advance(f, HTW_HOUR);
    assert_int_equal(running(f), 1);
    let_end(f, 1);
    wait_for_all(f);
}

CRON_TEST(cron_job_that_may_overlap_is_started_again) {
    f->cron.overlaps = true;
    write_table(f, "@hourly read line < %s\n", f->fifo);
    load(f);
    advance(f, 3 * HTW_HOUR);
    assert_int_equal(running(f), 3);
    let_end(f, 3);
    wait_for_all(f);
    assert_int_equal(running(f), 0);
}

CRON_TEST(cron_job_that_fails_is_reported) {
    static const struct {
        const char *command, *report;
    } failures[] = {
        { "exit 3", "table:2: ended with status 3: exit 3\n" },
        { "kill -9 $$", "table:2: ended by signal 9 (Killed): kill -9 $$\n" },
        { "true", "" },
    };
    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        write_table(f, "@hourly %s\n", failures[i].command);
        load(f);
        capture_begin();
        advance(f, HTW_HOUR);
        wait_for_all(f);
        const char *told = capture_end();
        size_t size = strlen(failures[i].report);
        assert_true(strlen(told) >= size);
        assert_string_equal(told + strlen(told) - size, failures[i].report);
        assert_true(size > 0 || *told == '\0');
    }
}

#define MOST 16 /* with fewer, shells do not run */

CRON_TEST(cron_runs_that_were_missed_are_made_up_for_once) {
    f->cron.after_ns = START_NS - 5 * HTW_HOUR;
    write_table(f, "30 * * * * true\n");
    load(f);
    capture_begin();
    advance(f, 0);
    assert_non_null(strstr(capture_end(), "4 runs were missed"));
    assert_int_equal(wait_for_all(f), 1);
    advance(f, HTW_HOUR / 2);
    assert_int_equal(wait_for_all(f), 1);
    /* What is read again begins now. */
    write_table(f, "30 * * * * true again\n");
    load(f);
    advance(f, 0);
    assert_int_equal(wait_for_all(f), 0);
}

CRON_TEST(cron_file_that_is_read_again_keeps_what_has_not_changed) {
    write_table(f, "@hourly read a < %s\n@hourly read b < %s\n", f->fifo, f->fifo);
    load(f);
    advance(f, HTW_HOUR);
    assert_int_equal(running(f), 2);
    write_table(f, "# moved\n@daily true\n@hourly read a < %s\n", f->fifo);
    load(f);
    assert_int_equal(running(f), 1); /* the other one runs, and has no line */
    capture_begin();
    advance(f, HTW_HOUR);
    assert_non_null(strstr(capture_end(), "table:4: not started"));
    let_end(f, 2);
    assert_true(wait_for_all(f) >= 1);
    advance(f, HTW_HOUR);
    assert_int_equal(running(f), 1);
    let_end(f, 1);
    wait_for_all(f);
}

CRON_TEST(cron_file_that_has_become_wrong_changes_nothing) {
    write_table(f, "@hourly true\n");
    load(f);
    write_table(f, "@daily true\n@never false\n");
    capture_begin();
    assert_false(htw__cron_load(&f->cron));
    assert_non_null(strstr(capture_end(), "table:3: not a time, at column 1: @never"));
    advance(f, HTW_HOUR);
    assert_int_equal(wait_for_all(f), 1);
}

static void set_clock(struct fixture *f, int64_t time_ns) {
    assert_int_equal(htw_scheduler_set_clock(f->cron.scheduler, HTW_CLOCK_REALTIME, time_ns), 0);
    htw__cron_note_clock(&f->cron, time_ns);
}

CRON_TEST(cron_clock_that_is_set_back_far_counts_anew) {
    static const struct {
        int64_t first_ns, second_ns; /* what the clock is set to at 06:00 */
        unsigned runs;               /* in the 12 hours after that */
    } cases[] = {
        { 5 * HTW_HOUR, 3 * HTW_HOUR, 9 },
        { 5 * HTW_HOUR, 3 * HTW_HOUR - 1, 12 },
        { 6 * HTW_HOUR, HTW_HOUR / 2, 12 },
        { 30 * HTW_HOUR, 5 * HTW_HOUR, 1 + 12 }, /* one for all that were missed */
        { 30 * HTW_HOUR, 27 * HTW_HOUR, 1 + 9 },
    };
    f->cron.overlaps = true;
    write_table(f, "@hourly true\n");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        f->cron.ahead_ns = 0;
        set_clock(f, START_NS);
        load(f);
        advance(f, 6 * HTW_HOUR);
        assert_int_equal(f->cron.child_count, 6);
        wait_for_all(f);
        capture_begin();
        htw__cron_note_clock(&f->cron, START_NS + 6 * HTW_HOUR);
        set_clock(f, START_NS + cases[i].first_ns);
        set_clock(f, START_NS + cases[i].second_ns);
        advance(f, 12 * HTW_HOUR);
        const char *told = capture_end();
        assert_int_equal(strstr(told, "the clock was set back") != NULL,
                         cases[i].runs == 12 || cases[i].runs == 13);
        assert_int_equal(f->cron.child_count, cases[i].runs);
        wait_for_all(f);
        htw__cron_stop(&f->cron);
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * draw.c - the command `htw draw`: does to a wheel what lines say, in virtual time, and draws it.
 *
 * The lines are those of `htw delay`, `DELAY MESSAGE`, and `wait DURATION`, which lets time pass. Time begins at 0 and
 * passes only in `wait` and up to --at.
 */
#include "draw.h"

#include "../../src/base/clock.h"
#include "../kit/command_line.h"
#include "../kit/input.h"
#include "../kit/terminal.h"
#include "../kit/times.h"

#include <htw/wheel_inspect.h>

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE ((size_t)16 * 1024 * 1024)
#define BATCH 256

/* ---- options */

#define AT(member) HTW__OPTION_AT(struct htw__run, member)

static const struct htw__option rows[] = {
    { 'a', "at", "DURATION", htw__set_duration, AT(until_ns),
      .also = offsetof(struct htw__run, has_time),
      .help = "draw the wheel at this time, counted from the start, without\n"
              "the lines that come later (default: when all lines have been\n"
              "read)" },
    { 's', "svg", NULL, htw__set_flag, AT(svg), .help = "write an SVG picture, not text" },
    HTW__OPTION_TICK(struct htw__run, tick_ns,
                     "the length of a tick, from 1ns to 1d (default 1ms)"),
    HTW__OPTION_WHEEL_SIZE(struct htw__run, wheel_size),
    { 'b', "begin", "INSTANT", htw__set_instant, AT(start_ns),
      .help = "the instant at which time begins, for lines with an @instant,\n"
              "such as 2026-01-01T00:00:00Z (default: now)" },
    { '0', "null", NULL, htw__set_null, AT(separator), .help = "lines end in NUL, not newline" },
};

static const struct htw__command_line line = {
    .program = "htw draw",
    .usage = "Usage: htw draw [OPTION]... [FILE]...\n",
    .about =
        "Draw the timing wheel that holds the timers of the input, at an instant.\n"
        "\n"
        "The input consists of lines `DELAY MESSAGE`, as for `htw delay`, and of this one:\n"
        "  wait DURATION          time passes; before the first, all is armed at time 0\n"
        "With no FILE, or when FILE is -, standard input is read. All happens at once, in virtual\n"
        "time.\n",
    .notes =
        "The text is what SIGUSR1 makes `htw delay` print. With --begin, or without lines that have\n"
        "an @instant, the same input always gives the same drawing.\n"
        "\n"
        "Exit status:\n"
        "  0        the wheel was drawn\n"
        "  1        it was drawn without lines that were bad, or could not be drawn\n"
        "  2        the command line is wrong\n",
    .options = rows,
    .option_count = sizeof(rows) / sizeof(rows[0]),
};

/* ---- time */

/* Lets all timers expire whose tick is not later. */
static void expire(struct htw__run *run, uint64_t tick) {
    struct htw_timer *expired[BATCH];
    size_t count = BATCH;
    while (count == BATCH) {
        (void)htw_wheel_poll_batch(run->wheel, tick, expired, BATCH, 0, &count);
        for (size_t i = 0; i < count; i++)
            free(expired[i]);
    }
}

static void advance(struct htw__run *run, int64_t time_ns) {
    run->now_ns = htw__time_later(run->now_ns, time_ns);
    expire(run, htw__time_tick_before(run->now_ns, run->tick_ns));
}

static const char *wait_for(struct htw__run *run, const char *bytes, size_t size) {
    int64_t duration_ns;
    const char *why = htw__duration_parse(bytes, size, &duration_ns);
    if (why != NULL)
        return why;
    int64_t time_ns = htw__time_add(run->now_ns, duration_ns);
    run->is_over = run->until_ns < time_ns;
    advance(run, run->is_over ? run->until_ns : time_ns);
    return NULL;
}

/* ---- lines */

static int arm(struct htw__run *run, uint64_t deadline) {
    struct htw_timer *timer = malloc(sizeof(*timer));
    if (timer == NULL)
        return -ENOMEM;
    htw_timer_init(timer);
    int error = htw_wheel_schedule(run->wheel, timer, deadline);
    if (error != 0)
        free(timer);
    return error;
}

static uint64_t deadline_of(const struct htw__run *run, const struct htw__line *read) {
    int64_t due_ns = read->is_instant ? htw__time_subtract(read->when_ns, run->start_ns)
                                      : htw__time_add(read->when_ns, run->now_ns);
    return htw__time_deadline(due_ns, run->now_ns, run->tick_ns);
}

static int accept_line(struct htw__run *run, struct htw__input *input, const char *bytes,
                       size_t size) {
    static const char wait[] = "wait ";
    const size_t length = sizeof(wait) - 1;
    struct htw__line read = { .word_size = 0 };
    const char *why = NULL;
    int error = 0;
    if (htw__input_is_too_long(input, size)) {
        why = "line too long";
    } else if (size > length && memcmp(bytes, wait, length) == 0) {
        read = (struct htw__line) { .word = bytes + length, .word_size = size - length };
        why = wait_for(run, read.word, read.word_size);
    } else {
        why = htw__line_parse(bytes, size, &read);
        if (why == NULL)
            error = arm(run, deadline_of(run, &read));
    }
    if (why != NULL) {
        htw__line_report(&read, input, why);
        run->has_failed = true;
    }
    return error;
}

static int read_lines(struct htw__run *run, char *const names[], int count) {
    struct htw__input input;
    const char *bytes;
    size_t size;
    int got = 1, error = htw__input_init(&input, names, count, run->separator, MAX_LINE);
    while (error == 0 && !run->is_over && (got = htw__input_next(&input, &bytes, &size)) > 0) {
        error = accept_line(run, &input, bytes, size);
        htw__input_consume(&input, size);
    }
    run->has_failed |= input.has_failed;
    htw__input_fini(&input);
    return got < 0 ? got : error;
}

/* ---- the command */

int htw__run_lines(struct htw__run *run, char *const names[], int count) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.size = run->wheel_size;
    int error = htw_wheel_create(&run->wheel, &options);
    if (error == 0)
        error = read_lines(run, names, count);
    if (error == 0 && run->has_time)
        advance(run, run->until_ns);
    return error;
}

void htw__run_fini(struct htw__run *run) {
    if (run->wheel != NULL)
        expire(run, HTW_NEVER_TICK);
    htw_wheel_destroy(run->wheel);
}

static int draw(struct htw__run *run, char *const names[], int count) {
    int error = htw__run_lines(run, names, count);
    if (error != 0)
        htw__terminal_error("cannot read: %s", strerror(-error));
    else if (run->svg)
        htw__picture_write(run->wheel, run->tick_ns, stdout);
    else
        htw_wheel_dump(run->wheel, stdout);
    htw__run_fini(run);
    return htw__terminal_flush() && error == 0 && !run->has_failed ? 0 : HTW__EXIT_FAILED;
}

int htw__draw_command(int argc, char *argv[]) {
    static char standard_input[] = "-";
    char *no_names[] = { standard_input };
    struct htw__run run = { .tick_ns = HTW_MILLISECOND,
                            .wheel_size = HTW_WHEEL_SIZE_DEFAULT,
                            .separator = '\n',
                            .until_ns = INT64_MAX,
                            .start_ns = htw__clock_realtime_ns() };
    enum htw__wish wish = htw__command_line_read(&line, argc, argv, &run);
    if (wish != HTW__WISH_RUN)
        return htw__command_line_answer(&line, wish);
    return optind < argc ? draw(&run, argv + optind, argc - optind) : draw(&run, no_names, 1);
}

/* SPDX-License-Identifier: MIT */
/* run.c - reads the lines of a run, and does to a wheel what they say. */
#include "draw.h"

#include "../kit/input.h"
#include "../kit/times.h"
#include "../kit/terminal.h"
#include "../../src/base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE ((size_t)16 * 1024 * 1024)
#define BATCH 256

/* ---- options */

void htw__run_options_init(struct htw__run_options *options) {
    static char standard_input[] = "-";
    static char *const no_names[] = { standard_input };
    *options = (struct htw__run_options) {
        .tick_ns = HTW_MILLISECOND,
        .wheel_size = HTW_WHEEL_SIZE_DEFAULT,
        .separator = '\n',
        .until_ns = INT64_MAX,
        .start_ns = htw__clock_realtime_ns(),
        .names = no_names,
        .name_count = 1,
    };
}

/* ---- time */

static void poll_to(struct htw__run *run, uint64_t tick) {
    struct htw_timer *expired[BATCH]; /* they stay in `timers` */
    size_t count;
    while (htw_wheel_poll_batch(run->wheel, tick, expired, BATCH, 0, &count) == HTW_MORE)
        continue;
}

void htw__run_advance(struct htw__run *run, int64_t time_ns) {
    run->now_ns = htw__time_later(run->now_ns, time_ns);
    poll_to(run, htw__time_tick_before(run->now_ns, run->options->tick_ns));
}

/* ---- lines */

static int arm(struct htw__run *run, uint64_t deadline) {
    struct htw__run_timer *timer = malloc(sizeof(*timer));
    if (timer == NULL)
        return -ENOMEM;
    htw_timer_init(&timer->timer);
    int error = htw_wheel_schedule(run->wheel, &timer->timer, deadline);
    if (error != 0) {
        free(timer);
        return error;
    }
    timer->previous = run->last;
    run->last = timer;
    return 0;
}

static uint64_t deadline_of(const struct htw__run *run, const struct htw__line *line) {
    int64_t tick_ns = run->options->tick_ns;
    int64_t due_ns = line->is_instant ? htw__time_subtract(line->when_ns, run->options->start_ns)
                                      : htw__time_add(line->when_ns, run->now_ns);
    if (due_ns <= run->now_ns) /* as in `htw delay` */
        return htw__time_tick_before(run->now_ns, tick_ns);
    return htw__time_tick_after(due_ns, tick_ns);
}

struct reader {
    struct htw__run *run;
    struct htw__input *input;
    bool is_over; /* a line waits for longer than `until` */
};

static const char *wait(struct reader *reader, const char *bytes, size_t size) {
    struct htw__run *run = reader->run;
    int64_t duration_ns, until_ns = run->options->until_ns;
    const char *why = htw__duration_parse(bytes, size, &duration_ns);
    if (why != NULL)
        return why;
    int64_t time_ns = htw__time_add(run->now_ns, duration_ns);
    reader->is_over = until_ns < time_ns;
    htw__run_advance(run, reader->is_over ? until_ns : time_ns);
    return NULL;
}

static int accept_line(struct reader *reader, const char *bytes, size_t size) {
    static const char wait_for[] = "wait ";
    struct htw__run *run = reader->run;
    struct htw__line line;
    const char *why = NULL;
    int error = 0;
    size_t length = strlen(wait_for);
    if (size > length && memcmp(bytes, wait_for, length) == 0) {
        line = (struct htw__line) { .word = bytes + length, .word_size = size - length };
        why = wait(reader, line.word, line.word_size);
    } else {
        why = htw__line_parse(bytes, size, &line);
        if (why == NULL)
            error = arm(run, deadline_of(run, &line));
    }
    if (why != NULL) {
        htw__line_report(&line, reader->input, why);
        run->has_failed = true;
    }
    return error;
}

static int read_lines(struct reader *reader) {
    struct htw__input *input = reader->input;
    const char *bytes;
    size_t size;
    int got = 0, error = 0;
    while (error == 0 && !reader->is_over &&
           (got = htw__input_next(input, -1, &bytes, &size)) > 0) {
        if (htw__input_is_too_long(input, size)) {
            htw__line_report(&(struct htw__line) { .word_size = 0 }, input, "line too long");
            reader->run->has_failed = true;
        } else {
            error = accept_line(reader, bytes, size);
        }
        htw__input_consume(input, size);
    }
    return got < 0 ? got : error;
}

int htw__run_read(struct htw__run *run) {
    const struct htw__run_options *options = run->options;
    struct htw__input input;
    struct reader reader = { .run = run, .input = &input };
    int error =
        htw__input_init(&input, options->names, options->name_count, options->separator, MAX_LINE);
    if (error == 0)
        error = read_lines(&reader);
    run->has_failed |= input.has_failed;
    htw__input_fini(&input);
    return error;
}

/* ---- the run */

int htw__run_init(struct htw__run *run, const struct htw__run_options *options) {
    *run = (struct htw__run) { .options = options };
    struct htw_wheel_options wheel_options = HTW_WHEEL_OPTIONS_INIT;
    wheel_options.size = options->wheel_size;
    return htw_wheel_create(&run->wheel, &wheel_options);
}

void htw__run_fini(struct htw__run *run) {
    htw_wheel_destroy(run->wheel);
    while (run->last != NULL) {
        struct htw__run_timer *timer = run->last;
        run->last = timer->previous;
        free(timer);
    }
    run->wheel = NULL;
}

/* SPDX-License-Identifier: MIT */
/* accept.c - turns lines of the input into timers in the wheel. */
#include "state.h"

#include "line.h"
#include "../signals.h"
#include "../terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* While more than this waits for a slow reader, no more lines are read. */
#define OUTPUT_BYTES_MAX ((size_t)16 * 1024 * 1024)

static bool has_room(const struct htw__delay *delay) {
    return htw__delay_pending(delay) < delay->options->max_pending &&
           delay->output.bytes < OUTPUT_BYTES_MAX;
}

bool htw__delay_is_reading(const struct htw__delay *delay) {
    return !delay->has_stopped_reading && !htw__input_is_over(&delay->input);
}

bool htw__delay_wants_input(const struct htw__delay *delay) {
    return htw__delay_is_reading(delay) && has_room(delay);
}

static struct htw__time due_of(const struct htw__delay *delay, const struct htw__line *line,
                               struct htw__time now) {
    if (line->is_instant)
        return htw__time_later(htw__timeline_from_wall(&delay->timeline, line->when), now);
    return delay->options->from_start ? line->when : htw__time_add(line->when, now);
}

/* What is due already need not wait for the tick to end. */
static uint64_t deadline_of(const struct htw__delay *delay, struct htw__time due,
                            struct htw__time now) {
    if (!htw__time_is_before(now, due))
        return htw__time_tick_before(now, delay->options->tick_ns);
    return htw__time_tick_after(due, delay->options->tick_ns);
}

/* Schedules one line; -ENOMEM: nothing has changed. */
static int schedule(struct htw__delay *delay, const struct htw__line *line, struct htw__time now) {
    struct htw__message *message =
        htw__message_create(line->message, line->message_size, delay->options->separator,
                            line->is_instant ? &line->when : NULL);
    if (message == NULL)
        return -ENOMEM;
    message->due = due_of(delay, line, now);
    uint64_t deadline = deadline_of(delay, message->due, now);
    int error = htw_wheel_schedule(delay->wheel, &message->in.timer, deadline);
    if (error != 0) {
        htw__message_destroy(message);
        return error;
    }
    htw__report_accepted(&delay->report, htw__message_memory(message), htw__delay_pending(delay));
    return 0;
}

void htw__delay_stop_for_memory(struct htw__delay *delay, int error) {
    htw__terminal_error("%s:%" PRIu64 ": no more is read: %s", delay->input.name,
                        htw__input_line(&delay->input), strerror(-error));
    delay->has_failed = true;
    delay->has_stopped_reading = true;
}

static void accept_line(struct htw__delay *delay, const char *bytes, size_t size,
                        struct htw__time now) {
    struct htw__line line;
    const char *why = htw__line_parse(bytes, size, &line);
    if (htw__input_is_too_long(&delay->input, size))
        why = "line longer than --max-line";
    int error = why == NULL ? schedule(delay, &line, now) : 0;
    if (error != 0) {
        htw__delay_stop_for_memory(delay, error);
        return;
    }
    if (why != NULL) {
        htw__line_report(&line, &delay->input, why);
        delay->report.bad++;
        delay->has_failed = true;
        delay->has_stopped_reading = delay->options->strict;
    }
    delay->report.read++;
    htw__input_consume(&delay->input, size);
}

void htw__delay_accept_lines(struct htw__delay *delay) {
    const char *bytes;
    size_t size;
    htw__timeline_follow_wall_clock(&delay->timeline);
    struct htw__time now = htw__timeline_now(&delay->timeline);
    for (int i = 0; i < HTW__DELAY_LINES_AT_ONCE && htw__delay_wants_input(delay) &&
                    htw__signals_stop() == 0 && htw__input_peek(&delay->input, &bytes, &size);
         i++)
        accept_line(delay, bytes, size, now);
    if (!delay->has_stopped_reading)
        htw__input_advance(&delay->input);
}

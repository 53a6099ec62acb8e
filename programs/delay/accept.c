/* SPDX-License-Identifier: MIT */
/* accept.c - lines of the input, and the wheel in which their messages wait until they are due. */
#include "state.h"

#include "../kit/signals.h"
#include "../kit/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Lines that are accepted in a round. */
#define LINES_AT_ONCE ((size_t)1024)

/* How many messages one step moves out of the wheel, and how many steps of the wheel that may take:
 * a bucket of a million timers takes a million. That is twice the lines that are accepted at once,
 * and a step for each level, so that what is due does not pile up. */
#define MESSAGES_AT_ONCE (2 * LINES_AT_ONCE)
#define STEPS_AT_ONCE (8 * LINES_AT_ONCE)

/* While more than this waits for a slow reader, no more lines are read. */
#define OUTPUT_BYTES_MAX ((size_t)16 * 1024 * 1024)

static size_t pending(const struct htw__delay *delay) {
    return htw_wheel_count(delay->wheel) + delay->output.count;
}

bool htw__delay_collect_due(struct htw__delay *delay) {
    uint64_t tick =
        htw__time_tick_before(htw__timeline_now(&delay->timeline), delay->options->tick_ns);
    struct htw_timer *timers[MESSAGES_AT_ONCE];
    size_t count = 0;
    delay->has_more_due = htw_wheel_poll_batch(delay->wheel, tick, timers, MESSAGES_AT_ONCE,
                                               STEPS_AT_ONCE, &count) == HTW_MORE;
    for (size_t i = 0; i < count; i++)
        htw__output_push(&delay->output, htw__message_of(timers[i]));
    return delay->has_more_due;
}

static size_t room_of(const struct htw__delay *delay) {
    size_t count = pending(delay);
    if (count >= delay->options->max_pending || delay->output.bytes >= OUTPUT_BYTES_MAX)
        return 0;
    size_t left = delay->options->max_pending - count;
    return left < LINES_AT_ONCE ? left : LINES_AT_ONCE;
}

static int put(struct htw__delay *delay, const struct htw__line *line, int64_t due_ns,
               int64_t now_ns) {
    struct htw__message *message =
        htw__message_create(line->message, line->message_size, delay->options->separator);
    if (message == NULL)
        return -ENOMEM;
    message->due_ns = due_ns;
    if (line->is_instant)
        message->instant_ns = line->when_ns;
    uint64_t deadline = htw__time_deadline(due_ns, now_ns, delay->options->tick_ns);
    int error = htw_wheel_schedule(delay->wheel, &message->in.timer, deadline);
    if (error == 0)
        htw__report_accepted(&delay->report, htw__message_memory(message), pending(delay));
    else
        htw__message_destroy(message);
    return error;
}

/* ---- lines */

bool htw__delay_is_reading(const struct htw__delay *delay) {
    return !delay->has_stopped_reading && !htw__input_is_over(&delay->input);
}

bool htw__delay_wants_input(const struct htw__delay *delay) {
    return htw__delay_is_reading(delay) && room_of(delay) > 0;
}

static int64_t due_of(const struct htw__delay *delay, const struct htw__line *line,
                      int64_t now_ns) {
    if (line->is_instant) /* a past one: in the order of the input */
        return htw__time_later(htw__timeline_from_wall(&delay->timeline, line->when_ns), now_ns);
    return delay->options->from_start ? line->when_ns : htw__time_add(line->when_ns, now_ns);
}

void htw__delay_stop_reading(struct htw__delay *delay, int error) {
    htw__terminal_error("%s:%" PRIu64 ": no more is read: %s", delay->input.name,
                        htw__input_line(&delay->input), strerror(-error));
    delay->has_failed = true;
    delay->has_stopped_reading = true;
}

static void accept_line(struct htw__delay *delay, const char *bytes, size_t size, int64_t now_ns) {
    struct htw__line line;
    int64_t due_ns = 0;
    const char *why = htw__line_parse(bytes, size, &line);
    if (htw__input_is_too_long(&delay->input, size))
        why = "line longer than --max-line";
    if (why == NULL) {
        due_ns = due_of(delay, &line, now_ns);
        if (due_ns == INT64_MAX) /* simulated time has gone on that far */
            why = "delay too long";
    }
    if (why == NULL) {
        int error = put(delay, &line, due_ns, now_ns);
        if (error != 0)
            htw__delay_stop_reading(delay, error);
    } else {
        htw__line_report(&line, &delay->input, why);
        delay->report.bad++;
        delay->has_failed = true;
        delay->has_stopped_reading = delay->options->strict;
    }
    if (why != NULL || !delay->has_stopped_reading)
        delay->report.read++;
    if (!delay->has_stopped_reading) /* before this line: another run comes to it again */
        htw__input_consume(&delay->input, size);
}

void htw__delay_accept_lines(struct htw__delay *delay) {
    const char *bytes;
    size_t size;
    htw__timeline_follow_wall_clock(&delay->timeline);
    int64_t now_ns = htw__timeline_now(&delay->timeline);
    for (size_t room = room_of(delay);
         room > 0 && htw__delay_is_reading(delay) && htw__signals_stop() == 0 &&
         htw__input_peek(&delay->input, &bytes, &size);
         room--)
        accept_line(delay, bytes, size, now_ns);
    if (!delay->has_stopped_reading)
        htw__input_advance(&delay->input);
}

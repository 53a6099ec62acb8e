/* SPDX-License-Identifier: MIT */
/* accept.c - accepts lines of the input. */
#include "state.h"

#include "../kit/safe_file.h"
#include "../kit/signals.h"
#include "../kit/terminal.h"

#include <inttypes.h>
#include <string.h>

void htw__delay_fail(struct htw__delay *delay, const char *what, int error) {
    htw__terminal_error("%s: %s", what, strerror(-error));
    delay->has_failed = true;
}

bool htw__delay_reads(const struct htw__delay *delay, const char *path, const char *option) {
    const struct htw__options *options = delay->options;
    for (int i = 0; i < options->name_count; i++) {
        const char *name = options->names[i];
        if (!htw__safe_file_is_same(path, strcmp(name, "-") == 0 ? "/dev/stdin" : name))
            continue;
        htw__terminal_error("%s: is to be read, and so cannot be the %s file", path, option);
        return true;
    }
    return false;
}

bool htw__delay_is_reading(const struct htw__delay *delay) {
    return !delay->has_stopped_reading && !htw__input_is_over(&delay->input);
}

bool htw__delay_wants_input(const struct htw__delay *delay) {
    return htw__delay_is_reading(delay) && htw__delay_room(delay) > 0;
}

bool htw__delay_has_line(struct htw__delay *delay) {
    const char *bytes;
    size_t size;
    return htw__input_peek(&delay->input, &bytes, &size);
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
        int error = htw__delay_put(delay, &line, due_ns, now_ns);
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
    for (size_t room = htw__delay_room(delay);
         room > 0 && htw__delay_is_reading(delay) && htw__signals_stop() == 0 &&
         htw__input_peek(&delay->input, &bytes, &size);
         room--)
        accept_line(delay, bytes, size, now_ns);
    if (!delay->has_stopped_reading)
        htw__input_advance(&delay->input);
}

/* SPDX-License-Identifier: MIT */
/* accept.c - gives lines of the input to the store. */
#include "state.h"

#include "../safe_file.h"
#include "../signals.h"
#include "../terminal.h"

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
    return htw__delay_is_reading(delay) && delay->store->room(delay) > 0;
}

bool htw__delay_has_line(struct htw__delay *delay) {
    const char *bytes;
    size_t size;
    return htw__input_peek(&delay->input, &bytes, &size);
}

static struct htw__time due_of(const struct htw__delay *delay, const struct htw__line *line,
                               struct htw__time now) {
    if (line->is_instant) /* a past one: in the order of the input */
        return htw__time_later(htw__timeline_from_wall(&delay->timeline, line->when), now);
    return delay->options->from_start ? line->when : htw__time_add(line->when, now);
}

void htw__delay_stop_reading(struct htw__delay *delay, int error) {
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
    if (why == NULL)
        why = delay->store->put(delay, &line, due_of(delay, &line, now), now);
    if (why != NULL) {
        htw__line_report(&line, &delay->input, why);
        delay->report.bad++;
        delay->has_failed = true;
        delay->has_stopped_reading = delay->options->strict;
    }
    if (why != NULL || !delay->has_stopped_reading)
        delay->report.read++;
    if (delay->has_stopped_reading) /* before this line: another run comes to it again */
        return;
    delay->taken++;
    htw__input_consume(&delay->input, size);
    if (!delay->input.is_skipping)
        delay->place = htw__input_place(&delay->input);
}

void htw__delay_accept_lines(struct htw__delay *delay, bool is_last) {
    const char *bytes;
    size_t size;
    if (delay->is_busy)
        return;
    htw__timeline_follow_wall_clock(&delay->timeline);
    struct htw__time now = htw__timeline_now(&delay->timeline);
    for (size_t room = delay->store->room(delay);
         room > 0 && htw__delay_is_reading(delay) && (is_last || htw__signals_stop() == 0) &&
         htw__input_peek(&delay->input, &bytes, &size) &&
         (!is_last || htw__input_is_whole(&delay->input, size));
         room--)
        accept_line(delay, bytes, size, now);
    if (!delay->has_stopped_reading && !is_last)
        htw__input_advance(&delay->input);
}

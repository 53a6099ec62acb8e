/* SPDX-License-Identifier: MIT */
/* delay_end.c - the end of a run: last writes, what is left over, the exit status. */
#include "delay_state.h"

#include "leftover.h"
#include "signals.h"
#include "terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* After a signal: what is due and can be written at once still is. */
static void write_last(struct htw__delay *delay) {
    htw__delay_collect_due(delay);
    do {
        htw__delay_write_due(delay);
    } while (delay->output_error == 0 && delay->output.count > 0 && !delay->output.is_blocked);
}

/*
 * Some errors of writing are told only by close. A copy is closed, which flushes as well:
 * the descriptor itself may still be named by --unreleased (/dev/stdout).
 */
static void close_output(struct htw__delay *delay) {
    int copy = dup(STDOUT_FILENO);
    if (copy >= 0 && close(copy) != 0 && delay->output_error == 0 && delay->report.released > 0)
        delay->output_error = -errno;
    if (delay->output_error != 0)
        htw__delay_fail(delay, "standard output", delay->output_error);
}

/* Tells how much is left, where it is, and, after a signal, how far the input was read. */
static void tell_leftover(const struct htw__delay *delay, const struct htw__leftover *leftover,
                          bool was_reading, const char *path) {
    char stopped[256] = "";
    if (htw__signals_stop() != 0 && was_reading)
        snprintf(stopped, sizeof(stopped), "stopped by a signal after %s:%" PRIu64 ": ",
                 delay->input.name, delay->input.line);
    else if (htw__signals_stop() != 0)
        snprintf(stopped, sizeof(stopped), "stopped by a signal: ");
    if (*stopped != '\0' || leftover->count > 0)
        htw__terminal_complain("%s%" PRIu64 " not released%s%s", stopped, leftover->count,
                               path != NULL ? ", written to " : "", path != NULL ? path : "");
}

static void take_leftover(struct htw__delay *delay) {
    struct htw__leftover leftover = {
        .output = &delay->output,
        .wheel = delay->wheel,
        .input = &delay->input,
        .now_ns = htw__timeline_now(&delay->timeline),
        .from_start = delay->options->from_start,
    };
    bool is_early = htw__signals_stop() != 0 || delay->output_error != 0 ||
                    delay->has_stopped_reading || htw__delay_pending(delay) > 0;
    const char *path = is_early ? delay->options->unreleased_path : NULL;
    size_t partial = htw__output_partial(&delay->output);
    bool was_reading = htw__delay_is_reading(delay);
    htw__signals_hold();
    int error = htw__leftover_take(&leftover, path);
    htw__signals_let_go();
    delay->report.unreleased = leftover.count;
    if (error != 0)
        htw__delay_fail(delay, path, error);
    if (leftover.count > 0)
        delay->has_failed = true;
    tell_leftover(delay, &leftover, was_reading, error == 0 ? path : NULL);
    if (leftover.has_fragment)
        htw__terminal_complain("%s:%" PRIu64 ": read in part only, and left out", delay->input.name,
                               htw__input_line(&delay->input));
    if (partial > 0)
        htw__terminal_complain("of the first of these, %zu bytes were written already", partial);
}

int htw__delay_finish(struct htw__delay *delay) {
    if (htw__signals_stop() != 0 && delay->output_error == 0)
        write_last(delay);
    htw__progress_erase(&delay->progress);
    close_output(delay);
    take_leftover(delay);
    if (delay->options->stats)
        htw__report_print(&delay->report, delay->wheel, stderr);
    if (htw__signals_stop() != 0)
        return 128 + htw__signals_stop();
    return delay->has_failed || delay->input.has_failed ? 1 : 0;
}

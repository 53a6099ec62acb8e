/* SPDX-License-Identifier: MIT */
/* end.c - the end of a run: the last writes, what was not released, the exit status. */
#include "state.h"

#include "unreleased.h"
#include "../signals.h"
#include "../status.h"
#include "../terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* After a signal: writes due messages as long as that does not block. */
static void write_last(struct htw__delay *delay) {
    bool has_more;
    do {
        has_more = htw__delay_collect_due(delay);
        htw__delay_write_due(delay);
    } while (delay->output_error == 0 && !delay->output.is_blocked &&
             (has_more || delay->output.count > 0));
}

/* The descriptor itself stays open: --unreleased may name it (/dev/stdout). */
static void sync_output(struct htw__delay *delay) {
    if (delay->output_error == 0 && delay->report.released > 0)
        delay->output_error = htw__output_sync(&delay->output);
}

/* As after SIGPIPE: a reader that has gone is no error to report. */
static bool is_quiet(const struct htw__delay *delay) {
    return delay->output_error == -EPIPE && htw__signals_stop() == 0 &&
           !htw__signals_pipe_was_ignored();
}

static void report_count(const struct htw__delay *delay, const struct htw__unreleased *unreleased,
                         const struct htw__saved *saved, bool was_reading) {
    char stopped[PATH_MAX + 64] = "";
    const char *path = saved->error == 0 ? delay->options->unreleased_path : saved->path;
    const char *cause = htw__signals_stop() != 0 ? " by a signal" : "";
    if (was_reading)
        snprintf(stopped, sizeof(stopped), "stopped%s after %s:%" PRIu64 ": ", cause,
                 delay->input.name, delay->input.line);
    else if (htw__signals_stop() != 0)
        snprintf(stopped, sizeof(stopped), "stopped%s: ", cause);
    if (unreleased->count == 0 || (saved->count == 0 && saved->error == 0))
        htw__terminal_error("%s%" PRIu64 " not released", stopped, unreleased->count);
    else if (saved->count == unreleased->count)
        htw__terminal_error("%s%" PRIu64 " not released, written to %s", stopped, unreleased->count,
                            path);
    else if (saved->count > 0)
        htw__terminal_error("%s%" PRIu64 " not released: the first %" PRIu64
                            " are in %s, the others are lost",
                            stopped, unreleased->count, saved->count, path);
    else
        htw__terminal_error("%s%" PRIu64 " not released, and lost", stopped, unreleased->count);
}

/* Prints how much was not released, where it is, and how far the input was read, if not to its end. */
static void report_end(const struct htw__delay *delay, const struct htw__unreleased *unreleased,
                       const struct htw__saved *saved, bool was_reading, size_t partial) {
    const char *path = delay->options->unreleased_path;
    if (is_quiet(delay) && (path == NULL || unreleased->count == 0))
        return;
    if (delay->output_error != 0 && !is_quiet(delay))
        htw__terminal_error("standard output: %s", strerror(-delay->output_error));
    if (saved->error == -ECANCELED)
        htw__terminal_error("%s: given up for a signal", path);
    else if (saved->error != 0)
        htw__terminal_error("%s: %s", path, strerror(-saved->error));
    if (unreleased->count > 0 || was_reading || htw__signals_stop() != 0)
        report_count(delay, unreleased, saved, was_reading);
    if (unreleased->fragment_line > 0)
        htw__terminal_error("%s:%" PRIu64 ": read in part only, and left out", delay->input.name,
                            unreleased->fragment_line);
    if (partial > 0)
        htw__terminal_error("of the first of these, %zu bytes were written already", partial);
}

/* Saves what was not released, and only then prints: standard error may block. */
static int save_unreleased(struct htw__delay *delay) {
    struct htw__unreleased unreleased = {
        .input = &delay->input,
        .now = htw__timeline_now(&delay->timeline),
        .from_start = delay->options->from_start,
    };
    struct htw__saved saved = { 0 };
    const char *path = delay->options->unreleased_path;
    size_t partial = htw__output_partial(&delay->output);
    bool was_reading = htw__delay_is_reading(delay);
    htw__unreleased_collect(&unreleased, &delay->output, delay->wheel);
    if (path != NULL && unreleased.count > 0)
        saved = htw__unreleased_save(&unreleased, path);
    htw__signals_restore();
    htw__progress_erase(&delay->progress);
    delay->report.unreleased = unreleased.count;
    if (unreleased.count > 0 || delay->output_error != 0)
        delay->has_failed = true;
    report_end(delay, &unreleased, &saved, was_reading, partial);
    free(saved.path);
    htw__unreleased_fini(&unreleased);
    return saved.error;
}

int htw__delay_finish(struct htw__delay *delay) {
    if (htw__signals_stop() != 0 && delay->output_error == 0)
        write_last(delay);
    close(STDIN_FILENO); /* there may be no other descriptor for what follows */
    sync_output(delay);
    int error = save_unreleased(delay);
    if (delay->options->stats)
        htw__report_print(&delay->report, delay->wheel, stderr);
    if (error != 0)
        return HTW__EXIT_UNSAVED;
    if (htw__signals_stop() != 0)
        return HTW__EXIT_SIGNAL + htw__signals_stop();
    if (is_quiet(delay))
        return HTW__EXIT_SIGNAL + SIGPIPE;
    return delay->has_failed || delay->input.has_failed ? HTW__EXIT_FAILED : 0;
}

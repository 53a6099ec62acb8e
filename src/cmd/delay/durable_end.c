/* SPDX-License-Identifier: MIT */
/* durable_end.c - the end of a run with a journal: what is still to be written, the exit status. */
#include "durable_state.h"

#include "../duration.h"
#include "../signals.h"
#include "../status.h"
#include "../terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* After a signal: writes messages that are here as long as that does not block. */
static void write_last(struct htw__durable *self) {
    do
        self->output_error = htw__output_write(&self->output);
    while (self->output_error == 0 && !self->output.is_blocked && self->output.count > 0);
}

/* Makes all durable that was read and released, as long as the disk answers. */
static void settle(struct htw__durable *self) {
    bool has_failed = false;
    while (!htw__signals_gives_up()) {
        htw__durable_change_ended(self);
        if (!self->change.is_under_way && has_failed && self->change_has_failed)
            return;
        has_failed = self->change_has_failed;
        htw__durable_change(self, true);
        if (!self->change.is_under_way)
            return;
        struct pollfd wanted[] = { { .fd = htw__signals_fd(), .events = POLLIN },
                                   { .fd = self->inbox.fd, .events = POLLIN } };
        if (poll(wanted, 2, 1000) > 0 && wanted[0].revents != 0)
            htw__signals_clear();
        if (wanted[1].revents != 0) {
            struct htw__message *message = htw__inbox_take(&self->inbox), *next;
            for (; message != NULL; message = next) { /* the next run releases it */
                next = message->in.next;
                htw__message_destroy(message);
            }
        }
    }
}

/* As after SIGPIPE: a reader that has gone is no error to report. */
static bool is_quiet(const struct htw__durable *self) {
    return self->output_error == -EPIPE && htw__signals_stop() == 0 &&
           !htw__signals_pipe_was_ignored();
}

static void report_end(const struct htw__durable *self, bool was_reading) {
    uint64_t pending = htw__durable_pending(self);
    const char *cause = htw__signals_stop() != 0 ? " by a signal" : "";
    char stopped[256] = "";
    if (self->output_error != 0 && !is_quiet(self))
        htw__terminal_error("standard output: %s", strerror(-self->output_error));
    if (was_reading)
        snprintf(stopped, sizeof(stopped), "stopped%s after %.200s:%" PRIu64 ": ", cause,
                 self->input.name, self->input.line);
    else if (htw__signals_stop() != 0)
        snprintf(stopped, sizeof(stopped), "stopped%s: ", cause);
    if (!is_quiet(self) && (pending > 0 || was_reading || htw__signals_stop() != 0))
        htw__terminal_error("%s%" PRIu64 " not released, kept in %s", stopped, pending,
                            self->options->journal_path);
    if (self->released_count > 0)
        htw__terminal_error("%zu were released, but that could not be recorded: the next run "
                            "releases them again",
                            self->released_count);
    if (self->mark.fd < 0 && was_reading && htw__input_has_fragment(&self->input))
        htw__terminal_error("%s:%" PRIu64 ": read in part only, and left out", self->input.name,
                            htw__input_line(&self->input));
    if (htw__output_partial(&self->output) > 0)
        htw__terminal_error("of the first of these, %zu bytes were written already",
                            htw__output_partial(&self->output));
}

static void print_time(const char *name, uint64_t ns) {
    char text[HTW__DURATION_FORMAT_SIZE];
    htw__duration_format(ns, text);
    fprintf(stderr, "%s %s", name, text);
}

void htw__durable_print_stats(const struct htw__durable *self) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    htw__report_print_messages(&self->report, stderr);
    if (htw_journal_get_stats(self->journal, &stats) != 0)
        return;
    fprintf(stderr,
            "journal: found %" PRIu64 ", put %" PRIu64 ", done %" PRIu64 ", now %" PRIu64 "\n",
            stats.found, stats.put, stats.done, stats.jobs);
    fprintf(stderr, "commits %" PRIu64, stats.commits);
    if (stats.commit.count > 0) {
        print_time(", p50", stats.commit.p50_ns);
        print_time(", p99", stats.commit.p99_ns);
        print_time(", max", stats.commit.max_ns);
    }
    fputs("\n", stderr);
}

int htw__durable_finish(struct htw__durable *self) {
    bool was_reading = htw__durable_is_reading(self);
    htw__signals_begin_saving();
    if (htw__signals_stop() != 0 && self->output_error == 0 && !self->is_broken)
        write_last(self);
    if (self->output_error == 0 && self->report.released > 0)
        self->output_error = htw__output_sync(&self->output);
    if (self->output_error != 0) /* what is read now would only wait */
        self->has_stopped_reading = true;
    settle(self);
    int error = htw__acknowledge_write(&self->acknowledge);
    if (error != 0) {
        htw__terminal_error("--acknowledge: %s", strerror(-error));
        self->has_failed = true;
    }
    htw__progress_erase(&self->progress);
    if (!htw__signals_gives_up())
        htw__signals_restore();
    report_end(self, was_reading);
    if (self->options->stats)
        htw__durable_print_stats(self);
    if (htw__signals_stop() != 0)
        return HTW__EXIT_SIGNAL + htw__signals_stop();
    if (is_quiet(self))
        return HTW__EXIT_SIGNAL + SIGPIPE;
    bool is_whole = self->jobs == 0 && self->output_error == 0;
    return self->has_failed || self->input.has_failed || !is_whole ? HTW__EXIT_FAILED : 0;
}

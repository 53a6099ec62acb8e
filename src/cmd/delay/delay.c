/* SPDX-License-Identifier: MIT */
/*
 * delay.c - the loop of `htw delay`, on one thread, over the store of the run (state.h).
 *
 * A round moves messages that are due from the store to the output queue, writes that to standard
 * output, and moves lines of the input into the store. Then it sleeps until a deadline, input, a
 * reader, the store or a signal. Each step does a bounded amount of work, so that none delays the others.
 */
#include "state.h"
#include "../monitored.h"
#include "../signals.h"
#include "../sleep.h"
#include "../status.h"
#include "../terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void write_due(struct htw__delay *delay) {
    if (delay->output.count == 0)
        return;
    if (delay->stdout_is_terminal)
        htw__progress_erase(&delay->progress);
    delay->output_error = htw__output_write(&delay->output);
}

/* ---- the loop */

static void read_input(struct htw__delay *delay) {
    int error = htw__input_read(&delay->input);
    if (error != 0)
        htw__delay_stop_reading(delay, error);
}

/* Sleeps until something happens, `due_ns` at most. */
static void sleep_until(struct htw__delay *delay, int64_t due_ns) {
    bool has_output = delay->output.count > 0;
    bool wants_input = htw__delay_wants_input(delay);
    bool has_line = wants_input && htw__delay_has_line(delay);
    struct pollfd wanted[] = {
        { .fd = htw__signals_fd(), .events = POLLIN },
        { .fd = wants_input && !has_line ? htw__input_fd(&delay->input) : -1, .events = POLLIN },
        { .fd = has_output || delay->output.is_pipe ? delay->output.fd : -1,
          .events = has_output ? POLLOUT : 0 },
        delay->awaited[0],
        delay->awaited[1],
    };
    if (has_line && !delay->is_busy)
        due_ns = 0;
    int64_t progress_ns = due_ns > 0 ? htw__progress_wait_ns(&delay->progress) : INT64_MAX;
    int64_t sleep_ns = progress_ns < due_ns ? progress_ns : due_ns;
    htw__monitored_lend();
    int ready = htw__sleep(wanted, sizeof(wanted) / sizeof(wanted[0]),
                           sleep_ns < INT64_MAX ? sleep_ns : -1);
    htw__monitored_take_back();
    if (ready == 0 && sleep_ns == due_ns && due_ns > 0) {
        delay->report.sleeps++;
        delay->slept_until_due = true;
    }
    if (ready < 0 && errno != EINTR) {
        htw__delay_fail(delay, "cannot wait", -errno);
        delay->is_broken = true;
    }
    if (ready <= 0)
        return;
    if (wanted[0].revents != 0)
        htw__signals_clear();
    if (wanted[1].revents != 0 && htw__signals_stop() == 0)
        read_input(delay);
    if (!has_output && wanted[2].revents != 0)
        delay->output_error = -EPIPE; /* no pending message can be released any more */
}

static void show_progress(struct htw__delay *delay) {
    if (!delay->progress.is_wanted)
        return;
    struct htw__progress_numbers numbers = {
        .read = delay->report.read,
        .released = delay->report.released,
        .next_in_ns = -1,
    };
    delay->store->show_progress(delay, &numbers);
    htw__progress_update(&delay->progress, &numbers);
}

static void draw(struct htw__delay *delay) {
    if (!htw__signals_take_dump())
        return;
    htw__progress_erase(&delay->progress);
    delay->store->draw(delay);
}

static void loop(struct htw__delay *delay) {
    htw__input_advance(&delay->input);
    while (htw__signals_stop() == 0 && delay->output_error == 0 && !delay->is_broken) {
        int64_t due_ns;
        draw(delay);
        delay->store->collect_due(delay);
        write_due(delay);
        if (delay->output_error != 0)
            break;
        htw__delay_accept_lines(delay, false);
        if (delay->store->commit != NULL)
            delay->store->commit(delay);
        show_progress(delay);
        enum htw__delay_next next = delay->store->next(delay, &due_ns);
        if (next == HTW__DELAY_IS_FINISHED && delay->output.count == 0)
            break;
        if (next != HTW__DELAY_GOES_ON && !delay->is_broken)
            sleep_until(delay, due_ns);
    }
}

/* ---- the end */

/* After a signal: writes due messages as long as that does not block. */
static void write_last(struct htw__delay *delay) {
    bool has_more;
    do {
        has_more = delay->store->collect_due(delay);
        write_due(delay);
    } while (delay->output_error == 0 && !delay->output.is_blocked &&
             (has_more || delay->output.count > 0));
}

/* As after SIGPIPE: a reader that has gone is no error to report. */
static bool is_quiet(const struct htw__delay *delay) {
    return delay->output_error == -EPIPE && htw__signals_stop() == 0 &&
           !htw__signals_pipe_was_ignored();
}

static void report_count(const struct htw__delay *delay, const struct htw__delay_left *left,
                         bool was_reading) {
    const char *cause = htw__signals_stop() != 0 ? " by a signal" : "";
    char stopped[PATH_MAX + 64] = "";
    if (was_reading)
        snprintf(stopped, sizeof(stopped), "stopped%s after %s:%" PRIu64 ": ", cause,
                 delay->input.name, delay->input.line);
    else if (htw__signals_stop() != 0)
        snprintf(stopped, sizeof(stopped), "stopped%s: ", cause);
    htw__terminal_error("%s%" PRIu64 " not released%s", stopped, left->count, left->where);
}

/* Prints how much was not released, where it is, and how far the input was read, if not to its end. */
static void report_end(const struct htw__delay *delay, const struct htw__delay_left *left,
                       bool was_reading, size_t partial) {
    if (is_quiet(delay) && !left->is_told)
        return;
    if (delay->output_error != 0 && !is_quiet(delay))
        htw__terminal_error("standard output: %s", strerror(-delay->output_error));
    if (left->error[0] != '\0')
        htw__terminal_error("%s", left->error);
    if (left->count > 0 || was_reading || htw__signals_stop() != 0)
        report_count(delay, left, was_reading);
    if (left->fragment_line > 0)
        htw__terminal_error("%s:%" PRIu64 ": read in part only, and left out", delay->input.name,
                            left->fragment_line);
    if (partial > 0)
        htw__terminal_error("of the first of these, %zu bytes were written already", partial);
}

/* Saves what was not released, and only then prints: standard error may block. */
static int finish(struct htw__delay *delay) {
    static struct htw__delay_left left;
    bool was_reading = htw__delay_is_reading(delay);
    if (htw__signals_stop() != 0 && delay->output_error == 0 && !delay->is_broken)
        write_last(delay);
    /* The descriptor itself stays open: --unreleased may name it (/dev/stdout). */
    if (delay->output_error == 0 && delay->report.released > 0)
        delay->output_error = htw__output_sync(&delay->output);
    size_t partial = htw__output_partial(&delay->output);
    delay->store->save(delay, &left);
    htw__signals_restore();
    htw__progress_erase(&delay->progress);
    delay->report.unreleased = left.count;
    report_end(delay, &left, was_reading, partial);
    if (delay->options->stats)
        delay->store->print_stats(delay);
    if (left.is_unsaved)
        return HTW__EXIT_UNSAVED;
    if (htw__signals_stop() != 0)
        return HTW__EXIT_SIGNAL + htw__signals_stop();
    if (is_quiet(delay))
        return HTW__EXIT_SIGNAL + SIGPIPE;
    bool is_whole = left.count == 0 && delay->output_error == 0;
    return delay->has_failed || delay->input.has_failed || !is_whole ? HTW__EXIT_FAILED : 0;
}

/* ---- the run */

static bool start(struct htw__delay *delay, const struct htw__options *options) {
    delay->options = options;
    for (size_t i = 0; i < sizeof(delay->awaited) / sizeof(delay->awaited[0]); i++)
        delay->awaited[i].fd = -1;
    htw__report_init(&delay->report);
    htw__output_init(&delay->output, STDOUT_FILENO, options->timestamps, &delay->timeline,
                     &delay->report);
    htw__progress_init(&delay->progress, options->progress && isatty(STDERR_FILENO));
    delay->stdout_is_terminal = isatty(STDOUT_FILENO);
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* or the kernel sleeps 50 us longer */
    int error = htw__signals_install();
    if (error == 0)
        error = htw__input_init(&delay->input, options->names, options->name_count,
                                options->separator, options->max_line);
    if (error == 0)
        return delay->store->open(delay);
    htw__delay_fail(delay, "cannot start", error);
    return false;
}

int htw__delay_run(struct htw__delay *delay, const struct htw__options *options) {
    int status = HTW__EXIT_FAILED;
    if (start(delay, options)) {
        loop(delay);
        htw__monitored_end(); /* the rest changes the wheel, and may take long */
        status = finish(delay);
    }
    htw__input_fini(&delay->input);
    return delay->store->close(delay) || status != 0 ? status : HTW__EXIT_FAILED;
}

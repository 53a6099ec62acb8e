/* SPDX-License-Identifier: MIT */
/*
 * delay.c - the loop of `htw delay`, on one thread.
 *
 * A round moves messages that are due from the wheel to the output queue, writes that to standard
 * output, and moves lines of the input into the wheel. Then it sleeps until a deadline, input, a
 * reader or a signal. Each step does a bounded amount of work, so that none delays the others.
 */
#include "delay.h"
#include "safe_file.h"

#include "state.h"
#include "unreleased.h"
#include "../kit/monitored.h"
#include "../kit/signals.h"
#include "../kit/sleep.h"
#include "../kit/command_line.h"
#include "../kit/terminal.h"

#include <htw/wheel_inspect.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Prints an error (a negative errno); the exit status will be HTW__EXIT_FAILED. */
static void fail(struct htw__delay *delay, const char *what, int error) {
    htw__terminal_error("%s: %s", what, strerror(-error));
    delay->has_failed = true;
}

static void write_due(struct htw__delay *delay) {
    if (delay->output.count > 0)
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
    const char *bytes;
    size_t size;
    bool has_line = wants_input && htw__input_peek(&delay->input, &bytes, &size);
    struct pollfd wanted[] = {
        { .fd = htw__signals_fd(), .events = POLLIN },
        { .fd = wants_input && !has_line ? delay->input.fd : -1, .events = POLLIN },
        { .fd = has_output || delay->output.is_pipe ? delay->output.fd : -1,
          .events = has_output ? POLLOUT : 0 },
    };
    if (has_line)
        due_ns = 0;
    htw__monitored_lend();
    int ready =
        htw__sleep(wanted, sizeof(wanted) / sizeof(wanted[0]), due_ns < INT64_MAX ? due_ns : -1);
    htw__monitored_take_back();
    if (ready < 0 && errno != EINTR) {
        fail(delay, "cannot wait", -errno);
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

/* What the loop does after a round. */
enum next { SLEEPS, GOES_ON, IS_FINISHED /* unless messages wait in the output queue */ };

/* How long until a tick. */
static int64_t time_to(const struct htw__delay *delay, uint64_t tick) {
    return htw__time_later(0, htw__time_of_tick(tick, delay->options->tick_ns) -
                                  htw__timeline_now(&delay->timeline));
}

/* Simulated time passes only when there is no input to read and no output to write. */
static enum next jump(struct htw__delay *delay, uint64_t tick) {
    if (delay->output.count > 0 || htw__delay_wants_input(delay))
        return SLEEPS;
    if (tick == HTW_NEVER_TICK)
        return IS_FINISHED;
    htw__timeline_jump(&delay->timeline, tick);
    return GOES_ON;
}

/* `*ret_ns`: where the loop sleeps, how long at most; INT64_MAX: until something happens. */
static enum next next_of(struct htw__delay *delay, int64_t *ret_ns) {
    uint64_t tick = htw_wheel_next(delay->wheel);
    *ret_ns = delay->has_more_due ? 0 : INT64_MAX;
    if (delay->options->simulate)
        return jump(delay, tick);
    if (!htw__delay_is_reading(delay) && htw_wheel_count(delay->wheel) == 0)
        return IS_FINISHED;
    if (!delay->has_more_due && tick != HTW_NEVER_TICK)
        *ret_ns = time_to(delay, tick);
    return SLEEPS;
}

static void loop(struct htw__delay *delay) {
    htw__input_advance(&delay->input);
    while (htw__signals_stop() == 0 && delay->output_error == 0 && !delay->is_broken) {
        int64_t due_ns;
        if (htw__signals_take_dump())
            htw_wheel_dump(delay->wheel, stderr);
        htw__delay_collect_due(delay);
        write_due(delay);
        if (delay->output_error != 0)
            break;
        htw__delay_accept_lines(delay);
        enum next next = next_of(delay, &due_ns);
        if (next == IS_FINISHED && delay->output.count == 0)
            break;
        if (next != GOES_ON && !delay->is_broken)
            sleep_until(delay, due_ns);
    }
}

/* ---- the end */

/* After a signal: writes due messages as long as that does not block. */
static void write_last(struct htw__delay *delay) {
    bool has_more;
    do {
        has_more = htw__delay_collect_due(delay);
        write_due(delay);
    } while (delay->output_error == 0 && !delay->output.is_blocked &&
             (has_more || delay->output.count > 0));
}

/* As after SIGPIPE: a reader that has gone is no error to report. */
static bool is_quiet(const struct htw__delay *delay) {
    return delay->output_error == -EPIPE && htw__signals_stop() == 0 &&
           !htw__signals_pipe_was_ignored();
}

/* Whether a path names one of the inputs; the error is printed then. */
static bool reads(const struct htw__delay *delay, const char *path) {
    const struct htw__options *options = delay->options;
    for (int i = 0; i < options->name_count; i++) {
        const char *name = options->names[i];
        if (!htw__safe_file_is_same(path, strcmp(name, "-") == 0 ? "/dev/stdin" : name))
            continue;
        htw__terminal_error("%s: is to be read, and so cannot be the --unreleased file", path);
        return true;
    }
    return false;
}

/* The file of --unreleased must not be one of the inputs: replacing that would destroy what was not read of
   it yet. */
static bool can_save(struct htw__delay *delay) {
    const char *path = delay->options->unreleased_path;
    if (path == NULL)
        return true;
    if (reads(delay, path))
        return false;
    int error = htw__safe_file_probe(path, STDOUT_FILENO);
    if (error != 0)
        fail(delay, path, error);
    return error == 0;
}

/* Prints how many were not released, and what became of them. */
static void report_count(const struct htw__delay *delay, const struct htw__saved *saved,
                         bool was_reading) {
    uint64_t count = delay->report.unreleased;
    const char *cause = htw__signals_stop() != 0 ? " by a signal" : "";
    char stopped[PATH_MAX + 64] = "", where[PATH_MAX + 64] = "";
    if (was_reading)
        snprintf(stopped, sizeof(stopped), "stopped%s after %s:%" PRIu64 ": ", cause,
                 delay->input.name, delay->input.line);
    else if (htw__signals_stop() != 0)
        snprintf(stopped, sizeof(stopped), "stopped%s: ", cause);
    if (saved->path != NULL)
        snprintf(where, sizeof(where), ", written to %s", saved->path);
    else if (saved->error != 0)
        snprintf(where, sizeof(where), ", and lost");
    else if (count > 0 && delay->options->unreleased_path != NULL)
        snprintf(where, sizeof(where), ", written to %s", delay->options->unreleased_path);
    htw__terminal_error("%s%" PRIu64 " not released%s", stopped, count, where);
}

/* Prints how much was not released, where it is, and how far the input was read, if not to its end. */
static void report_end(const struct htw__delay *delay, const struct htw__unreleased *unreleased,
                       const struct htw__saved *saved, bool was_reading, size_t partial) {
    const char *path = delay->options->unreleased_path;
    if (is_quiet(delay) && (path == NULL || unreleased->count == 0))
        return;
    if (delay->output_error != 0 && !is_quiet(delay))
        htw__terminal_error("standard output: %s", strerror(-delay->output_error));
    if (saved->error != 0)
        htw__terminal_error("%s: %s", path, strerror(-saved->error));
    if (unreleased->count > 0 || was_reading || htw__signals_stop() != 0)
        report_count(delay, saved, was_reading);
    if (unreleased->fragment_line > 0)
        htw__terminal_error("%s:%" PRIu64 ": read in part only, and left out", delay->input.name,
                            unreleased->fragment_line);
    if (partial > 0)
        htw__terminal_error("of the first of these, %zu bytes were written already", partial);
}

/* Saves what was not released, and only then prints: standard error may block. */
static int finish(struct htw__delay *delay) {
    const struct htw__options *options = delay->options;
    struct htw__saved saved = { 0 };
    bool was_reading = htw__delay_is_reading(delay);
    if (htw__signals_stop() != 0 && delay->output_error == 0 && !delay->is_broken)
        write_last(delay);
    if (delay->output_error == 0 && delay->report.released > 0)
        delay->output_error = htw__output_sync(&delay->output);
    size_t partial = delay->output.head_written;
    struct htw__unreleased unreleased = {
        .input = &delay->input,
        .now_ns = htw__timeline_now(&delay->timeline),
        .from_start = options->from_start,
    };
    close(STDIN_FILENO); /* there may be no other descriptor for what follows */
    htw__unreleased_collect(&unreleased, &delay->output, delay->wheel);
    if (options->unreleased_path != NULL && unreleased.count > 0)
        saved = htw__unreleased_save(&unreleased, options->unreleased_path);
    htw__signals_restore();
    delay->report.unreleased = unreleased.count;
    report_end(delay, &unreleased, &saved, was_reading, partial);
    free(saved.path);
    htw__unreleased_fini(&unreleased);
    if (options->stats)
        htw__report_print(&delay->report, delay->wheel, stderr);
    if (saved.error != 0)
        return HTW__EXIT_UNSAVED;
    if (htw__signals_stop() != 0)
        return HTW__EXIT_SIGNAL + htw__signals_stop();
    if (is_quiet(delay))
        return HTW__EXIT_SIGNAL + SIGPIPE;
    bool is_whole = unreleased.count == 0 && delay->output_error == 0;
    return delay->has_failed || delay->input.has_failed || !is_whole ? HTW__EXIT_FAILED : 0;
}

/* ---- the run */

static int open_wheel(struct htw__delay *delay) {
    struct htw_wheel_options wheel_options = HTW_WHEEL_OPTIONS_INIT;
    wheel_options.size = delay->options->wheel_size;
    wheel_options.strict_fifo = true;
    return htw_wheel_create(&delay->wheel, &wheel_options);
}

static bool show(const struct htw__delay *delay) {
    const struct htw__options *options = delay->options;
    const struct htw__monitored shown = { .name = "delay",
                                          .wheel = delay->wheel,
                                          .tick_ns = options->tick_ns };
    return !options->monitor || htw__monitored_begin(options->monitor_path, &shown);
}

/* Everything that can fail before the first line is read; false: the reason was printed. */
static bool start(struct htw__delay *delay) {
    const struct htw__options *options = delay->options;
    htw__report_init(&delay->report);
    htw__output_init(&delay->output, STDOUT_FILENO, options->timestamps, &delay->timeline,
                     &delay->report);
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* or the kernel sleeps 50 us longer */
    int error = htw__signals_install();
    if (error == 0)
        error = htw__input_init(&delay->input, options->names, options->name_count,
                                options->separator, options->max_line);
    if (error == 0 && !can_save(delay))
        return false;
    htw__timeline_init(&delay->timeline, options->tick_ns, options->simulate);
    if (error == 0)
        error = open_wheel(delay);
    if (error != 0)
        fail(delay, "cannot start", error);
    return error == 0 && show(delay);
}

int htw__delay_run(const struct htw__options *options) {
    static struct htw__delay delay; /* too large for the stack */
    int status = HTW__EXIT_FAILED;
    delay.options = options;
    if (start(&delay)) {
        loop(&delay);
        htw__monitored_end(); /* the rest changes the wheel, and may take long */
        status = finish(&delay);
    }
    htw__input_fini(&delay.input);
    htw_wheel_destroy(delay.wheel);
    return status;
}

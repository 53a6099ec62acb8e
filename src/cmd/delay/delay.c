/* SPDX-License-Identifier: MIT */
/*
 * delay.c - the loop of `htw delay`, on one thread.
 *
 * A round moves messages that are due from the wheel to the output queue, writes that to standard
 * output, and moves lines of the input into the wheel. Then it sleeps until a deadline, input, a
 * reader or a signal. Each step does a bounded amount of work, so that none delays the others.
 */
#include "delay.h"

#include "monitored.h"
#include "state.h"
#include "../safe_file.h"
#include "../signals.h"
#include "../sleep.h"
#include "../status.h"
#include "../terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* How many messages one step moves out of the wheel, and how many steps of the wheel that may take:
 * a bucket of a million timers takes a million. That is twice the lines that are accepted at once,
 * and a step for each level, so that what is due does not pile up. */
#define MESSAGES_AT_ONCE ((size_t)2 * HTW__DELAY_LINES_AT_ONCE)
#define STEPS_AT_ONCE ((size_t)8 * HTW__DELAY_LINES_AT_ONCE)

size_t htw__delay_pending(const struct htw__delay *delay) {
    return htw_wheel_count(delay->wheel) + delay->output.count;
}

void htw__delay_fail(struct htw__delay *delay, const char *what, int error) {
    htw__terminal_error("%s: %s", what, strerror(-error));
    delay->has_failed = true;
}

bool htw__delay_collect_due(struct htw__delay *delay) {
    uint64_t tick =
        htw__time_tick_before(htw__timeline_now(&delay->timeline), delay->options->tick_ns);
    struct htw_timer *timers[MESSAGES_AT_ONCE];
    size_t count = 0;
    bool has_more = htw_wheel_poll_batch(delay->wheel, tick, timers, MESSAGES_AT_ONCE,
                                         STEPS_AT_ONCE, &count) == HTW_MORE;
    for (size_t i = 0; i < count; i++)
        htw__output_push(&delay->output, htw__message_of(timers[i]));
    if (delay->slept_until_due && count == 0 && !has_more)
        delay->report.idle_wakes++;
    if (count > 0 || !has_more)
        delay->slept_until_due = false;
    return has_more;
}

void htw__delay_write_due(struct htw__delay *delay) {
    if (delay->output.count == 0)
        return;
    if (delay->stdout_is_terminal)
        htw__progress_erase(&delay->progress);
    delay->output_error = htw__output_write(&delay->output);
}

/* Whether a whole line is in the buffer. */
static bool has_line(struct htw__delay *delay) {
    const char *bytes;
    size_t size;
    return htw__input_peek(&delay->input, &bytes, &size);
}

/* How long until the earliest deadline; false: there is none, and `*ret_ns` does not change. */
static bool time_to_next(const struct htw__delay *delay, int64_t *ret_ns) {
    uint64_t tick = htw_wheel_next(delay->wheel);
    if (tick == HTW_NEVER_TICK)
        return false;
    struct htw__time next = htw__time_of_tick(tick, delay->options->tick_ns);
    int64_t wait_ns =
        htw__time_to_ns(htw__time_subtract(next, htw__timeline_now(&delay->timeline)));
    *ret_ns = wait_ns > 0 ? wait_ns : 0;
    return true;
}

/* Simulated time passes only when there is no input to read and no output to write. */
static bool jump(struct htw__delay *delay) {
    uint64_t tick = htw_wheel_next(delay->wheel);
    if (!delay->options->simulate || htw__delay_wants_input(delay) || delay->output.count > 0 ||
        tick == HTW_NEVER_TICK)
        return false;
    htw__timeline_jump(&delay->timeline, tick);
    return true;
}

/* How long to sleep; false: until something happens. `*ret_is_due`: a deadline ends it. */
static bool choose_sleep(struct htw__delay *delay, int64_t *ret_ns, bool *ret_is_due) {
    *ret_is_due = false;
    *ret_ns = 0;
    if (delay->has_more_due || (htw__delay_wants_input(delay) && has_line(delay)))
        return true;
    bool is_limited = !delay->options->simulate && time_to_next(delay, ret_ns);
    *ret_is_due = is_limited && *ret_ns > 0;
    int64_t progress_ns = htw__progress_wait_ns(&delay->progress);
    if (progress_ns != INT64_MAX && (!is_limited || progress_ns < *ret_ns)) {
        *ret_ns = progress_ns;
        *ret_is_due = false;
        is_limited = true;
    }
    return is_limited;
}

static void read_input(struct htw__delay *delay) {
    int error = htw__input_read(&delay->input);
    if (error != 0)
        htw__delay_stop_for_memory(delay, error);
}

static void sleep_until_something_happens(struct htw__delay *delay) {
    int64_t sleep_ns;
    bool is_due;
    bool is_limited = choose_sleep(delay, &sleep_ns, &is_due);
    bool has_output = delay->output.count > 0;
    bool reads = htw__delay_wants_input(delay) && !has_line(delay);
    struct pollfd wanted[] = {
        { .fd = htw__signals_fd(), .events = POLLIN },
        { .fd = reads ? htw__input_fd(&delay->input) : -1, .events = POLLIN },
        { .fd = has_output || delay->output.is_pipe ? delay->output.fd : -1,
          .events = has_output ? POLLOUT : 0 },
    };
    htw__monitored_lend();
    int ready = htw__sleep(wanted, 3, is_limited ? sleep_ns : -1);
    htw__monitored_take_back();
    if (ready == 0 && is_due) {
        delay->report.sleeps++;
        delay->slept_until_due = true;
    }
    if (ready < 0 && errno != EINTR) {
        htw__delay_fail(delay, "cannot wait", -errno);
        delay->cannot_wait = true;
    }
    if (ready <= 0)
        return;
    if (wanted[0].revents != 0)
        htw__signals_clear();
    if (wanted[1].revents != 0 && htw__signals_stop() == 0)
        read_input(delay);
    if (!has_output && wanted[2].revents != 0)
        delay->output_error = -EPIPE; /* no pending message can be delivered any more */
}

static void show_progress(struct htw__delay *delay) {
    if (!delay->progress.is_wanted)
        return;
    struct htw__progress_numbers numbers = {
        .read = delay->report.read,
        .released = delay->report.released,
        .pending = htw__delay_pending(delay),
        .next_in_ns = -1,
    };
    time_to_next(delay, &numbers.next_in_ns);
    htw__progress_update(&delay->progress, &numbers);
}

static void draw_wheel(struct htw__delay *delay) {
    if (!htw__signals_take_dump())
        return;
    htw__progress_erase(&delay->progress);
    htw_wheel_dump(delay->wheel, stderr);
}

static bool is_finished(const struct htw__delay *delay) {
    if (delay->output.count > 0)
        return false;
    /* In virtual time, what lies beyond the last tick is never reached. */
    if (delay->options->simulate)
        return !htw__delay_wants_input(delay) && htw_wheel_next(delay->wheel) == HTW_NEVER_TICK;
    return !htw__delay_is_reading(delay) && htw_wheel_count(delay->wheel) == 0;
}

static void loop(struct htw__delay *delay) {
    htw__input_advance(&delay->input);
    while (htw__signals_stop() == 0 && delay->output_error == 0 && !delay->cannot_wait &&
           !is_finished(delay)) {
        draw_wheel(delay);
        delay->has_more_due = htw__delay_collect_due(delay);
        htw__delay_write_due(delay);
        if (delay->output_error != 0)
            break;
        htw__delay_accept_lines(delay);
        show_progress(delay);
        if (!is_finished(delay) && !jump(delay))
            sleep_until_something_happens(delay);
    }
}

/* Checks the file of --unreleased. It must not be one of the inputs: replacing that would destroy what
 * was not read of it yet. */
static int probe_unreleased(struct htw__delay *delay) {
    const struct htw__options *options = delay->options;
    const char *path = options->unreleased_path;
    if (path == NULL)
        return 0;
    for (int i = 0; i < options->name_count; i++) {
        const char *name = options->names[i];
        if (htw__safe_file_is_same(path, strcmp(name, "-") == 0 ? "/dev/stdin" : name)) {
            htw__terminal_error("%s: is to be read, and so cannot be the --unreleased file", path);
            return -EINVAL;
        }
    }
    int error = htw__safe_file_probe(path, STDOUT_FILENO);
    if (error != 0)
        htw__delay_fail(delay, path, error);
    return error;
}

/* Everything that can fail before the first line is read. */
static int start(struct htw__delay *delay, const struct htw__options *options) {
    struct htw_wheel_options wheel_options = HTW_WHEEL_OPTIONS_INIT;
    wheel_options.size = options->wheel_size;
    wheel_options.strict_fifo = true;
    delay->options = options;
    int error = probe_unreleased(delay);
    if (error != 0)
        return error;
    htw__timeline_init(&delay->timeline, options->tick_ns, options->simulate);
    htw__report_init(&delay->report);
    htw__output_init(&delay->output, STDOUT_FILENO, options->timestamps, &delay->timeline,
                     &delay->report);
    htw__progress_init(&delay->progress, options->progress && isatty(STDERR_FILENO));
    delay->stdout_is_terminal = isatty(STDOUT_FILENO);
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* or the kernel sleeps 50 us longer */
    error = htw__signals_install();
    if (error == 0)
        error = htw_wheel_create(&delay->wheel, &wheel_options);
    if (error == 0)
        error = htw__input_init(&delay->input, options->names, options->name_count,
                                options->separator, options->max_line);
    if (error != 0)
        htw__delay_fail(delay, "cannot start", error);
    else
        error = htw__monitored_wheel(options, delay->wheel);
    return error;
}

int htw__delay_run(const struct htw__options *options) {
    static struct htw__delay delay; /* too large for the stack, and there is one run */
    int status = HTW__EXIT_FAILED;
    if (start(&delay, options) == 0) {
        loop(&delay);
        htw__monitored_end(); /* the rest changes the wheel, and may take long */
        status = htw__delay_finish(&delay);
    }
    htw__input_fini(&delay.input);
    htw_wheel_destroy(delay.wheel);
    return status;
}

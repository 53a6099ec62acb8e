/* SPDX-License-Identifier: MIT */
/* memory.c - messages in a wheel, until the loop collects them. */
#include "memory.h"

#include "delay.h"
#include "unreleased.h"
#include "../monitored.h"
#include "../safe_file.h"
#include "../terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lines that are accepted in a round. */
#define LINES_AT_ONCE ((size_t)1024)

/* How many messages one step moves out of the wheel, and how many steps of the wheel that may take:
 * a bucket of a million timers takes a million. That is twice the lines that are accepted at once,
 * and a step for each level, so that what is due does not pile up. */
#define MESSAGES_AT_ONCE (2 * LINES_AT_ONCE)
#define STEPS_AT_ONCE (8 * LINES_AT_ONCE)

/* While more than this waits for a slow reader, no more lines are read. */
#define OUTPUT_BYTES_MAX ((size_t)16 * 1024 * 1024)

static struct htw__memory *of(const struct htw__delay *delay) {
    return HTW_CONTAINER_OF(delay, struct htw__memory, delay);
}

static size_t pending(const struct htw__delay *delay) {
    return htw_wheel_count(of(delay)->wheel) + delay->output.count;
}

/* The file of --unreleased must not be one of the inputs: replacing that would destroy what was not read of
   it yet. */
static bool can_save(struct htw__delay *delay) {
    const char *path = delay->options->unreleased_path;
    if (path == NULL)
        return true;
    if (htw__delay_reads(delay, path, "--unreleased"))
        return false;
    int error = htw__safe_file_probe(path, STDOUT_FILENO);
    if (error != 0)
        htw__delay_fail(delay, path, error);
    return error == 0;
}

static bool open_wheel(struct htw__delay *delay) {
    struct htw__memory *self = of(delay);
    struct htw_wheel_options wheel_options = HTW_WHEEL_OPTIONS_INIT;
    wheel_options.size = delay->options->wheel_size;
    wheel_options.strict_fifo = true;
    if (!can_save(delay))
        return false;
    htw__timeline_init(&delay->timeline, delay->options->tick_ns, delay->options->simulate);
    int error = htw_wheel_create(&self->wheel, &wheel_options);
    if (error != 0) {
        htw__delay_fail(delay, "cannot start", error);
        return false;
    }
    struct htw__monitored shown = { .name = "delay",
                                    .wheel = self->wheel,
                                    .tick_ns = delay->options->tick_ns };
    return !delay->options->monitor || htw__monitored_begin(delay->options->monitor_path, &shown);
}

static bool close_wheel(struct htw__delay *delay) {
    htw_wheel_destroy(of(delay)->wheel);
    return true;
}

static bool collect_due(struct htw__delay *delay) {
    struct htw__memory *self = of(delay);
    uint64_t tick =
        htw__time_tick_before(htw__timeline_now(&delay->timeline), delay->options->tick_ns);
    struct htw_timer *timers[MESSAGES_AT_ONCE];
    size_t count = 0;
    self->has_more_due = htw_wheel_poll_batch(self->wheel, tick, timers, MESSAGES_AT_ONCE,
                                              STEPS_AT_ONCE, &count) == HTW_MORE;
    for (size_t i = 0; i < count; i++)
        htw__output_push(&delay->output, htw__message_of(timers[i]));
    if (delay->slept_until_due && count == 0 && !self->has_more_due)
        delay->report.idle_wakes++;
    if (count > 0 || !self->has_more_due)
        delay->slept_until_due = false;
    return self->has_more_due;
}

static size_t room(const struct htw__delay *delay) {
    size_t count = pending(delay);
    if (count >= delay->options->max_pending || delay->output.bytes >= OUTPUT_BYTES_MAX)
        return 0;
    size_t left = delay->options->max_pending - count;
    return left < LINES_AT_ONCE ? left : LINES_AT_ONCE;
}

/* What is due already need not wait for the tick to end. */
static uint64_t deadline_of(const struct htw__delay *delay, struct htw__time due,
                            struct htw__time now) {
    if (!htw__time_is_before(now, due))
        return htw__time_tick_before(now, delay->options->tick_ns);
    return htw__time_tick_after(due, delay->options->tick_ns);
}

static const char *put(struct htw__delay *delay, const struct htw__line *line, struct htw__time due,
                       struct htw__time now) {
    struct htw__message *message =
        htw__message_create(line->message, line->message_size, delay->options->separator,
                            line->is_instant ? &line->when : NULL);
    int error = -ENOMEM;
    if (message != NULL) {
        message->due = due;
        error =
            htw_wheel_schedule(of(delay)->wheel, &message->in.timer, deadline_of(delay, due, now));
    }
    if (error == 0) {
        htw__report_accepted(&delay->report, htw__message_memory(message), pending(delay));
        return NULL;
    }
    if (message != NULL)
        htw__message_destroy(message);
    htw__delay_stop_reading(delay, error);
    return NULL;
}

/* How long until a tick. */
static int64_t time_to(const struct htw__delay *delay, uint64_t tick) {
    struct htw__time next = htw__time_of_tick(tick, delay->options->tick_ns);
    int64_t wait_ns =
        htw__time_to_ns(htw__time_subtract(next, htw__timeline_now(&delay->timeline)));
    return wait_ns > 0 ? wait_ns : 0;
}

/* Simulated time passes only when there is no input to read and no output to write. What lies beyond the
   last tick is never reached. */
static enum htw__delay_next jump(struct htw__delay *delay, uint64_t tick) {
    if (delay->output.count > 0 || htw__delay_wants_input(delay))
        return HTW__DELAY_SLEEPS;
    if (tick == HTW_NEVER_TICK)
        return HTW__DELAY_IS_FINISHED;
    htw__timeline_jump(&delay->timeline, tick);
    return HTW__DELAY_GOES_ON;
}

static enum htw__delay_next next(struct htw__delay *delay, int64_t *ret_ns) {
    struct htw__memory *self = of(delay);
    uint64_t tick = htw_wheel_next(self->wheel);
    *ret_ns = self->has_more_due ? 0 : INT64_MAX;
    if (delay->options->simulate)
        return jump(delay, tick);
    if (!htw__delay_is_reading(delay) && htw_wheel_count(self->wheel) == 0)
        return HTW__DELAY_IS_FINISHED;
    if (!self->has_more_due && tick != HTW_NEVER_TICK)
        *ret_ns = time_to(delay, tick);
    return HTW__DELAY_SLEEPS;
}

/* ---- the end */

static void name_place(struct htw__delay_left *left, const struct htw__saved *saved,
                       const char *path) {
    char *where = left->where;
    size_t size = sizeof(left->where);
    if (left->count == 0 || (saved->count == 0 && saved->error == 0))
        *where = '\0';
    else if (saved->count == left->count)
        snprintf(where, size, ", written to %s", saved->error == 0 ? path : saved->path);
    else if (saved->count > 0)
        snprintf(where, size, ": the first %" PRIu64 " are in %s, the others are lost",
                 saved->count, saved->path);
    else
        snprintf(where, size, ", and lost");
}

static void save(struct htw__delay *delay, struct htw__delay_left *left) {
    struct htw__unreleased unreleased = {
        .input = &delay->input,
        .now = htw__timeline_now(&delay->timeline),
        .from_start = delay->options->from_start,
    };
    struct htw__saved saved = { 0 };
    const char *path = delay->options->unreleased_path;
    close(STDIN_FILENO); /* there may be no other descriptor for what follows */
    htw__unreleased_collect(&unreleased, &delay->output, of(delay)->wheel);
    if (path != NULL && unreleased.count > 0)
        saved = htw__unreleased_save(&unreleased, path);
    left->count = unreleased.count;
    left->fragment_line = unreleased.fragment_line;
    left->is_told = path != NULL && unreleased.count > 0;
    left->is_unsaved = saved.error != 0;
    if (saved.error != 0)
        snprintf(left->error, sizeof(left->error), "%s: %s", path,
                 saved.error == -ECANCELED ? "given up for a signal" : strerror(-saved.error));
    name_place(left, &saved, path);
    free(saved.path);
    htw__unreleased_fini(&unreleased);
}

/* ---- what is shown */

static void show_progress(const struct htw__delay *delay, struct htw__progress_numbers *numbers) {
    uint64_t tick = htw_wheel_next(of(delay)->wheel);
    numbers->pending = pending(delay);
    if (tick != HTW_NEVER_TICK)
        numbers->next_in_ns = time_to(delay, tick);
}

static void draw(const struct htw__delay *delay) {
    htw_wheel_dump(of(delay)->wheel, stderr);
}

static void print_stats(const struct htw__delay *delay) {
    htw__report_print(&delay->report, of(delay)->wheel, stderr);
}

const struct htw__store htw__memory_store = {
    .open = open_wheel,
    .close = close_wheel,
    .collect_due = collect_due,
    .room = room,
    .put = put,
    .next = next,
    .save = save,
    .show_progress = show_progress,
    .draw = draw,
    .print_stats = print_stats,
};

int htw__memory_run(const struct htw__options *options) {
    /* Too large for the stack, and there is one run. */
    static struct htw__memory self = { .delay.store = &htw__memory_store };
    return htw__delay_run(&self.delay, options);
}

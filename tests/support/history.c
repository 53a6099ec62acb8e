/* SPDX-License-Identifier: MIT */
#include "history_compare.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void digest(struct history *self, uint64_t value) {
    self->digest = (self->digest ^ value) * UINT64_C(0x100000001b3);
    self->digest ^= self->digest >> 29;
}

static void *zeroed(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL)
        abort();
    return memory;
}

bool history_open(struct history *self, const struct history_options *options) {
    *self = (struct history) { .options = *options, .clock = options->start };
    failing_allocator_init(&self->memory);
    oracle_init(&self->oracle, options->timers, options->strict);
    self->timers = zeroed(options->timers, sizeof *self->timers);
    self->deadlines = zeroed(options->timers, sizeof *self->deadlines);
    self->visits = zeroed(options->timers, sizeof *self->visits);

    struct htw_wheel_options wheel_options = HTW_WHEEL_OPTIONS_INIT;
    wheel_options.size = options->size;
    wheel_options.strict_fifo = options->strict;
    wheel_options.start = options->start;
    wheel_options.allocator = &self->memory.allocator;
    int rc = htw_wheel_create(&self->wheel, &wheel_options);
    return rc == 0 || history_differ(self, "create gave %d", rc);
}

void history_close(struct history *self) {
    htw_wheel_destroy(self->wheel);
    oracle_fini(&self->oracle);
    failing_allocator_fini(&self->memory);
    free(self->timers);
    free(self->deadlines);
    free(self->visits);
    free(self->left);
}

/* --- ticks that next may still report ---------------------------------------------------- */

/* A timer leaves its deadline by a cancel, a move or a drain. */
static void leave(struct history *self, const struct oracle_entry *entry) {
    if (entry->turn != ORACLE_WAITING || entry->deadline <= self->clock)
        return;
    if (self->left_count == self->left_capacity) {
        size_t kept = 0;
        for (size_t i = 0; i < self->left_count; i++) {
            if (self->left[i] > self->clock)
                self->left[kept++] = self->left[i];
        }
        self->left_count = kept;
        if (kept >= self->left_capacity / 2) {
            self->left_capacity = self->left_capacity * 2 + 64;
            self->left = realloc(self->left, self->left_capacity * sizeof *self->left);
            if (self->left == NULL)
                abort();
        }
    }
    self->left[self->left_count++] = entry->deadline;
}

static bool was_left(const struct history *self, uint64_t tick) {
    for (size_t i = 0; i < self->left_count; i++) {
        if (self->left[i] == tick)
            return true;
    }
    return false;
}

static bool run_next(struct history *self) {
    uint64_t next = htw_wheel_next(self->wheel);
    uint64_t earliest = oracle_earliest(&self->oracle);
    digest(self, next);
    if (oracle_due(&self->oracle) > 0 || earliest <= self->clock)
        return next == self->clock ||
               history_differ(self, "next is %" PRIu64 " while timers are due", next);
    if (next == earliest)
        return true;
    if (next > earliest)
        return history_differ(self, "next is %" PRIu64 ", the earliest deadline %" PRIu64, next,
                              earliest);
    if (earliest == HTW_NEVER_TICK)
        return history_differ(self, "next is %" PRIu64 ", but no timer has a deadline", next);
    /* A bucket may be half demoted; then there is work to do at the clock. */
    if (self->in_round && next == self->clock)
        return true;
    if (next <= self->clock)
        return history_differ(self, "next is %" PRIu64 ", not after the clock", next);
    return was_left(self, next) ||
           history_differ(self, "next is %" PRIu64 ", which no timer was moved from", next);
}

/* --- the operations ----------------------------------------------------------------------- */

static bool run_schedule(struct history *self, const struct history_op *op) {
    struct htw_timer *timer = &self->timers[op->timer];
    bool within = op->kind == HISTORY_WITHIN;
    uint64_t deadline = within ? oracle_slack(op->tick, op->latest) : op->tick;
    const struct oracle_entry *entry = oracle_find(&self->oracle, op->timer);
    size_t refusals = self->memory.refusals;
    int rc = within ? htw_wheel_schedule_within(self->wheel, timer, op->tick, op->latest)
                    : htw_wheel_schedule(self->wheel, timer, op->tick);
    if (rc == -ENOMEM) {
        if (self->memory.refusals == refusals)
            return history_differ(self, "-ENOMEM though nothing was refused");
        if (deadline <= self->clock)
            return history_differ(self, "-ENOMEM for a deadline that has come");
        if (deadline - self->clock <= self->reserved)
            return history_differ(self, "-ENOMEM within the reserved horizon");
        return true;
    }
    if (rc != 0)
        return history_differ(self, "schedule gave %d", rc);

    self->deadlines[op->timer] = deadline;
    if (entry != NULL) {
        leave(self, entry);
        self->expected.moved++;
    } else {
        self->expected.scheduled++;
    }
    oracle_arm(&self->oracle, op->timer, deadline, self->clock, self->in_round);
    self->idle = 0; /* a timer that was put in order and then moved is put in order again */
    if (self->oracle.count > self->longest)
        self->longest = self->oracle.count;
    return true;
}

static bool run_cancel(struct history *self, const struct history_op *op) {
    const struct oracle_entry *entry = oracle_find(&self->oracle, op->timer);
    bool cancelled = htw_wheel_cancel(self->wheel, &self->timers[op->timer]);
    if (cancelled != (entry != NULL))
        return history_differ(self, "cancel gave %s", cancelled ? "true" : "false");
    if (entry != NULL) {
        leave(self, entry);
        oracle_remove(&self->oracle, op->timer);
        self->expected.cancelled++;
    }
    return true;
}

/* The wheel gave this timer in a poll up to `limit`; sets `clock` to the least it may be now. */
static bool take(struct history *self, const struct htw_timer *timer, uint64_t limit,
                 uint64_t *clock) {
    uintptr_t offset = (uintptr_t)timer - (uintptr_t)self->timers;
    if (offset >= self->options.timers * sizeof *timer || offset % sizeof *timer != 0)
        return history_differ(self, "something was handed out that is no timer");
    uint32_t id = (uint32_t)(offset / sizeof *timer);
    const struct oracle_entry *entry = oracle_find(&self->oracle, id);
    if (entry != NULL && entry->turn == ORACLE_WAITING && entry->deadline > *clock)
        *clock = entry->deadline;
    const char *error = oracle_take(&self->oracle, id, limit);
    if (error != NULL)
        return history_differ(self,
                              "timer %" PRIu32 " (deadline %" PRIu64 ", limit %" PRIu64 "): %s", id,
                              self->deadlines[id], limit, error);
    self->expected.expired++;
    digest(self, id);
    return history_compare_timer(self, id);
}

/* A poll up to `limit` has ended; the clock must have reached `least`. */
static bool adopt_clock(struct history *self, bool ended, uint64_t least, uint64_t limit) {
    uint64_t now = htw_wheel_now(self->wheel);
    uint64_t earliest = oracle_earliest(&self->oracle);
    self->in_round = !ended;
    if (ended) {
        const char *error = oracle_end_round(&self->oracle, limit);
        if (error != NULL)
            return history_differ(self, "%s", error);
        least = limit;
    }
    if (now < least || now > limit)
        return history_differ(self, "the clock is %" PRIu64 ", outside [%" PRIu64 ", %" PRIu64 "]",
                              now, least, limit);
    if (now > earliest)
        return history_differ(self, "the clock is %" PRIu64 ", past the deadline %" PRIu64, now,
                              earliest);
    self->clock = now;
    return true;
}

static uint64_t limit_of(const struct history *self, uint64_t now) {
    if (now == HTW_NEVER_TICK)
        now--;
    return now > self->clock ? now : self->clock;
}

static bool run_poll(struct history *self, uint64_t now) {
    uint64_t limit = limit_of(self, now);
    uint64_t least = self->clock;
    self->idle = 0;
    const struct htw_timer *timer = htw_wheel_poll(self->wheel, now);
    if (timer != NULL && !take(self, timer, limit, &least))
        return false;
    return adopt_clock(self, timer == NULL, least, limit);
}

static bool run_batch(struct history *self, const struct history_op *op) {
    struct htw_timer *timers[HISTORY_BATCH_MAX] = { NULL };
    struct htw_wheel_stats before = history_read_stats(self);
    uint64_t limit = limit_of(self, op->tick);
    uint64_t least = self->clock;
    size_t count = SIZE_MAX;
    int rc = htw_wheel_poll_batch(self->wheel, op->tick, timers, op->max, op->budget, &count);
    if (rc != HTW_DONE && rc != HTW_MORE)
        return history_differ(self, "poll_batch gave %d", rc);
    if (count > op->max)
        return history_differ(self, "poll_batch gave %zu timers of at most %zu", count, op->max);
    for (size_t i = 0; i < count; i++) {
        if (!take(self, timers[i], limit, &least))
            return false;
    }
    if (!adopt_clock(self, rc == HTW_DONE, least, limit))
        return false;

    struct htw_wheel_stats after = history_read_stats(self);
    size_t demoted = (size_t)(after.demoted - before.demoted);
    if (op->budget != 0 && count + demoted > op->budget)
        return history_differ(self, "%zu timers handed out and %zu demoted with a budget of %zu",
                              count, demoted, op->budget);
    if (rc == HTW_MORE && count < op->max && op->budget == 0)
        return history_differ(self, "HTW_MORE though there was room and no limit");
    if (rc == HTW_DONE && op->budget != 0) {
        htw_wheel_next(self->wheel);
        if (history_read_stats(self).queued_buckets != after.queued_buckets)
            return history_differ(self, "HTW_DONE left emptied buckets for htw_wheel_next()");
    }
    /* With strict_fifo, steps that only put what is due in order leave no trace in the counters. */
    bool idle = count + demoted == 0 && after.queued_buckets >= before.queued_buckets;
    self->idle = rc == HTW_MORE && idle ? self->idle + 1 : 0;
    if (self->idle > (self->options.strict ? self->longest : 0))
        return history_differ(self, "HTW_MORE though nothing was done");
    return true;
}

static bool run_reserve(struct history *self, uint64_t horizon) {
    size_t refusals = self->memory.refusals;
    int rc = htw_wheel_reserve(self->wheel, horizon);
    if (rc == -ENOMEM)
        return self->memory.refusals != refusals ||
               history_differ(self, "reserve gave -ENOMEM though nothing was refused");
    if (rc != 0)
        return history_differ(self, "reserve gave %d", rc);
    if (horizon > self->reserved)
        self->reserved = horizon;
    return true;
}

static bool run_drain(struct history *self) {
    const struct htw_timer *timer = htw_wheel_drain(self->wheel);
    if (timer == NULL)
        return self->oracle.count == 0 || history_differ(self, "drain found nothing");
    uintptr_t offset = (uintptr_t)timer - (uintptr_t)self->timers;
    uint32_t id = (uint32_t)(offset / sizeof *timer);
    const struct oracle_entry *entry = oracle_find(&self->oracle, id);
    if (entry == NULL)
        return history_differ(self, "drain gave a timer that is not pending");
    leave(self, entry);
    oracle_remove(&self->oracle, id);
    self->expected.drained++;
    digest(self, id);
    return history_compare_timer(self, id);
}

static bool run_kind(struct history *self, const struct history_op *op) {
    size_t calls = self->memory.calls;
    bool same = true;
    switch (op->kind) {
    case HISTORY_SCHEDULE:
    case HISTORY_WITHIN:
        return run_schedule(self, op);
    case HISTORY_RESERVE:
        return run_reserve(self, op->tick);
    case HISTORY_CANCEL:
        same = run_cancel(self, op);
        break;
    case HISTORY_POLL:
        same = run_poll(self, op->tick);
        break;
    case HISTORY_BATCH:
        same = run_batch(self, op);
        break;
    case HISTORY_NEXT:
        same = run_next(self);
        break;
    case HISTORY_DRAIN:
        same = run_drain(self);
        break;
    case HISTORY_REFUSE:
        if (op->max == 0)
            failing_allocator_relent(&self->memory);
        else
            failing_allocator_fail(&self->memory, op->max, op->budget != 0);
        break;
    case HISTORY_KINDS:
        break;
    }
    if (same && self->memory.calls != calls)
        return history_differ(self, "memory was asked for where none is needed");
    return same;
}

bool history_run(struct history *self, const struct history_op *op) {
    self->steps++;
    return run_kind(self, op) && history_compare(self, op);
}

/* --- the end ------------------------------------------------------------------------------ */

static bool finish_by_poll(struct history *self) {
    /* A second round for what was armed inside the last. */
    struct history_op poll = { .kind = HISTORY_POLL, .tick = HTW_NEVER_TICK };
    for (int round = 0; round < 2; round++) {
        do {
            if (!history_run(self, &poll))
                return false;
        } while (self->in_round);
    }
    if (self->oracle.count != oracle_never(&self->oracle))
        return history_differ(self, "two rounds to the end of time left timers");
    return true;
}

bool history_finish(struct history *self, enum history_end end) {
    failing_allocator_relent(&self->memory);
    if (end == HISTORY_END_POLL && !finish_by_poll(self))
        return false;
    struct history_op drain = { .kind = HISTORY_DRAIN };
    while (end != HISTORY_END_DESTROY && self->oracle.count > 0) {
        if (!history_run(self, &drain))
            return false;
    }
    if (end != HISTORY_END_DESTROY && !history_run(self, &drain))
        return false;
    htw_wheel_destroy(self->wheel);
    self->wheel = NULL;
    if (self->memory.error != NULL)
        return history_differ(self, "allocator: %s", self->memory.error);
    if (self->memory.live_blocks != 0)
        return history_differ(self, "%zu blocks of memory leaked", self->memory.live_blocks);
    for (uint32_t id = 0; id < self->options.timers; id++) {
        if (htw_timer_is_pending(&self->timers[id]))
            return history_differ(self, "timer %" PRIu32 " is pending without a wheel", id);
    }
    return true;
}

void history_describe(const struct history_op *op, char *text, size_t size) {
    static const char *const names[HISTORY_KINDS + 1] = { "schedule", "within", "cancel",  "poll",
                                                          "batch",    "next",   "reserve", "drain",
                                                          "refuse",   "nothing" };
    snprintf(text, size, "%s %" PRIu32 " %" PRIu64 " %" PRIu64 " %zu %zu", names[op->kind],
             op->timer, op->tick, op->latest, op->max, op->budget);
}

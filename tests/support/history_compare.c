/* SPDX-License-Identifier: MIT */
#include "history_compare.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FULL_CHECK_EVERY = 32 };

bool history_differ(struct history *self, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(self->message, sizeof self->message, format, arguments);
    va_end(arguments);
    return false;
}

struct htw_wheel_stats history_read_stats(const struct history *self) {
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    if (htw_wheel_get_stats(self->wheel, &stats) != 0)
        abort();
    return stats;
}

bool history_compare_timer(struct history *self, uint32_t id) {
    const struct htw_timer *timer = &self->timers[id];
    bool pending = oracle_find(&self->oracle, id) != NULL;
    if (htw_timer_is_pending(timer) != pending)
        return history_differ(self, "timer %" PRIu32 " is%s pending", id, pending ? " not" : "");
    if (htw_timer_deadline(timer) != self->deadlines[id])
        return history_differ(self, "timer %" PRIu32 " has deadline %" PRIu64 ", not %" PRIu64, id,
                              htw_timer_deadline(timer), self->deadlines[id]);
    return true;
}

static bool compare_counters(struct history *self) {
    const struct htw_wheel_stats *expected = &self->expected;
    struct htw_wheel_stats stats = history_read_stats(self);
    if (stats.scheduled != expected->scheduled || stats.moved != expected->moved)
        return history_differ(self,
                              "stats count %" PRIu64 " scheduled and %" PRIu64
                              " moved, not %" PRIu64 " and %" PRIu64,
                              stats.scheduled, stats.moved, expected->scheduled, expected->moved);
    if (stats.cancelled != expected->cancelled || stats.expired != expected->expired ||
        stats.drained != expected->drained)
        return history_differ(
            self, "stats count %" PRIu64 " cancelled, %" PRIu64 " expired, %" PRIu64 " drained",
            stats.cancelled, stats.expired, stats.drained);
    if (stats.pending != self->oracle.count)
        return history_differ(self, "stats count %" PRIu64 " pending, not %zu", stats.pending,
                              self->oracle.count);
    if (stats.scheduled != stats.cancelled + stats.expired + stats.drained + stats.pending)
        return history_differ(self, "scheduled is not cancelled + expired + drained + pending");
    if (stats.memory_bytes != self->memory.live_bytes)
        return history_differ(self, "stats say %" PRIu64 " bytes, the allocator %zu",
                              stats.memory_bytes, self->memory.live_bytes);
    if (stats.demoted < expected->demoted || stats.advances < expected->advances)
        return history_differ(self, "a counter went backwards");
    self->expected.demoted = stats.demoted;
    self->expected.advances = stats.advances;
    return true;
}

static bool visit(struct htw_timer *timer, void *arg) {
    struct history *self = arg;
    uintptr_t offset = (uintptr_t)timer - (uintptr_t)self->timers;
    if (offset < self->options.timers * sizeof *timer)
        self->visits[offset / sizeof *timer]++;
    return true;
}

static bool compare_all_timers(struct history *self) {
    memset(self->visits, 0, self->options.timers);
    size_t visited = htw_wheel_for_each(self->wheel, visit, self);
    if (visited != self->oracle.count)
        return history_differ(self, "for_each visited %zu of %zu", visited, self->oracle.count);
    for (uint32_t id = 0; id < self->options.timers; id++) {
        if (!history_compare_timer(self, id))
            return false;
        if (self->visits[id] != htw_timer_is_pending(&self->timers[id]))
            return history_differ(self, "for_each visited timer %" PRIu32 " %d times", id,
                                  self->visits[id]);
    }
    return true;
}

static bool check_wheel(struct history *self) {
    int broken = htw_wheel_check(self->wheel);
    return broken == 0 || history_differ(self, "htw_wheel_check gives %d", broken);
}

bool history_compare_all(struct history *self) {
    return check_wheel(self) && compare_all_timers(self);
}

bool history_compare(struct history *self, const struct history_op *op) {
    if (htw_wheel_now(self->wheel) != self->clock)
        return history_differ(self, "the clock is %" PRIu64 ", not %" PRIu64,
                              htw_wheel_now(self->wheel), self->clock);
    if (htw_wheel_count(self->wheel) != self->oracle.count)
        return history_differ(self, "count is %zu, not %zu", htw_wheel_count(self->wheel),
                              self->oracle.count);
    if (self->memory.error != NULL)
        return history_differ(self, "allocator: %s", self->memory.error);
    if (!history_compare_timer(self, op->timer) || !compare_counters(self))
        return false;
    if (self->steps % self->options.check_every == 0 && !check_wheel(self))
        return false;
    return self->steps % FULL_CHECK_EVERY != 0 || compare_all_timers(self);
}

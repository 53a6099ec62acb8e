/* SPDX-License-Identifier: MIT */
/* steady.c - a clock for durations, and what else the purgatory needs of a scheduler. */
#include "steady.h"

#include "../base/clock.h"
#include "clocks.h"
#include "state.h"

int64_t htw__steady_now_ns(const struct htw_scheduler *scheduler) {
    return scheduler->clock->is_settable ? htw__clock_monotonic_ns() : htw__now_ns(scheduler);
}

bool htw__steady_is_manual(const struct htw_scheduler *scheduler) {
    return htw__is_manual(scheduler);
}

int64_t htw__steady_to_clock_ns(const struct htw_scheduler *scheduler, int64_t steady_ns) {
    if (!scheduler->clock->is_settable || steady_ns == HTW_NEVER_NS)
        return steady_ns;
    /* In this order: a thread that is stopped in between sets the timer too early. */
    int64_t now_ns = htw__now_ns(scheduler);
    return htw__after_ns(now_ns, steady_ns - htw__clock_monotonic_ns());
}

bool htw__scheduler_has_threads(const struct htw_scheduler *scheduler) {
    return !scheduler->embedded && !htw__is_manual(scheduler);
}

bool htw__scheduler_is_stopped(const struct htw_scheduler *scheduler) {
    return htw__is_ending(scheduler);
}

/* ---- listeners */

/* A smaller step of the clock is ignored; a timer may then be late by so much. Two readings in
   a row differ by less unless the thread was stopped in between; the listeners are then called
   without need. */
#define STEP_MIN_NS (100 * HTW_MICROSECOND)

/* How far the clock is ahead of the monotonic one. */
static int64_t offset_ns(const struct htw__clock_listeners *listeners) {
    return listeners->read_ns() - htw__clock_monotonic_ns();
}

void htw__clock_listeners_init(struct htw__clock_listeners *listeners, int64_t (*read_ns)(void)) {
    htw__mutex_init(&listeners->mutex, HTW__RANK_SCHEDULER_LISTENERS);
    htw__ring_init(&listeners->ring);
    listeners->read_ns = read_ns;
    if (read_ns != NULL)
        listeners->offset_ns = offset_ns(listeners);
}

void htw__clock_listeners_fini(struct htw__clock_listeners *listeners) {
    HTW_ASSERT_USE(htw__ring_is_empty(&listeners->ring), "scheduler",
                   HTW_CONTAINER_OF(listeners, struct htw_scheduler, clock_listeners),
                   "is destroyed before a purgatory that uses it");
    htw__mutex_fini(&listeners->mutex);
}

struct htw__clock_listeners *htw__clock_listeners_of(struct htw_scheduler *scheduler) {
    return &scheduler->clock_listeners;
}

void htw__clock_listeners_add(struct htw__clock_listeners *listeners,
                              struct htw__clock_listener *listener) {
    htw__mutex_lock(&listeners->mutex);
    htw__ring_push_back(&listeners->ring, &listener->link);
    htw__mutex_unlock(&listeners->mutex);
}

void htw__clock_listeners_remove(struct htw__clock_listeners *listeners,
                                 struct htw__clock_listener *listener) {
    htw__mutex_lock(&listeners->mutex);
    htw__link_unlink(&listener->link);
    htw__mutex_unlock(&listeners->mutex);
}

void htw__clock_listeners_notify(struct htw__clock_listeners *listeners) {
    if (listeners->read_ns == NULL)
        return;
    struct htw__link *ring = &listeners->ring;
    htw__mutex_lock(&listeners->mutex);
    int64_t ahead_ns = offset_ns(listeners), step_ns = ahead_ns - listeners->offset_ns;
    if (step_ns >= STEP_MIN_NS || step_ns <= -STEP_MIN_NS) {
        listeners->offset_ns = ahead_ns;
        for (struct htw__link *link = ring->_next; link != ring; link = link->_next) {
            struct htw__clock_listener *listener =
                HTW_CONTAINER_OF(link, struct htw__clock_listener, link);
            listener->clock_was_set(listener);
        }
    }
    htw__mutex_unlock(&listeners->mutex);
}

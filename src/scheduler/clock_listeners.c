/* SPDX-License-Identifier: MIT */
/* clock_listeners.c - calls its listeners when the clock of the scheduler was set by the user. */
#include "clock_listeners.h"

#include "../base/clock.h"

#include <htw/scheduler.h>

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
    htw__mutex_fini(&listeners->mutex);
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

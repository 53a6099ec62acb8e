/* SPDX-License-Identifier: MIT */
/* steady.c - a clock for durations, and watches that are told when the wall clock was set. */
#include "steady.h"

#include "state.h"

/* A smaller step of the wall clock is not noticed: by so much a timer may then be late. Two
   readings of clocks, one after the other, differ by less unless the thread was stopped in between.
   Then the watches are told in vain. */
#define STEP_MIN_NS (100 * HTW_MICROSECOND)

int64_t htw__steady_now_ns(const struct htw_scheduler *scheduler) {
    return scheduler->clock == HTW_CLOCK_REALTIME ? htw__clock_monotonic_ns()
                                                  : htw__now_ns(scheduler);
}

bool htw__steady_is_manual(const struct htw_scheduler *scheduler) {
    return scheduler->clock == HTW_CLOCK_MANUAL;
}

int64_t htw__steady_to_clock_ns(const struct htw_scheduler *scheduler, int64_t steady_ns) {
    if (scheduler->clock != HTW_CLOCK_REALTIME || steady_ns == HTW_NEVER_NS)
        return steady_ns;
    /* In this order: a thread that is stopped in between sets the timer too early. */
    int64_t wall_ns = htw__clock_realtime_ns();
    return htw__after_ns(wall_ns, steady_ns - htw__clock_monotonic_ns());
}

/* How far the wall clock is ahead of the steady one. */
static int64_t offset_ns(void) {
    return htw__clock_realtime_ns() - htw__clock_monotonic_ns();
}

void htw__clock_watch_add(struct htw_scheduler *scheduler, struct htw__clock_watch *watch) {
    htw__mutex_lock(&scheduler->wall.mutex);
    htw__ring_push_back(&scheduler->wall.watches, &watch->link);
    htw__mutex_unlock(&scheduler->wall.mutex);
}

void htw__clock_watch_remove(struct htw_scheduler *scheduler, struct htw__clock_watch *watch) {
    htw__mutex_lock(&scheduler->wall.mutex);
    htw__link_unlink(&watch->link);
    htw__mutex_unlock(&scheduler->wall.mutex);
}

void htw__clock_watch_init(struct htw_scheduler *scheduler) {
    htw__mutex_init(&scheduler->wall.mutex, HTW__RANK_SCHEDULER_WALL);
    htw__ring_init(&scheduler->wall.watches);
    scheduler->wall.offset_ns = offset_ns();
}

void htw__clock_watch_fini(struct htw_scheduler *scheduler) {
    htw__mutex_fini(&scheduler->wall.mutex);
}

void htw__clock_watch_look(struct htw_scheduler *scheduler) {
    if (scheduler->clock != HTW_CLOCK_REALTIME)
        return;
    struct htw__link *watches = &scheduler->wall.watches;
    htw__mutex_lock(&scheduler->wall.mutex);
    int64_t ahead_ns = offset_ns(), step_ns = ahead_ns - scheduler->wall.offset_ns;
    if (step_ns >= STEP_MIN_NS || step_ns <= -STEP_MIN_NS) {
        scheduler->wall.offset_ns = ahead_ns;
        for (struct htw__link *link = watches->_next; link != watches; link = link->_next) {
            struct htw__clock_watch *watch = HTW_CONTAINER_OF(link, struct htw__clock_watch, link);
            watch->clock_was_set(watch);
        }
    }
    htw__mutex_unlock(&scheduler->wall.mutex);
}

bool htw__scheduler_has_threads(const struct htw_scheduler *scheduler) {
    return !scheduler->embedded && scheduler->clock != HTW_CLOCK_MANUAL &&
           !htw__is_child(scheduler);
}

bool htw__scheduler_is_stopped(const struct htw_scheduler *scheduler) {
    return atomic_load_explicit(&scheduler->stopping, memory_order_relaxed);
}

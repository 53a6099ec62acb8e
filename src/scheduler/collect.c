/* SPDX-License-Identifier: MIT */
/* collect.c - takes due timers from the wheels, and replaces a wheel whose clock was set back. */
#include "collect.h"

#include "attributes.h"
#include "observe.h"
#include "../base/compiler.h"

/* ---- a clock that was set back */

/*
 * The clock of a wheel cannot go back. So all timers move to a new wheel that begins at the new
 * time, a slice at a time; meanwhile both `previous` and `wheel` are in use. If there is no memory
 * for that, the old wheel stays. Its timers still come up at their time, but a timer that is armed
 * for a tick before the wheel's clock comes up at once, and is armed again until it is due.
 *
 * Wheels are created and destroyed without the lock, since both take long. Only the expirer
 * replaces these wheels and advances their clocks, so it may read them without the lock. (Those of
 * leading clockworks are small, and are replaced under the lock when a timer needs it: clockwork.c.)
 */
static struct htw_wheel *create_successor(struct htw__clockwork *clockwork, uint64_t now_tick) {
    struct htw_wheel *wheel;
    if (clockwork->previous != NULL || now_tick >= htw_wheel_now(clockwork->wheel) ||
        htw__clockwork_create_wheel(clockwork, now_tick, &wheel) != 0)
        return NULL;
    if (htw_wheel_reserve(wheel, HTW_NEVER_TICK) == 0)
        return wheel;
    htw_wheel_destroy(wheel);
    return NULL;
}

/* ---- due timers */

/* Whether a timer is due that was not by the time that the expirer read: with no delay it may have
   been armed since. If not, it is armed again; the caller sets wake_tick. */
static bool is_due_now(struct htw__clockwork *clockwork, struct htw__record *record) {
    int64_t now_ns = htw__clockwork_now_ns(clockwork);
    if (record->deadline_ns <= htw__after_ns(now_ns, htw__clockwork_lead_ns(clockwork)))
        return true;
    htw__clockwork_rearm(clockwork, record, now_ns);
    return false;
}

/* Adds a timer that came up to the batch, unless it was claimed or is not due. `time_ns`: what the
   clock that drives the clockwork shows. Returns whether it has. */
static bool add_if_due(struct htw__clockwork *clockwork, struct htw__record *record,
                       uint64_t status, int64_t time_ns, struct htw__batch *batch) {
    if (htw__status_state(status) != HTW__PENDING ||
        (record->deadline_ns > time_ns && !is_due_now(clockwork, record)) ||
        !htw__status_change(record, &status,
                            htw__status_in(status, HTW__QUEUED, status & HTW__HAS_ATTRIBUTES)))
        return false;
    batch->records[batch->count++] = record;
    return true;
}

static uint64_t demoted_by(const struct htw_wheel *wheel) {
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    htw_wheel_get_stats(wheel, &stats);
    return stats.demoted;
}

/* Takes up to `max` timers. They belong to the parent from now on: what happens to the lead does not
   change that they were due. Returns the tick by the leading clock of the next time; 0: now. */
static uint64_t collect_from_leading(struct htw__leading *leading, uint64_t tick, int64_t now_ns,
                                     struct htw__batch *batch, size_t max, size_t budget) {
    struct htw__clockwork *clockwork = &leading->clockwork;
    struct htw_wheel *wheel = clockwork->wheel;
    struct htw_timer *timers[HTW__SLICE];
    size_t count;
    uint64_t demoted = demoted_by(wheel);
    int progress = htw_wheel_poll_batch(wheel, tick, timers, max, budget, &count);
    leading->parent->demoted += demoted_by(wheel) - demoted;
    int64_t time_ns = htw__after_ns(now_ns, leading->lead_ns);
    for (size_t i = 0; i < count; i++) {
        struct htw__record *record = htw__record_of(timers[i]);
        if (!add_if_due(clockwork, record, htw__status_of(record), time_ns, batch))
            continue;
        record->deadline_ns = htw__clockwork_due_ns(clockwork, record->deadline_ns);
        record->attributes->clockwork = leading->parent;
    }
    if (progress == HTW_MORE || clockwork->previous != NULL)
        return 0;
    uint64_t next = htw_wheel_next(wheel);
    /* There was no memory for a new wheel: see renew_wheel_for() in clockwork.c. */
    if (tick < htw_wheel_now(wheel) && next == htw_wheel_now(wheel))
        next = tick + 1;
    return next;
}

/* The proxy of a leading clockwork has come up. Returns whether there may be more. */
static bool collect_leading(struct htw__leading *leading, int64_t now_ns, uint64_t now_tick,
                            struct htw__batch *batch, size_t max, size_t budget) {
    struct htw__clockwork *clockwork = &leading->clockwork;
    uint64_t tick = now_tick + leading->lead_tick, next = 0;
    clockwork->clock_read_tick = tick;
    if (clockwork->previous != NULL) {
        struct htw_wheel *previous = clockwork->previous;
        uint64_t demoted = demoted_by(previous);
        struct htw_wheel *emptied = htw__clockwork_move_from_previous(clockwork, budget);
        leading->parent->demoted += demoted_by(previous) - demoted;
        htw_wheel_destroy(emptied);
    } else {
        next = collect_from_leading(leading, tick, now_ns, batch, max, budget);
    }
    htw__leading_plan(leading, next);
    return next == 0;
}

/* Adds timers that came up to the batch. Returns whether leading clockworks may have more. `max` is
   at least `count`. */
static bool add_due(struct htw__clockwork *clockwork, struct htw_timer *const *timers, size_t count,
                    int64_t now_ns, uint64_t now_tick, struct htw__batch *batch, uint32_t max) {
    bool more = false;
    for (size_t i = 0; i < count; i++) {
        struct htw__record *record = htw__record_of(timers[i]);
        uint64_t status = htw__status_of(record);
        if (HTW__LIKELY(htw__status_state(status) != HTW__PROXY)) {
            add_if_due(clockwork, record, status, now_ns, batch);
            continue;
        }
        /* The others that came up keep their places; all proxies share the steps of a slice. */
        size_t room = max - batch->count - (count - i - 1);
        more |= collect_leading(HTW_CONTAINER_OF(record, struct htw__leading, proxy), now_ns,
                                now_tick, batch, room, HTW__SLICE / count);
    }
    return more;
}

/* Under the lock. Returns whether there may be more. */
static bool collect_slice(struct htw__clockwork *clockwork, int64_t now_ns, uint64_t now_tick,
                          struct htw__batch *batch, uint32_t max) {
    struct htw_timer *timers[HTW__SLICE];
    size_t count;
    int progress =
        htw_wheel_poll_batch(clockwork->wheel, now_tick, timers, max, HTW__SLICE, &count);
    bool more = add_due(clockwork, timers, count, now_ns, now_tick, batch, max);
    if (progress == HTW_MORE)
        return true;
    uint64_t next = htw_wheel_next(clockwork->wheel);
    /* The clock was set back and there was no memory for a new wheel: try again soon. */
    if (now_tick < htw_wheel_now(clockwork->wheel))
        next = now_tick + 1;
    htw__clockwork_set_wake_tick(clockwork, next);
    return more;
}

bool htw__collect(struct htw__expirer *expirer, struct htw__clockwork *clockwork, int64_t now_ns,
                  struct htw__batch *batch, uint32_t max) {
    uint64_t now_tick = htw__tick_at(clockwork->scheduler, now_ns);
    struct htw_wheel *successor = create_successor(clockwork, now_tick);
    struct htw_wheel *emptied = NULL;
    bool more = true;
    batch->count = 0;
    /* order: The mutex of the queue publishes the batch. */
    atomic_store_explicit(&batch->next, 0, memory_order_relaxed);
    htw__lock_acquire(clockwork->lock);
    /* Since `now_ns` was read, callbacks have run, and the clock may have been set back: what was armed
       then is not due by the earlier reading. But time that has passed waits for the next reading:
       otherwise create_successor() would take the wheel for one whose clock was set back. */
    int64_t present_ns =
        HTW__UNLIKELY(clockwork->clock->is_settable) ? htw__clockwork_now_ns(clockwork) : now_ns;
    if (present_ns < now_ns) {
        now_ns = present_ns;
        now_tick = htw__tick_at(clockwork->scheduler, now_ns);
    }
    clockwork->clock_read_tick = now_tick;
    htw__clockwork_set_wake_tick(clockwork, htw__clockwork_wake_tick(clockwork));
    if (successor != NULL) {
        clockwork->previous = clockwork->wheel;
        clockwork->wheel = successor;
    }
    if (clockwork->previous != NULL)
        emptied = htw__clockwork_move_from_previous(clockwork, HTW__SLICE);
    else
        more = collect_slice(clockwork, now_ns, now_tick, batch, max);
    if (HTW__UNLIKELY(htw__mode(clockwork->scheduler) & HTW__MODE_OBSERVE))
        htw__observe_collected(expirer, clockwork, batch);
    htw__lock_release(clockwork->lock);
    htw_wheel_destroy(emptied);
    return more;
}

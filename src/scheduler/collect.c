/* SPDX-License-Identifier: MIT */
/* collect.c - takes due timers from the wheels, and replaces a wheel whose clock was set back. */
#include "collect.h"

#include "attributes.h"
#include "observe.h"
#include "rebase.h"
#include "../base/compiler.h"

#include <htw/wheel_inspect.h>

/* ---- a clock that was set back: see rebase.h */

/*
 * Without memory for another wheel the old one stays. Its timers still come up at their time, but a timer
 * that is armed for a tick before the wheel's clock comes up at once, and is armed again until it is due.
 *
 * Wheels are created and destroyed without the lock, since both take long. Only the expirer
 * replaces these wheels and advances their clocks, so it may read them without the lock.
 */
static struct htw_wheel *create_successor(struct htw_scheduler *scheduler,
                                          const struct htw__clockwork *clockwork,
                                          uint64_t now_tick) {
    struct htw_wheel_options options = htw__clockwork_wheel_options(clockwork, now_tick);
    struct htw_wheel *wheel = NULL;
    if (clockwork->previous != NULL || now_tick >= htw_wheel_now(clockwork->wheel))
        return NULL;
    int error = htw__wheel_create_reserved(&wheel, &options, HTW_NEVER_TICK);
    htw__note(scheduler, error == 0 ? HTW__NOTE_SET_BACK : HTW__NOTE_NO_WHEEL, 0);
    htw__notes_tell(scheduler);
    return wheel;
}

/* Returns the previous wheel, to be destroyed, when all its timers have moved. Under the lock. */
static struct htw_wheel *move_slice(struct htw__clockwork *clockwork) {
    struct htw_wheel *previous = clockwork->previous;
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    if (!htw__wheel_rebase(previous, clockwork->wheel))
        return NULL;
    htw_wheel_get_stats(previous, &stats);
    clockwork->demoted += stats.demoted;
    clockwork->previous = NULL;
    return previous;
}

/* ---- due timers */

/* Whether a timer is due that was not by the time that the expirer read: with no delay it may have
   been armed since. If not, it is armed again; the caller sets wake_tick. */
static bool is_due_now(struct htw__clockwork *clockwork, struct htw__record *record) {
    int64_t now_ns = htw__clockwork_now_ns(clockwork);
    if (record->deadline_ns <= now_ns)
        return true;
    htw__clockwork_put(clockwork, record,
                       htw__tick_due(clockwork->shard->scheduler, record->deadline_ns, now_ns));
    return false;
}

/* Adds a timer that came up to the batch, unless it was claimed or is not due. */
static void add_if_due(struct htw__clockwork *clockwork, struct htw__record *record, int64_t now_ns,
                       struct htw__batch *batch) {
    uint64_t status = htw__status_of(record);
    if (htw__status_state(status) == HTW__PENDING &&
        (record->deadline_ns <= now_ns || is_due_now(clockwork, record)) &&
        htw__status_change(record, &status,
                           htw__status_in(status, HTW__QUEUED, status & HTW__HAS_ATTRIBUTES)))
        batch->records[batch->count++] = record;
}

/* Under the lock. Returns whether there may be more. */
static bool collect_slice(struct htw__clockwork *clockwork, int64_t now_ns, uint64_t now_tick,
                          struct htw__batch *batch, uint32_t max) {
    struct htw_timer *timers[HTW__SLICE];
    size_t count = 0;
    int progress =
        htw_wheel_poll_batch(clockwork->wheel, now_tick, timers, max, HTW__SLICE, &count);
    for (size_t i = 0; i < count; i++)
        add_if_due(clockwork, htw__record_of(timers[i]), now_ns, batch);
    if (progress == HTW_MORE)
        return true;
    uint64_t next = htw_wheel_next(clockwork->wheel);
    /* The clock was set back and there was no memory for a new wheel: try again soon. */
    if (now_tick < htw_wheel_now(clockwork->wheel))
        next = now_tick + 1;
    htw__clockwork_set_wake_tick(clockwork, next);
    return false;
}

bool htw__collect(struct htw__expirer *expirer, struct htw__clockwork *clockwork, int64_t now_ns,
                  struct htw__batch *batch, uint32_t max) {
    struct htw__shard *shard = clockwork->shard;
    struct htw_scheduler *scheduler = shard->scheduler;
    uint64_t now_tick = htw__tick_at(scheduler, now_ns);
    struct htw_wheel *successor = create_successor(scheduler, clockwork, now_tick);
    struct htw_wheel *emptied = NULL;
    bool more = true;
    batch->shard = shard;
    batch->count = 0;
    /* order: The mutex of the queue publishes the batch. */
    atomic_store_explicit(&batch->next, 0, memory_order_relaxed);
    htw__lock_acquire(&shard->lock);
    /* Since `now_ns` was read, callbacks have run, and the clock may have been set back: what was armed
       then is not due by the earlier reading. But time that has passed waits for the next reading:
       otherwise create_successor() would take the wheel for one whose clock was set back. */
    int64_t present_ns =
        HTW__UNLIKELY(clockwork->clock->is_settable) ? htw__clockwork_now_ns(clockwork) : now_ns;
    if (present_ns < now_ns) {
        now_ns = present_ns;
        now_tick = htw__tick_at(scheduler, now_ns);
    }
    if (successor != NULL) {
        clockwork->previous = clockwork->wheel;
        clockwork->wheel = successor;
    }
    clockwork->clock_read_tick = now_tick;
    htw__clockwork_set_wake_tick(clockwork, htw__clockwork_wake_tick(clockwork));
    if (clockwork->previous != NULL)
        emptied = move_slice(clockwork);
    else
        more = collect_slice(clockwork, now_ns, now_tick, batch, max);
    if (batch->count > 0 && htw__is_observed(scheduler))
        scheduler->calls->collected(expirer, clockwork, batch);
    htw__lock_release(&shard->lock);
    htw_wheel_destroy(emptied);
    return more;
}

/* SPDX-License-Identifier: MIT */
/* collect.c - takes due timers from the stores, and replaces a store whose clock was set back. */
#include "collect.h"

#include "attributes.h"
#include "../base/compiler.h"

/* ---- a clock that was set back */

/*
 * The clock of a store cannot go back. So all entries move to a new store that begins at the new
 * time, a slice at a time; meanwhile both `previous` and `store` are in use. If there is no memory
 * for that, the old store stays. Its timers still come up at their time, but a timer that is armed
 * for a tick before its clock comes up at once, and is armed again until it is due.
 *
 * Stores are created without the lock, since that takes long. Only the expirer replaces these stores and
 * advances their clocks, so it may read them without the lock. (Those of leading clockworks are small,
 * and are replaced under the lock when a timer needs it: clockwork.c.)
 */
static struct htw__store *create_successor(struct htw__clockwork *clockwork, uint64_t now_tick) {
    struct htw__store *store;
    if (clockwork->previous != NULL || now_tick >= clockwork->store->clock ||
        htw__clockwork_create_store(clockwork, now_tick, &store) != 0)
        return NULL;
    return store;
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
                       int64_t time_ns, struct htw__batch *batch) {
    if (record->deadline_ns > time_ns && !is_due_now(clockwork, record))
        return false;
    uint64_t status = htw__status_of(record);
    if (htw__status_state(status) != HTW__PENDING ||
        !htw__status_change(record, &status,
                            htw__status_in(status & ~(uint64_t)(HTW__UNFILED | HTW__MOVED),
                                           HTW__QUEUED, status & HTW__HAS_ATTRIBUTES)))
        return false;
    batch->records[batch->count++] = record;
    return true;
}

/* The same for what came up. */
static void add_all(struct htw__clockwork *clockwork, const struct htw__entry *entries, size_t count,
                    int64_t time_ns, struct htw__batch *batch) {
    for (size_t i = 0; i < count; i++) {
        struct htw__record *record = htw__store_record(clockwork->store, entries[i]);
        if (record != NULL)
            add_if_due(clockwork, record, time_ns, batch);
    }
}

/* Searches the slab for timers that are UNFILED, a slice at a time. Returns whether there is more of it. */
static bool collect_unfiled(struct htw__clockwork *clockwork, int64_t time_ns,
                            struct htw__batch *batch, size_t max) {
    struct htw__store *store = clockwork->store;
    unsigned budget = HTW__SLICE;
    while (budget > 0 && batch->count < max) {
        struct htw__cell *cell =
            htw__slab_visit(store->stores->slab, &store->unfiled_place, &budget);
        if (cell != NULL && htw__store_unfiled(store, htw__record_of(cell)))
            add_if_due(clockwork, htw__record_of(cell), time_ns, batch);
        if (store->unfiled_place == HTW__SLAB_NONE) {
            store->unfiled_tick = store->unfiled_next;
            store->unfiled_next = HTW_NEVER_TICK;
            store->unfiled_place = 0;
            return false;
        }
    }
    return true;
}

/* Takes up to `max` timers. They belong to the parent from now on: what happens to the lead does not
   change that they were due. Returns the tick by the leading clock of the next time; 0: now. */
static uint64_t collect_from_leading(struct htw__leading *leading, uint64_t tick, int64_t now_ns,
                                     struct htw__batch *batch, size_t max, size_t budget) {
    struct htw__clockwork *clockwork = &leading->clockwork;
    struct htw__store *store = clockwork->store;
    struct htw__entry entries[HTW__SLICE];
    size_t count;
    int64_t time_ns = htw__after_ns(now_ns, leading->lead_ns);
    uint32_t before = batch->count;
    bool more = store->unfiled_tick <= tick &&
                collect_unfiled(clockwork, time_ns, batch, before + max);
    max -= batch->count - before;
    if (max == 0) {
        more = true;
        count = 0;
    } else {
        more |= htw__store_poll(store, tick, entries, max, budget, &count) == HTW_MORE;
    }
    add_all(clockwork, entries, count, time_ns, batch);
    for (uint32_t i = before; i < batch->count; i++) {
        struct htw__record *record = batch->records[i];
        record->deadline_ns = htw__clockwork_due_ns(clockwork, record->deadline_ns);
        record->attributes->clockwork = leading->parent;
    }
    if (more || clockwork->previous != NULL)
        return 0;
    uint64_t next = htw__clockwork_next(clockwork);
    /* There was no memory for a new store: see renew_store_for() in clockwork.c. */
    if (tick < store->clock && next == store->clock)
        next = tick + 1;
    return next;
}

/* Serves a leading clockwork. Returns whether there may be more. */
static bool collect_leading(struct htw__leading *leading, int64_t now_ns, uint64_t now_tick,
                            struct htw__batch *batch, size_t max, size_t budget) {
    struct htw__clockwork *clockwork = &leading->clockwork;
    uint64_t tick = now_tick + leading->lead_tick, next = 0;
    clockwork->clock_read_tick = tick;
    if (clockwork->previous != NULL)
        htw__clockwork_move_from_previous(clockwork);
    else
        next = collect_from_leading(leading, tick, now_ns, batch, max, budget);
    htw__leading_plan(leading, next);
    return next == 0;
}

/* So many leading clockworks are served in a slice, in so many steps each. */
#define LEADING_MAX 8u
#define LEADING_STEPS (HTW__SLICE / LEADING_MAX)

/* Returns whether there may be more. */
static bool collect_all_leading(struct htw__clockwork *clockwork, int64_t now_ns, uint64_t now_tick,
                                struct htw__batch *batch, uint32_t max) {
    bool more = false;
    for (unsigned i = 0; i < LEADING_MAX && batch->count < max; i++) {
        struct htw__leading *leading = htw__leading_first(clockwork);
        if (leading == NULL || leading->tick > now_tick)
            return more;
        more |= collect_leading(leading, now_ns, now_tick, batch, max - batch->count,
                                LEADING_STEPS);
    }
    return true;
}

/* Under the lock. `entries` are for the caller, who needs it no longer. Returns whether there may be more. */
static bool collect_slice(struct htw__clockwork *clockwork, int64_t now_ns, uint64_t now_tick,
                          struct htw__batch *batch, uint32_t max, struct htw__entry *entries,
                          size_t *ret_count) {
    struct htw__store *store = clockwork->store;
    bool more = store->unfiled_tick <= now_tick && collect_unfiled(clockwork, now_ns, batch, max);
    if (htw__leading_first(clockwork) != NULL)
        more |= collect_all_leading(clockwork, now_ns, now_tick, batch, max);
    if (batch->count == max)
        return true;
    enum htw_wheel_progress progress =
        htw__store_poll(store, now_tick, entries, max - batch->count, HTW__SLICE, ret_count);
    if (progress == HTW_MORE)
        return true;
    uint64_t next = htw__clockwork_next(clockwork);
    /* The clock was set back and there was no memory for a new store: try again soon. */
    if (now_tick < store->clock)
        next = now_tick + 1;
    htw__clockwork_set_wake_tick(clockwork, next);
    return more;
}

/* What the next slice may need, so that no timer is UNFILED while there is memory. */
static void reserve_chunks(struct htw__clockwork *clockwork) {
    struct htw__chunks *chunks = &clockwork->stores->chunks;
    struct htw__block *block = htw__chunks_allocate(chunks);
    if (block == NULL)
        return;
    htw__lock_acquire(clockwork->lock);
    htw__chunks_add(chunks, block);
    htw__lock_release(clockwork->lock);
}

/*
 * Adds the timer of an entry to the batch, if it is one without attributes that is due, without the lock:
 * the expirer, which alone releases pages of records, is this thread. A timer that is moved to a later
 * time is marked before its deadline changes, so the one that was read is right if the step succeeds.
 * False: it takes the lock.
 */
static inline bool add_plain(struct htw__clockwork *clockwork, struct htw__entry entry,
                             int64_t now_ns, struct htw__batch *batch) {
    struct htw__cell *cell = htw__slab_find(clockwork->stores->slab, entry.index);
    if (HTW__UNLIKELY(cell == NULL))
        return true;
    struct htw__record *record = htw__record_of(cell);
    uint64_t status = htw__status_of(record);
    do {
        if (htw__entry_tag(status) != entry.tag || htw__status_state(status) != HTW__PENDING)
            return true; /* it was left behind */
        if (HTW__UNLIKELY((status & (HTW__HAS_ATTRIBUTES | HTW__MOVED | HTW__UNFILED)) ||
                          htw__deadline_peek(record) > now_ns))
            return false;
    } while (!htw__status_change(record, &status, htw__status_in(status, HTW__QUEUED, 0)));
    batch->records[batch->count++] = record;
    return true;
}

/* Adds the timers of entries to the batch. Not under the lock. */
static void add_due(struct htw__clockwork *clockwork, struct htw__entry *entries, size_t count,
                    int64_t now_ns, struct htw__batch *batch) {
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (clockwork->slot != 0 || !add_plain(clockwork, entries[i], now_ns, batch))
            entries[left++] = entries[i];
    if (left == 0)
        return;
    htw__lock_acquire(clockwork->lock);
    add_all(clockwork, entries, left, now_ns, batch);
    uint64_t next = htw__clockwork_next(clockwork);
    if (next < htw__clockwork_wake_tick(clockwork)) /* one was not due */
        htw__clockwork_set_wake_tick(clockwork, next);
    htw__lock_release(clockwork->lock);
}

bool htw__collect(struct htw__clockwork *clockwork, int64_t now_ns, struct htw__batch *batch,
                  uint32_t max) {
    uint64_t now_tick = htw__tick_at(clockwork->scheduler, now_ns);
    struct htw__store *successor = create_successor(clockwork, now_tick);
    struct htw__entry entries[HTW__SLICE];
    size_t count = 0;
    bool more = true;
    batch->count = 0;
    atomic_store_explicit(&batch->next, 0, memory_order_relaxed);
    htw__lock_acquire(clockwork->lock);
    /* Since `now_ns` was read, callbacks have run, and the clock may have been set back: what was armed
       then is not due by the earlier reading. But time that has passed waits for the next reading:
       otherwise create_successor() would take the store for one whose clock was set back. */
    int64_t present_ns =
        HTW__UNLIKELY(clockwork->clock->is_settable) ? htw__clockwork_now_ns(clockwork) : now_ns;
    if (present_ns < now_ns) {
        now_ns = present_ns;
        now_tick = htw__tick_at(clockwork->scheduler, now_ns);
    }
    clockwork->clock_read_tick = now_tick;
    htw__clockwork_set_wake_tick(clockwork, htw__clockwork_wake_tick(clockwork));
    if (successor != NULL) {
        htw__store_add(successor);
        htw__clockwork_replace_store(clockwork, successor);
    }
    if (clockwork->previous != NULL)
        htw__clockwork_move_from_previous(clockwork);
    else
        more = collect_slice(clockwork, now_ns, now_tick, batch, max, entries, &count);
    bool lacks_chunks = clockwork->stores->chunks.free_count < HTW__SLICE;
    htw__lock_release(clockwork->lock);
    add_due(clockwork, entries, count, now_ns, batch);
    if (lacks_chunks)
        reserve_chunks(clockwork);
    return more;
}

/* SPDX-License-Identifier: MIT */
/* cancel.c - cancels a timer by handle or key, from any thread; waits for its callback. */
#include "attributes.h"
#include "observe.h"

#include <htw/group.h>

/* ---- by handle */

/* A timer was cancelled where something is not as usual. Under the lock. */
static __attribute__((noinline)) void
end_unusual(struct htw__shard *shard, const struct htw__record *record, htw_handle handle) {
    htw__credit_add(shard->scheduler, 1);
    htw__observe_cancelled(shard, htw__mode(shard->scheduler), record, handle);
}

/* The common case: a pending timer without attributes. False: it is not. Under the lock. Always inline, like
   the caller: to the compiler the text of a probe is a large function. */
static inline __attribute__((always_inline)) bool cancel_plain(struct htw__shard *shard,
                                                               struct htw__record *record,
                                                               htw_handle handle, uint64_t status) {
    if (!htw__status_is_plain(status, HTW__PENDING) ||
        !htw__status_change(record, &status, htw__status_in(status, HTW__DONE, 0)))
        return false;
    HTW__PROBE4(cancel, shard->scheduler, handle, HTW__PROBE_SITE(record),
                HTW__PROBE_FLAGS(record));
    htw__counter_add(&shard->cancelled, 1);
    unsigned mode = htw__mode(shard->scheduler);
    if (HTW__UNLIKELY(mode != 0) && !htw__site_count(shard, mode, record, HTW__SITE_CANCELLED))
        end_unusual(shard, record, handle);
    htw__clockwork_disarm(&shard->own, record);
    htw__slab_free(&shard->slab, &record->cell);
    return true;
}

static int64_t left_of(const struct htw_scheduler *scheduler,
                       const struct htw_unexpired *unexpired) {
    const struct htw__clock *clock = htw__clock_for(scheduler, unexpired->clock);
    return htw__left_ns(htw__clock_now_ns(scheduler, clock), unexpired->deadline_ns);
}

/* All other cases. Under the lock, which this releases. `record`, `ret_arg` and `ret_left_ns` may be
   NULL. */
static __attribute__((noinline)) int cancel_slow(struct htw__shard *shard,
                                                 struct htw__record *record, void **ret_arg,
                                                 int64_t *ret_left_ns) {
    struct htw__timer_end ended = { .attributes = NULL };
    enum htw_outcome outcome =
        record == NULL ? HTW_GONE : htw__cancel_locked(shard, record, &ended);
    htw__shard_unlock_freed(shard);
    if (outcome == HTW_CANCELLED) {
        if (ret_arg != NULL)
            *ret_arg = htw__timer_end_arg(&ended);
        if (ret_left_ns != NULL)
            *ret_left_ns = left_of(shard->scheduler, &ended.unexpired);
        htw__timer_end_release(shard->scheduler, &ended);
    }
    return (int)outcome;
}

/* Under the lock of the timer's shard, which this releases. */
static inline __attribute__((always_inline)) int cancel_under_lock(struct htw__shard *shard,
                                                                   htw_handle handle) {
    uint64_t status;
    struct htw__record *record = htw__handle_record(shard, handle, &status);
    if (record == NULL || !cancel_plain(shard, record, handle, status))
        return cancel_slow(shard, record, NULL, NULL);
    htw__shard_unlock_freed(shard);
    return HTW_CANCELLED;
}

/* Remembers a claimed record. Returns one that was claimed some claims before: a hint for the
   thread that frees them one after the other. Under the lock. */
static uint32_t swap_recent(struct htw__shard *here, uint32_t index) {
    uint32_t *place = &here->recent[here->recent_next++ % HTW__STALE_AHEAD];
    uint32_t before = *place;
    *place = index;
    return before;
}

/*
 * Cancels a timer without attributes of another shard, `owner`, without the lock of that shard. The
 * caller holds the lock of `here`, so that the page of the record stays (state.h); this releases
 * the lock. False: the timer must be cancelled under the lock of `owner`.
 */
static bool claim(struct htw__shard *here, struct htw__shard *owner, htw_handle handle,
                  int *ret_outcome) {
    uint32_t index = (uint32_t)handle & owner->scheduler->index_mask;
    uint64_t status = htw__handle_status(owner, handle, HTW__PENDING);
    struct htw__cell *cell = htw__slab_find(&owner->slab, index);
    struct htw__record *record = cell == NULL || !htw__handle_fits(owner, handle, status)
                                     ? NULL
                                     : HTW_CONTAINER_OF(cell, struct htw__record, cell);
    /* Without reading the status first: the cache line of the record then moves once, not twice. */
    bool claimed = record != NULL &&
                   htw__status_change(record, &status, htw__status_in(status, HTW__CLAIMED, 0));
    if (!claimed && record != NULL && htw__handle_fits(owner, handle, status) &&
        status & HTW__HAS_SITE && htw__status_is_plain(status, HTW__PENDING))
        claimed = htw__status_change(record, &status, htw__status_in(status, HTW__CLAIMED, 0));
    bool is_stale = record == NULL || (!claimed && !htw__handle_fits(owner, handle, status));
    uint32_t later = 0;
    if (claimed) {
        HTW__PROBE4(cancel, owner->scheduler, handle, HTW__PROBE_SITE(record),
                    HTW__PROBE_FLAGS(record));
        htw__counter_add(&here->cancelled, 1);
        if (HTW__UNLIKELY(htw__mode(here->scheduler) != 0))
            end_unusual(here, record, handle);
        later = swap_recent(here, index);
    }
    htw__lock_release(&here->lock);
    if (claimed) /* no other thread frees it: it is still in the wheel */
        htw__shard_push_stale(owner, record, index, later);
    *ret_outcome = claimed ? HTW_CANCELLED : HTW_GONE;
    return claimed || is_stale;
}

/* Cancels a timer of another shard. Under the lock of `here`, which this releases. */
static __attribute__((noinline)) int cancel_foreign(struct htw__shard *here,
                                                    struct htw__shard *owner, htw_handle handle) {
    int outcome;
    if (claim(here, owner, handle, &outcome))
        return outcome;
    htw__lock_acquire(&owner->lock);
    return cancel_under_lock(owner, handle);
}

/* What came before the end of the timer, by its callback or by this cancel, is visible now. Under a
   race detector only. The record may already be that of another timer. */
static void take_over(struct htw_scheduler *scheduler, htw_handle handle) {
    struct htw__shard *shard = htw__handle_shard(scheduler, handle);
    if (shard != NULL)
        htw__slab_take_over(&shard->slab, (uint32_t)handle & scheduler->index_mask);
}

static inline __attribute__((always_inline)) int cancel(struct htw_scheduler *scheduler,
                                                        htw_handle handle) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    struct htw__shard *owner = htw__handle_shard(scheduler, handle);
    if (owner == NULL)
        return HTW_GONE;
    struct htw__shard *here = htw__shard_here(scheduler);
    htw__lock_acquire(&here->lock);
    return here == owner ? cancel_under_lock(owner, handle) : cancel_foreign(here, owner, handle);
}

static __attribute__((noinline, cold)) int cancel_annotated(struct htw_scheduler *scheduler,
                                                            htw_handle handle) {
    int outcome = cancel(scheduler, handle);
    if (outcome == HTW_CANCELLED || outcome == HTW_GONE)
        take_over(scheduler, handle);
    return outcome;
}

int htw_cancel(struct htw_scheduler *scheduler, htw_handle handle) {
    return HTW__ANNOTATED() ? cancel_annotated(scheduler, handle) : cancel(scheduler, handle);
}

int htw_cancel_remaining(struct htw_scheduler *scheduler, htw_handle handle, int64_t *ret_left_ns) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (ret_left_ns == NULL)
        return -EINVAL;
    struct htw__shard *shard = htw__handle_shard(scheduler, handle);
    if (shard == NULL)
        return HTW_GONE;
    uint64_t status;
    htw__lock_acquire(&shard->lock);
    struct htw__record *record = htw__handle_record(shard, handle, &status);
    int outcome = cancel_slow(shard, record, NULL, ret_left_ns);
    if (HTW__ANNOTATED() && outcome != HTW_RUNNING)
        take_over(scheduler, handle);
    return outcome;
}

/* ---- by key */

int htw_cancel_key(struct htw_scheduler *scheduler, struct htw_group *group, const void *key,
                   size_t key_size, void **ret_arg) {
    int refusal = htw__timer_key_refusal(scheduler, group, key, key_size);
    if (refusal != 0)
        return refusal;
    uint64_t hash = htw__key_hash(key, key_size, scheduler->key_seed);
    struct htw__shard *shard = htw__key_shard(scheduler, group, hash);
    htw__lock_acquire(&shard->lock);
    return cancel_slow(shard, htw__key_find(shard, group, hash, key, key_size), ret_arg, NULL);
}

/* ---- and wait */

/* Whether the callback of a timer still runs. If so, its end calls htw__cancel_waiters_notify(). */
static bool is_running(const struct htw_scheduler *scheduler, struct htw__awaited awaited) {
    struct htw__shard *shard = htw__handle_shard(scheduler, awaited.handle);
    uint64_t status;
    htw__lock_acquire(&shard->lock);
    struct htw__record *record = htw__handle_record(shard, awaited.handle, &status);
    bool running;
    do
        running = record != NULL && htw__status_state(status) == HTW__RUNNING;
    while (running && !htw__status_change(record, &status, status | HTW__AWAITED));
    htw__lock_release(&shard->lock);
    return running;
}

int htw_cancel_wait(struct htw_scheduler *scheduler, htw_handle handle) {
    int outcome = htw_cancel(scheduler, handle);
    if (outcome != HTW_RUNNING)
        return outcome;
    if (!htw__callback_await(scheduler, (struct htw__awaited) { .handle = handle }, is_running))
        return -EDEADLK;
    if (HTW__ANNOTATED())
        take_over(scheduler, handle);
    return outcome;
}

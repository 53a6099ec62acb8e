/* SPDX-License-Identifier: MIT */
/* cancel.c - cancels a timer by handle or key, from any thread. */
#include "cancel.h"

#include "credit.h"
#include "wake.h"
#include "group.h"
#include "shard.h"

#include <errno.h>

/* Lets this run be the last. Who runs it sees to the rest. */
static enum htw_outcome cancel_running(struct htw__shard *shard, struct htw__record *record,
                                       uint64_t status) {
    do {
        if (htw__status_state(status) != HTW__RUNNING)
            return HTW_GONE; /* it has just ended */
    } while (!htw__status_change(record, &status, (status & ~(uint64_t)HTW__REARM) | HTW__CANCEL));
    bool has_attributes = status & HTW__HAS_ATTRIBUTES;
    if ((status & HTW__REARM) && !(has_attributes && record->attributes->period_ns > 0))
        htw__credit_give(shard); /* taken by the callback when it rescheduled itself */
    if (has_attributes)
        htw__attributes_remove_key(shard, record->attributes);
    return HTW_RUNNING;
}

enum htw_outcome htw__cancel_locked(struct htw__shard *shard, struct htw__record *record,
                                    struct htw__ended *ret_ended) {
    uint64_t status = htw__status_of(record);
    enum htw__state state;
    do {
        state = htw__status_state(status);
        if (state == HTW__RUNNING)
            return cancel_running(shard, record, status);
        if (state != HTW__PENDING && state != HTW__QUEUED)
            return HTW_GONE;
    } while (!htw__status_change(record, &status, htw__status_in(status, HTW__DONE, 0)));
    htw__attributes_detach(shard, record, status & HTW__HAS_ATTRIBUTES, ret_ended);
    htw__counter_add(&shard->cancelled, 1);
    htw__credit_give(shard);
    if (state == HTW__PENDING) { /* a queued one is freed by whoever it was queued for */
        htw__shard_unfile(shard, record);
        htw__shard_free_record(shard, record);
    }
    return HTW_CANCELLED;
}

/* Cleans up soon, if this is needed. Not under the lock. */
static inline void tidy(struct htw__shard *shard, bool dirty) {
    if (dirty)
        htw__wake_for_cleanup(htw__expirer_of(shard));
}

/* What nearly all cancels are: of a plain timer in the wheel. Under the lock. */
static inline bool cancel_plain(struct htw__shard *shard, struct htw__record *record,
                                uint64_t status) {
    if ((status & HTW__STATUS_STATE) != HTW__PENDING ||
        !htw__status_change(record, &status, htw__status_in(status, HTW__DONE, 0)))
        return false;
    htw__counter_add(&shard->cancelled, 1);
    htw__credit_give(shard);
    htw__shard_unfile(shard, record);
    htw__shard_free_record(shard, record);
    return true;
}

/* The rest, under the lock, which is given back. `record` may be NULL; `ret_arg`, too. */
static __attribute__((noinline)) int cancel_rare(struct htw__shard *shard,
                                                 struct htw__record *record, void **ret_arg) {
    struct htw__ended ended;
    enum htw_outcome outcome =
        record == NULL ? HTW_GONE : htw__cancel_locked(shard, record, &ended);
    bool dirty = htw__shard_is_dirty(shard);
    htw__lock_release(&shard->lock);
    if (outcome == HTW_CANCELLED) {
        if (ret_arg != NULL)
            *ret_arg = htw__ended_arg(&ended);
        htw__ended_settle(shard->scheduler, &ended);
    }
    tidy(shard, dirty && !htw__is_child(shard->scheduler));
    return (int)outcome;
}

static inline int cancel_at_home(struct htw__shard *shard, htw_handle handle) {
    uint64_t status;
    struct htw__record *record = htw__handle_record(shard, handle, &status);
    if (record == NULL || !cancel_plain(shard, record, status))
        return cancel_rare(shard, record, NULL);
    bool dirty = htw__shard_is_dirty(shard);
    htw__lock_release(&shard->lock);
    tidy(shard, dirty);
    return HTW_CANCELLED;
}

/* Remembers a claim, and gives back the one some places before it: a hint for who will free
   them, one after the other. Under the lock. */
static uint32_t swap_recent(struct htw__shard *here, uint32_t index) {
    uint32_t *place = &here->recent[here->recent_next++ % HTW__STALE_AHEAD];
    uint32_t before = *place;
    *place = index;
    return before;
}

/*
 * A plain timer of another shard, without that shard's lock. The lock of `here`, which the
 * caller holds and this gives back, keeps the record's page from vanishing (state.h). Whether
 * there is a result.
 */
static bool cancel_afar(struct htw__shard *here, struct htw__shard *home, htw_handle handle,
                        int *ret_outcome) {
    uint64_t status;
    uint32_t index = (uint32_t)handle & home->scheduler->index_mask;
    struct htw__record *record = htw__handle_record(home, handle, &status);
    bool claimed = record != NULL && (status & HTW__STATUS_STATE) == HTW__PENDING &&
                   htw__status_change(record, &status, htw__status_in(status, HTW__CLAIMED, 0));
    uint32_t later = 0;
    if (claimed) {
        htw__counter_add(&here->cancelled, 1);
        htw__credit_give(here);
        later = swap_recent(here, index);
    }
    htw__lock_release(&here->lock);
    if (claimed) /* nobody else frees it, but it has yet to be taken out of the wheel */
        htw__shard_push_stale(home, record, index, later);
    *ret_outcome = claimed ? HTW_CANCELLED : HTW_GONE;
    return claimed || record == NULL;
}

int htw_cancel(struct htw_scheduler *scheduler, htw_handle handle) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    struct htw__shard *home = htw__handle_shard(scheduler, handle);
    if (home == NULL)
        return HTW_GONE;
    struct htw__shard *here = htw__shard_here(scheduler);
    htw__lock_acquire(&here->lock);
    if (here == home)
        return cancel_at_home(home, handle);
    int outcome;
    if (cancel_afar(here, home, handle, &outcome))
        return outcome;
    htw__lock_acquire(&home->lock);
    return cancel_at_home(home, handle);
}

/* ---- by key */

struct htw__shard *htw__key_shard(const struct htw_scheduler *scheduler,
                                  const struct htw_group *group, uint64_t hash) {
    if (group != NULL)
        return group->shard;
    /* By the high bits: the table takes the low ones. */
    return &scheduler->shards[(hash >> 32) % scheduler->shard_count];
}

struct htw__record *htw__key_find(struct htw__shard *shard, const struct htw_group *group,
                                  uint64_t hash, const void *key, size_t key_size) {
    const struct htw__key_table *table = group == NULL ? &shard->keys : group->keys;
    if (table == NULL)
        return NULL;
    struct htw__key_node *node = htw__key_table_find(table, hash, key, key_size);
    return node == NULL ? NULL : HTW_CONTAINER_OF(node, struct htw__attributes, key)->record;
}

static int refuse_key(const struct htw_scheduler *scheduler, const struct htw_group *group,
                      const void *key, size_t key_size) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (key == NULL || key_size > UINT32_MAX || (group != NULL && group->scheduler != scheduler))
        return -EINVAL;
    return 0;
}

int htw_cancel_key(struct htw_scheduler *scheduler, struct htw_group *group, const void *key,
                   size_t key_size, void **ret_arg) {
    int refusal = refuse_key(scheduler, group, key, key_size);
    if (refusal != 0)
        return refusal;
    uint64_t hash = htw__key_hash(key, key_size, scheduler->key_seed);
    struct htw__shard *shard = htw__key_shard(scheduler, group, hash);
    htw__lock_acquire(&shard->lock);
    return cancel_rare(shard, htw__key_find(shard, group, hash, key, key_size), ret_arg);
}

htw_handle htw_find_key(struct htw_scheduler *scheduler, struct htw_group *group, const void *key,
                        size_t key_size) {
    if (refuse_key(scheduler, group, key, key_size) != 0)
        return 0;
    uint64_t hash = htw__key_hash(key, key_size, scheduler->key_seed);
    struct htw__shard *shard = htw__key_shard(scheduler, group, hash);
    htw__lock_acquire(&shard->lock);
    struct htw__record *record = htw__key_find(shard, group, hash, key, key_size);
    htw_handle handle = record == NULL ? 0 : htw__handle_of(shard, record);
    htw__lock_release(&shard->lock);
    return handle;
}

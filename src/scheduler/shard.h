/* SPDX-License-Identifier: MIT */
/* shard.h - the records and the wheel of one shard: how timers get in and out. */
#ifndef HTW_SRC_SCHEDULER_SHARD_H
#define HTW_SRC_SCHEDULER_SHARD_H

#include "state.h"

int htw__shard_init(struct htw__shard *shard, struct htw_scheduler *scheduler, uint32_t index,
                    uint64_t start_tick);

/* Nobody is in a call any more. */
void htw__shard_fini(struct htw__shard *shard);

/* What htw__shard_take_record() does when there is no free record at hand. */
int htw__shard_make_record(struct htw__shard *shard, struct htw__record **ret_record,
                           uint32_t *ret_index);

/*
 * A free record and its index. Under the lock, which is given back and taken again where
 * memory has to be allocated. -ESHUTDOWN, -ENOMEM; the lock is held in any case.
 */
static inline int htw__shard_take_record(struct htw__shard *shard, struct htw__record **ret_record,
                                         uint32_t *ret_index) {
    if (__builtin_expect(shard->closed, false))
        return -ESHUTDOWN;
    struct htw__cell *cell = htw__slab_allocate(&shard->slab, ret_index);
    if (__builtin_expect(cell == NULL, false))
        return htw__shard_make_record(shard, ret_record, ret_index);
    *ret_record = HTW_CONTAINER_OF(cell, struct htw__record, cell);
    return 0;
}

/* Under the lock: the record is DONE, or was never armed. */
static inline void htw__shard_free_record(struct htw__shard *shard, struct htw__record *record) {
    htw__slab_free(&shard->slab, &record->cell);
}

/* A timer that has not yet followed into a new wheel leaves the former one here. */
static inline void htw__shard_cancel_in_previous(struct htw__shard *shard,
                                                 struct htw__record *record) {
    if (__builtin_expect(shard->previous != NULL, false))
        htw_wheel_cancel(shard->previous, &record->timer);
}

/* What htw__shard_file_new() does where the alarm may be set for later, or the deadline be over. */
int htw__shard_file_soon(struct htw__shard *shard, struct htw__record *record, uint64_t tick,
                         int64_t deadline_ns, bool *ret_wake);

/*
 * Puts a record into the wheel, or moves it there: for `tick`, or at once if `deadline_ns`, which
 * was rounded up to that tick, is over. Under the lock. -ENOMEM: nothing has changed. Otherwise
 * `*ret_wake` becomes true if the alarm may be set for later: then the caller must set it with
 * htw__shard_wake(), once the lock is given back. A new record is in no wheel yet.
 */
static inline int htw__shard_file_new(struct htw__shard *shard, struct htw__record *record,
                                      uint64_t tick, int64_t deadline_ns, bool *ret_wake) {
    if (__builtin_expect(tick <= shard->soon_tick, false))
        return htw__shard_file_soon(shard, record, tick, deadline_ns, ret_wake);
    return htw_wheel_schedule(shard->wheel, &record->timer, tick);
}

static inline int htw__shard_file(struct htw__shard *shard, struct htw__record *record,
                                  uint64_t tick, int64_t deadline_ns, bool *ret_wake) {
    htw__shard_cancel_in_previous(shard, record);
    return htw__shard_file_new(shard, record, tick, deadline_ns, ret_wake);
}

/* The same, for a tick in a range. */
int htw__shard_file_within(struct htw__shard *shard, struct htw__record *record, uint64_t earliest,
                           uint64_t latest, bool *ret_wake);

/* The same for the record's deadline_ns, and cannot fail: if the wheel cannot grow, it is filed
   for as late as is possible, and filed again then. */
void htw__shard_file_surely(struct htw__shard *shard, struct htw__record *record, int64_t now_ns,
                            bool *ret_wake);

/* Takes a record out of the wheel. Under the lock. */
static inline void htw__shard_unfile(struct htw__shard *shard, struct htw__record *record) {
    if (__builtin_expect(!htw_wheel_cancel(shard->wheel, &record->timer), false))
        htw__shard_cancel_in_previous(shard, record);
}

/* Sets the alarm, so that the expirer looks in time: once for each time that `*ret_wake` has become
   true. Not under the lock. */
void htw__shard_wake(struct htw__shard *shard);

/*
 * Takes up to HTW__SLICE timers that are due at `now_ns`, as QUEUED, in order. Takes the lock.
 *
 * @return whether there may be more; if not, wake_tick has been set anew.
 */
bool htw__shard_collect(struct htw__shard *shard, int64_t now_ns, struct htw__batch *batch,
                        uint32_t max);

/* Leaves a record, which the caller has claimed and knows the index of, for others to free. `later`
   is the index of one that was left before, if possible some places before: only a hint. Not
   under the lock of this shard. */
void htw__shard_push_stale(struct htw__shard *shard, struct htw__record *record, uint32_t index,
                           uint32_t later);

/* Leaves up to HTW__SLICE records that are DONE. The same. */
void htw__shard_push_all_stale(struct htw__shard *shard, struct htw__record *const *records,
                               uint32_t count);

/* Frees up to HTW__SLICE records that were left. Under the lock. Whether there was any. */
bool htw__shard_reclaim(struct htw__shard *shard);

/* Frees all that is claimed, and gives pages back that are not needed. Takes and gives
   the locks of all shards in turn. */
void htw__shard_clean(struct htw__shard *shard);

/* Whether htw__shard_clean() has something to do soon. Under the lock. */
static inline bool htw__shard_is_dirty(const struct htw__shard *shard) {
    return shard->slab.empty_count > 1;
}

#endif /* HTW_SRC_SCHEDULER_SHARD_H */

/* SPDX-License-Identifier: MIT */
/* shard.h - the records and the wheel of one shard: how timers get in and out. */
#ifndef HTW_SRC_SCHEDULER_SHARD_H
#define HTW_SRC_SCHEDULER_SHARD_H

#include "state.h"

int htw__shard_init(struct htw__shard *shard, struct htw_scheduler *scheduler, uint32_t index,
                    uint64_t start_tick);

/* Nobody is in a call any more. */
void htw__shard_fini(struct htw__shard *shard);

/*
 * A free record, PENDING from htw__shard_arm() on. Under the lock, which is given back and taken
 * again where memory has to be allocated. -ESHUTDOWN, -ENOMEM; the lock is held in any case.
 */
int htw__shard_take_record(struct htw__shard *shard, struct htw__record **ret_record);

/* Under the lock: the record is DONE, or was never armed. */
void htw__shard_free_record(struct htw__shard *shard, struct htw__record *record);

/*
 * Puts a record into the wheel, or moves it there, for a tick in [earliest, latest]. Under
 * the lock. -ENOMEM: nothing has changed. Otherwise `*ret_wake` becomes true if the expirer must be
 * told with htw__shard_wake(), once the lock is given back.
 */
int htw__shard_file(struct htw__shard *shard, struct htw__record *record, uint64_t earliest,
                    uint64_t latest, bool *ret_wake);

/* The same for the record's deadline_ns, and cannot fail: if the wheel cannot grow, it is filed
   for as late as is possible, and filed again then. */
void htw__shard_file_surely(struct htw__shard *shard, struct htw__record *record, bool *ret_wake);

/* Takes a record out of the wheel. Under the lock. */
void htw__shard_unfile(struct htw__shard *shard, struct htw__record *record);

/* Sees to it that the expirer looks in time. Not under the lock. */
void htw__shard_wake(struct htw__shard *shard);

/*
 * Takes up to HTW__SLICE timers that are due at `now_ns`, as QUEUED, in order. Takes the lock.
 *
 * @return whether there may be more; if not, wake_tick has been set anew.
 */
bool htw__shard_collect(struct htw__shard *shard, int64_t now_ns, struct htw__batch *batch,
                        uint32_t max);

/* Leaves a record, which the caller has claimed, for others to free. Returns how many
   are left there. Not under the lock of this shard. */
uint32_t htw__shard_leave_claimed(struct htw__shard *shard, struct htw__record *record);

/* Frees up to HTW__SLICE claimed records. Under the lock. Whether there was any. */
bool htw__shard_reclaim(struct htw__shard *shard);

/* Frees all that is claimed, and gives pages back that are not needed. Takes and gives
   the locks of all shards in turn. */
void htw__shard_clean(struct htw__shard *shard);

/* Whether htw__shard_clean() has something to do soon. Under the lock. */
static inline bool htw__shard_is_dirty(const struct htw__shard *shard) {
    return shard->slab.empty_count > 1;
}

#endif /* HTW_SRC_SCHEDULER_SHARD_H */

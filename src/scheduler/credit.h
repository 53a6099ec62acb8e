/* SPDX-License-Identifier: MIT */
/*
 * credit.h - max_pending: arming a timer takes a credit, and the end of the timer gives it back.
 *
 * A shard holds credits in blocks, so that threads rarely touch the count of the scheduler. When
 * that count is 0, a shard takes the credits of other shards, so that the limit is reached exactly.
 * Without a limit all of this costs a comparison.
 */
#ifndef HTW_SRC_SCHEDULER_CREDIT_H
#define HTW_SRC_SCHEDULER_CREDIT_H

#include "shard.h"

/* htw__credit_acquire() for a shard that has no credit. Unlocks and locks the shard. */
bool htw__credit_acquire_slow(struct htw__shard *shard);

/* Gives back to the scheduler what a shard holds above its share. Under the lock. */
void htw__credit_release_excess(struct htw__shard *shard);

/* Gives credits back to the scheduler; needs no lock. */
void htw__credit_release_shared(struct htw_scheduler *scheduler, uint64_t count);

/* False: the limit is reached. Under the lock; unlocks and locks the shard if it has no credit. */
static inline bool htw__credit_acquire(struct htw__shard *shard) {
    if (shard->scheduler->max_pending == 0)
        return true;
    if (shard->credit == 0)
        return htw__credit_acquire_slow(shard);
    shard->credit--;
    return true;
}

/* Under the lock. */
static inline void htw__credit_release(struct htw__shard *shard) {
    if (shard->scheduler->max_pending == 0)
        return;
    shard->credit++;
    htw__credit_release_excess(shard);
}

#endif /* HTW_SRC_SCHEDULER_CREDIT_H */

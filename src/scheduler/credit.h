/* SPDX-License-Identifier: MIT */
/*
 * credit.h - max_pending: a timer may be armed only for a credit, and ending gives it back.
 *
 * Shards hold credit in blocks, so that the count that all share is touched only once a
 * block, and near the limit. Where there is none left, that which the other shards hold in
 * reserve is fetched, so that the limit is reached exactly. Without a limit all of this is free.
 */
#ifndef HTW_SRC_SCHEDULER_CREDIT_H
#define HTW_SRC_SCHEDULER_CREDIT_H

#include "state.h"

/* For a shard that has none: under its lock, which is given back and taken again. */
bool htw__credit_fetch(struct htw__shard *shard);

/* Gives back what is more than a reserve. Under the lock. */
void htw__credit_spill(struct htw__shard *shard);

/* To the count that all share; needs no lock. */
void htw__credit_return(struct htw_scheduler *scheduler, uint64_t count);

/* Takes a credit. Under the lock, which is given back and taken again if the shard has none. */
static inline bool htw__credit_take(struct htw__shard *shard) {
    if (shard->scheduler->max_pending == 0)
        return true;
    if (shard->credit == 0)
        return htw__credit_fetch(shard);
    shard->credit--;
    return true;
}

/* Under the lock. */
static inline void htw__credit_give(struct htw__shard *shard) {
    if (shard->scheduler->max_pending == 0)
        return;
    shard->credit++;
    htw__credit_spill(shard);
}

#endif /* HTW_SRC_SCHEDULER_CREDIT_H */

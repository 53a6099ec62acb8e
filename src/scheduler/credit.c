/* SPDX-License-Identifier: MIT */
/* credit.c - max_pending: shards hold credits in blocks. */
#include "credit.h"

/* What a shard takes at a time. It holds up to twice as much. */
#define BLOCK 64u

static uint64_t take_block(struct htw_scheduler *scheduler) {
    /* order: A count alone: credits carry no data. */
    uint64_t left = atomic_load_explicit(&scheduler->credit, memory_order_relaxed);
    uint64_t taken;
    do
        taken = left < BLOCK ? left : BLOCK;
    while (taken > 0 &&
           !atomic_compare_exchange_weak_explicit(&scheduler->credit, &left, left - taken,
                                                  memory_order_relaxed, memory_order_relaxed));
    return taken;
}

/* All credits of one other shard, the next one that has any. */
static uint64_t take_from_another(struct htw__shard *shard) {
    struct htw_scheduler *scheduler = shard->scheduler;
    uint64_t taken = 0;
    for (uint32_t i = 1; i < scheduler->shard_count && taken == 0; i++) {
        struct htw__shard *other = &scheduler->shards[(shard->index + i) % scheduler->shard_count];
        htw__lock_acquire(&other->lock);
        taken = other->credit;
        other->credit = 0;
        htw__lock_release(&other->lock);
    }
    return taken;
}

bool htw__credit_acquire_slow(struct htw__shard *shard) {
    struct htw_scheduler *scheduler = shard->scheduler;
    shard->credit += take_block(scheduler);
    if (shard->credit == 0) {
        htw__lock_release(&shard->lock);
        uint64_t taken = take_from_another(shard);
        htw__lock_acquire(&shard->lock);
        shard->credit += taken;
    }
    if (shard->credit == 0)
        shard->credit += take_block(scheduler); /* credits that were released meanwhile */
    if (shard->credit == 0)
        return false;
    shard->credit--;
    return true;
}

void htw__credit_release_excess(struct htw__shard *shard) {
    if (shard->credit < 2 * (uint64_t)BLOCK)
        return;
    shard->credit -= BLOCK;
    htw__credit_release_shared(shard->scheduler, BLOCK);
}

void htw__credit_release_shared(struct htw_scheduler *scheduler, uint64_t count) {
    /* order: A count alone: credits carry no data. */
    if (scheduler->max_pending != 0)
        atomic_fetch_add_explicit(&scheduler->credit, count, memory_order_relaxed);
}

/* SPDX-License-Identifier: MIT */
/* shard.c - a part of the purgatory with its own lock: a table of keys, and counts of requests. */
#include "shard.h"

#include "owner.h"

void htw__purgatory_shard_init(struct htw__purgatory_shard *shard,
                               struct htw_purgatory *purgatory) {
    *shard = (struct htw__purgatory_shard) { .purgatory = purgatory };
    htw__lock_init(&shard->lock, HTW__RANK_PURGATORY_SHARD);
    htw__key_table_init(&shard->table, &purgatory->allocator);
    shard->deferred_end = &shard->deferred;
}

void htw__purgatory_shard_fini(struct htw__purgatory_shard *shard) {
    htw__key_table_fini(&shard->table);
}

void htw__purgatory_shard_count(struct htw__purgatory_shard *shard, struct htw_request *request,
                                bool delayed) {
    shard->submitted++;
    shard->pending++;
    if (delayed) {
        shard->delayed++;
        request->_flags |= HTW__REQUEST_DELAYED;
    }
}

static void count_end(struct htw__purgatory_shard *shard, int reason) {
    if (reason != HTW_REASON_COMPLETED)
        shard->ended[reason]++;
}

void htw__purgatory_shard_uncount(struct htw__purgatory_shard *shard,
                                  const struct htw_request *request, int reason) {
    shard->pending--;
    if ((request->_flags & HTW__REQUEST_DELAYED) != 0)
        shard->delayed--;
    if (reason == HTW__NO_REASON)
        shard->submitted--;
    else
        count_end(shard, reason);
}

void htw__purgatory_count_unlinked(const struct htw_request *request, enum htw_reason reason) {
    uint64_t mixed = (uint64_t)(uintptr_t)request * UINT64_C(0x9e3779b97f4a7c15);
    struct htw__purgatory_shard *shard = htw__purgatory_shard_of(request->_purgatory, mixed);
    htw__lock_acquire(&shard->lock);
    shard->submitted++;
    count_end(shard, (int)reason);
    htw__lock_release(&shard->lock);
}

/* Keys on which requests wait. */
static uint64_t count_keys(const struct htw__purgatory_shard *shard) {
    return htw__key_table_count(&shard->table) + shard->orphans - shard->idle;
}

void htw__purgatory_shard_add_stats(struct htw__purgatory_shard *shard,
                                    struct htw_purgatory_stats *stats) {
    htw__lock_acquire(&shard->lock);
    stats->submitted += shard->submitted;
    stats->expired += shard->ended[HTW_REASON_EXPIRED];
    stats->cancelled += shard->ended[HTW_REASON_CANCELLED];
    stats->closed += shard->ended[HTW_REASON_CLOSED];
    stats->pending += shard->pending;
    stats->delayed += shard->delayed;
    stats->watched += shard->watched;
    stats->keys += count_keys(shard);
    stats->memory_bytes += sizeof(*shard) + htw__key_table_memory(&shard->table) + shard->bytes;
    htw__lock_release(&shard->lock);
}

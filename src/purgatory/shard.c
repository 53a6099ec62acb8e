/* SPDX-License-Identifier: MIT */
/* shard.c - a part of the purgatory with its own lock: its keys, and the checks of these that wait. */
#include "shard.h"

void htw__purgatory_shard_init(struct htw__purgatory_shard *shard,
                               struct htw_purgatory *purgatory) {
    *shard = (struct htw__purgatory_shard) { .purgatory = purgatory };
    htw__lock_init(&shard->first.lock, HTW__RANK_PURGATORY_SHARD);
    htw__key_table_init(&shard->table, &purgatory->allocator);
}

void htw__purgatory_shard_fini(struct htw__purgatory_shard *shard) {
    htw__key_table_fini(&shard->table);
}

/* Keys on which requests wait. */
static uint64_t count_keys(const struct htw__purgatory_shard *shard) {
    return htw__key_table_count(&shard->table) + (shard->first.has_key & ~shard->first.is_orphan) +
           (shard->second.has_key & ~shard->second.is_orphan) + shard->orphans;
}

void htw__purgatory_shard_add_stats(struct htw__purgatory_shard *shard,
                                    struct htw_purgatory_stats *stats) {
    htw__lock_acquire(&shard->first.lock);
    stats->keys += count_keys(shard);
    stats->memory_bytes += sizeof(*shard) + htw__key_table_memory(&shard->table) + shard->bytes;
    htw__lock_release(&shard->first.lock);
}

/* SPDX-License-Identifier: MIT */
/* stats.c - the statistics of a purgatory. */
#include "cpu.h"
#include "walk.h"

#include <htw/wheel_inspect.h>

/* Keys on which requests wait. */
static uint64_t count_keys(const struct htw__purgatory_shard *shard) {
    return htw__key_table_count(&shard->table) + (shard->first.has_key & ~shard->first.is_orphan) +
           (shard->second.has_key & ~shard->second.is_orphan) + shard->orphans;
}

static void add_shard(struct htw_purgatory_stats *stats, struct htw__purgatory_shard *shard) {
    htw__lock_acquire(&shard->first.lock);
    stats->keys += count_keys(shard);
    stats->memory_bytes += sizeof(*shard) + htw__key_table_memory(&shard->table) + shard->bytes;
    htw__lock_release(&shard->first.lock);
}

static uint64_t ended(const struct htw__counts *counts, enum htw_reason reason) {
    return counts->ended[reason] + counts->ended_at_once[reason];
}

static void add_cpu(struct htw_purgatory_stats *stats, struct htw__cpu *cpu) {
    struct htw_wheel_stats own = HTW_WHEEL_STATS_INIT;
    const struct htw__counts *counts = &cpu->counts;
    htw__lock_acquire(&cpu->lock);
    htw_wheel_get_stats(cpu->wheel, &own);
    stats->memory_bytes += sizeof(*cpu) + own.memory_bytes + counts->bytes;
    stats->pending += counts->begun;
    for (unsigned i = 0; i < HTW__REASONS; i++)
        stats->pending -= counts->ended[i];
    stats->completed += ended(counts, HTW_REASON_COMPLETED);
    stats->expired += ended(counts, HTW_REASON_EXPIRED);
    stats->cancelled += ended(counts, HTW_REASON_CANCELLED);
    stats->closed += ended(counts, HTW_REASON_CLOSED);
    stats->delayed += own.pending;
    stats->watched += counts->watched;
    stats->waited_ms += cpu->waits.sum_ms;
    for (unsigned i = 0; i < HTW_PURGATORY_WAIT_BUCKETS; i++)
        stats->waits[i] += cpu->waits.buckets[i];
    for (unsigned i = 0; i < HTW__ALARMS; i++)
        stats->alarms += htw_is_pending(cpu->purgatory->scheduler, cpu->alarms[i].handle);
    htw__lock_release(&cpu->lock);
    stats->memory_bytes += htw__cell_pool_memory(&cpu->cells);
}

static void gather(struct htw_purgatory *purgatory, struct htw_purgatory_stats *stats) {
    *stats = (struct htw_purgatory_stats)HTW_PURGATORY_STATS_INIT;
    for (uint32_t i = 0; i < purgatory->shard_count; i++)
        add_shard(stats, &purgatory->shards[i]);
    for (uint32_t i = 0; i < purgatory->cpu_count; i++)
        add_cpu(stats, &purgatory->cpus[i]);
    htw__lock_acquire(&purgatory->lock);
    stats->memory_bytes += sizeof(*purgatory) + purgatory->condition_bytes;
    htw__lock_release(&purgatory->lock);
    stats->submitted =
        stats->pending + stats->completed + stats->expired + stats->cancelled + stats->closed;
}

int htw_purgatory_get_stats(struct htw_purgatory *purgatory, struct htw_purgatory_stats *stats) {
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    if (stats == NULL || stats->struct_size != sizeof(*stats))
        return -EINVAL;
    gather(purgatory, stats);
    return 0;
}

int64_t htw_purgatory_count_key(struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    struct htw__key hashed;
    int refusal = htw__key_of_call(purgatory, key, key_size, &hashed);
    if (refusal != 0)
        return refusal;
    struct htw__walk walk = { .purgatory = purgatory };
    return (int64_t)htw__walk_count(&walk, &hashed);
}

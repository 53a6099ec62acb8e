/* SPDX-License-Identifier: MIT */
/* stats.c - the statistics of a purgatory. */
#include "cpu.h"
#include "keys.h"
#include "threshold.h"
#include "walk.h"

static void gather(struct htw_purgatory *purgatory, struct htw_purgatory_stats *stats) {
    *stats = (struct htw_purgatory_stats)HTW_PURGATORY_STATS_INIT;
    for (uint32_t i = 0; i < purgatory->shard_count; i++)
        htw__purgatory_shard_add_stats(&purgatory->shards[i], stats);
    for (uint32_t i = 0; i < purgatory->cpu_count; i++)
        htw__cpu_add_stats(&purgatory->cpus[i], stats);
    stats->memory_bytes += sizeof(*purgatory) + htw__thresholds_memory(purgatory);
    stats->completed =
        stats->submitted - stats->expired - stats->cancelled - stats->closed - stats->pending;
}

void htw_purgatory_stats_init(struct htw_purgatory_stats *stats) {
    static const struct htw_purgatory_stats initial = HTW_PURGATORY_STATS_INIT;
    if (stats != NULL)
        *stats = initial;
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

uint64_t htw_purgatory_watched(struct htw_purgatory *purgatory) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    return htw_purgatory_get_stats(purgatory, &stats) == 0 ? stats.watched : 0;
}

uint64_t htw_purgatory_delayed(struct htw_purgatory *purgatory) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    return htw_purgatory_get_stats(purgatory, &stats) == 0 ? stats.delayed : 0;
}

int64_t htw_purgatory_count_key(struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    int refusal = htw__key_refusal(purgatory, key, key_size);
    if (refusal != 0)
        return refusal;
    uint64_t hash = htw__key_hash(key, key_size, purgatory->seed);
    struct htw__walk walk = { .purgatory = purgatory,
                              .shard = htw__purgatory_shard_of(purgatory, hash) };
    return (int64_t)htw__walk_count(&walk, hash, key, key_size);
}

/* SPDX-License-Identifier: MIT */
/* stats.c - the statistics of a purgatory. */
#include "cpu.h"
#include "walk.h"

static void gather(struct htw_purgatory *purgatory, struct htw_purgatory_stats *stats) {
    *stats = (struct htw_purgatory_stats)HTW_PURGATORY_STATS_INIT;
    for (uint32_t i = 0; i < purgatory->shard_count; i++)
        htw__purgatory_shard_add_stats(&purgatory->shards[i], stats);
    for (uint32_t i = 0; i < purgatory->cpu_count; i++)
        htw__cpu_add_stats(&purgatory->cpus[i], stats);
    htw__lock_acquire(&purgatory->lock);
    stats->memory_bytes += sizeof(*purgatory) + purgatory->condition_bytes;
    htw__lock_release(&purgatory->lock);
    stats->pending =
        stats->submitted - stats->completed - stats->expired - stats->cancelled - stats->closed;
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

int64_t htw_purgatory_count_key(struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    struct htw__key hashed;
    int refusal = htw__key_of_call(purgatory, key, key_size, &hashed);
    if (refusal != 0)
        return refusal;
    struct htw__walk walk = { .purgatory = purgatory };
    return (int64_t)htw__walk_count(&walk, &hashed);
}

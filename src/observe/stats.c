/* SPDX-License-Identifier: MIT */
/* stats.c - the statistics of a scheduler. */
#include "stats.h"

#include "observation.h"
#include "../scheduler/workers.h"

#include <htw/wheel_inspect.h>

/* What the n-th thread that runs callbacks counts, or the executor behind the last one; NULL: nothing. */
static const struct htw__run_stats *run_stats_at(const struct htw_scheduler *scheduler,
                                                 uint32_t n) {
    return n < htw__thread_count(scheduler) ? htw__thread_run_stats(&scheduler->threads[n])
                                            : scheduler->executor_run_stats;
}

static void add_run_stats(struct htw_scheduler_stats *stats,
                          const struct htw__run_stats *run_stats) {
    if (run_stats == NULL)
        return;
    /* `started` is read last, so that the differences below are never negative. */
    uint64_t ended = htw__counter_read(&run_stats->ended);
    uint64_t rearmed = htw__counter_read(&run_stats->rearmed);
    uint64_t started = htw__counter_read(&run_stats->started);
    stats->runs += started;
    stats->running += started - ended;
    stats->fired += started - rearmed;
    stats->late += htw__counter_read(&run_stats->late);
    stats->missed += htw__counter_read(&run_stats->missed);
}

void htw__stats_add_runners(const struct htw_scheduler *scheduler,
                            struct htw_scheduler_stats *stats) {
    for (uint32_t n = 0; n <= htw__thread_count(scheduler); n++)
        add_run_stats(stats, run_stats_at(scheduler, n));
}

static void add_wheel(struct htw_scheduler_stats *stats, const struct htw_wheel *wheel) {
    struct htw_wheel_stats own = HTW_WHEEL_STATS_INIT;
    if (wheel == NULL)
        return;
    htw_wheel_get_stats(wheel, &own);
    stats->demoted += own.demoted;
    stats->memory_bytes += own.memory_bytes;
}

static void add_clockwork(struct htw_scheduler_stats *stats, const struct htw__clockwork *clockwork,
                          uint64_t *in_wheels) {
    if (clockwork == NULL)
        return;
    stats->demoted += clockwork->demoted;
    add_wheel(stats, clockwork->wheel);
    add_wheel(stats, clockwork->previous);
    *in_wheels += htw_wheel_count(clockwork->wheel) + htw_wheel_count(clockwork->previous);
}

void htw__stats_add_shard(struct htw__shard *shard, struct htw_scheduler_stats *stats,
                          uint64_t *in_wheels, uint64_t *groups) {
    htw__lock_acquire(&shard->lock);
    stats->scheduled += htw__counter_read(&shard->scheduled);
    stats->cancelled += htw__counter_read(&shard->cancelled);
    stats->handed_back += htw__counter_read(&shard->handed_back);
    stats->refused += htw__counter_read(&shard->refused);
    stats->moved += htw__counter_read(&shard->moved);
    for (uint32_t slot = 0; slot < HTW__SLOT_COUNT; slot++)
        add_clockwork(stats, htw__shard_clockwork_at(shard, slot), in_wheels);
    *groups += shard->groups;
    stats->memory_bytes += htw__slab_bytes(&shard->slab) +
                           htw__counter_read(&shard->attributes_bytes) +
                           htw__key_table_memory(&shard->keys);
    htw__lock_release(&shard->lock);
}

static uint64_t own_bytes(const struct htw_scheduler *scheduler) {
    return sizeof(*scheduler) + scheduler->shard_count * sizeof(*scheduler->shards) +
           scheduler->expirer_count * sizeof(*scheduler->expirers) +
           htw__thread_count(scheduler) * sizeof(*scheduler->threads) +
           scheduler->batch_count * sizeof(*scheduler->batches) + htw__observation_bytes(scheduler);
}

static void gather(struct htw_scheduler *scheduler, struct htw__gathered *gathered) {
    struct htw_scheduler_stats *stats = &gathered->stats;
    uint64_t in_wheels = 0, groups = 0;
    htw__stats_add_runners(scheduler, stats);
    for (uint32_t n = 0; n <= htw__thread_count(scheduler); n++) {
        const struct htw__run_stats *run_stats = run_stats_at(scheduler, n);
        if (run_stats == NULL)
            continue;
        htw__histogram_merge(&gathered->lateness, &run_stats->lateness);
        htw__histogram_merge(&gathered->callback, &run_stats->duration);
        stats->memory_bytes += sizeof(*run_stats);
    }
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        htw__stats_add_shard(&scheduler->shards[i], stats, &in_wheels, &groups);
    for (uint32_t i = 0; i < scheduler->expirer_count; i++) {
        stats->wakeups += htw__counter_read(&scheduler->expirers[i].wakeups);
        stats->empty_wakeups += htw__counter_read(&scheduler->expirers[i].empty_wakeups);
    }
    uint64_t gone = stats->cancelled + stats->handed_back + stats->fired;
    stats->pending = stats->scheduled > gone ? stats->scheduled - gone : 0;
    stats->fired = stats->fired > stats->running ? stats->fired - stats->running : 0;
    stats->memory_bytes += own_bytes(scheduler);
    stats->lateness = htw__histogram_distribution(&gathered->lateness);
    stats->callback = htw__histogram_distribution(&gathered->callback);
}

struct htw__gathered *htw__stats_gather(struct htw_scheduler *scheduler) {
    struct htw__gathered *gathered = htw__allocate(&scheduler->allocator, sizeof(*gathered));
    if (gathered == NULL)
        return NULL;
    gathered->stats = (struct htw_scheduler_stats)HTW_SCHEDULER_STATS_INIT;
    htw__histogram_init(&gathered->lateness);
    htw__histogram_init(&gathered->callback);
    gather(scheduler, gathered);
    return gathered;
}

uint64_t htw_pending(const struct htw_scheduler *scheduler) {
    if (htw__scheduler_refusal(scheduler) != 0)
        return 0;
    struct htw_scheduler_stats stats = { 0 };
    uint64_t scheduled = 0, gone = 0;
    /* `scheduled` is read last, so that the difference is never negative. */
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        gone += htw__counter_read(&scheduler->shards[i].cancelled) +
                htw__counter_read(&scheduler->shards[i].handed_back);
    htw__stats_add_runners(scheduler, &stats);
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        scheduled += htw__counter_read(&scheduler->shards[i].scheduled);
    gone += stats.fired;
    return scheduled > gone ? scheduled - gone : 0;
}

void htw_scheduler_stats_init(struct htw_scheduler_stats *stats) {
    static const struct htw_scheduler_stats initial = HTW_SCHEDULER_STATS_INIT;
    if (stats != NULL)
        *stats = initial;
}

void htw_scheduler_histograms_init(struct htw_scheduler_histograms *histograms) {
    static const struct htw_scheduler_histograms initial = HTW_SCHEDULER_HISTOGRAMS_INIT;
    if (histograms != NULL)
        *histograms = initial;
}

/* The bucket of a duration: 0 below 1 us, i from 2^(i-1) us. */
static size_t bucket_of(uint64_t ns) {
    uint64_t us = ns / 1000;
    size_t bucket = us == 0 ? 0 : 64u - (size_t)__builtin_clzll(us);
    return bucket < HTW_SCHEDULER_HISTOGRAM_BUCKETS ? bucket : HTW_SCHEDULER_HISTOGRAM_BUCKETS - 1;
}

static void copy_histogram(uint64_t *counts, const struct htw__histogram *histogram) {
    size_t cursor = 0;
    struct htw__histogram_bucket bucket;
    while (htw__histogram_next(histogram, &cursor, &bucket))
        counts[bucket_of(bucket.low + (bucket.high - bucket.low) / 2)] += bucket.count;
}

/* `histograms` NULL: without them. */
static int get(struct htw_scheduler *scheduler, struct htw_scheduler_stats *stats,
               struct htw_scheduler_histograms *histograms) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (stats == NULL || stats->struct_size != sizeof(*stats) ||
        (histograms != NULL && histograms->struct_size != sizeof(*histograms)))
        return -EINVAL;
    struct htw__gathered *gathered = htw__stats_gather(scheduler);
    if (gathered == NULL)
        return -ENOMEM;
    *stats = gathered->stats;
    if (histograms != NULL) {
        *histograms = (struct htw_scheduler_histograms)HTW_SCHEDULER_HISTOGRAMS_INIT;
        copy_histogram(histograms->lateness, &gathered->lateness);
        copy_histogram(histograms->callback, &gathered->callback);
    }
    htw__release(&scheduler->allocator, gathered, sizeof(*gathered));
    return 0;
}

int htw_scheduler_get_stats(struct htw_scheduler *scheduler, struct htw_scheduler_stats *stats) {
    return get(scheduler, stats, NULL);
}

int htw_scheduler_get_histograms(struct htw_scheduler *scheduler, struct htw_scheduler_stats *stats,
                                 struct htw_scheduler_histograms *histograms) {
    return histograms == NULL && scheduler != NULL ? -EINVAL : get(scheduler, stats, histograms);
}

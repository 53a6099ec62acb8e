/* SPDX-License-Identifier: MIT */
/* stats.c - the statistics of a scheduler. */
#include "stats.h"

#include "observation.h"
#include "../scheduler/workers.h"

/* What the n-th thread that runs callbacks counts; NULL: nothing. False: there is none. */
static bool run_stats_at(const struct htw_scheduler *scheduler, uint32_t n,
                         struct htw__run_stats **ret_run_stats) {
    *ret_run_stats = n < htw__thread_count(scheduler)
                         ? htw__thread_run_stats(&scheduler->threads[n])
                         : scheduler->executor_run_stats;
    return n <= htw__thread_count(scheduler);
}

static void add_run_stats(struct htw_scheduler_stats *stats,
                          const struct htw__run_stats *run_stats) {
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
    struct htw__run_stats *run_stats;
    for (uint32_t n = 0; run_stats_at(scheduler, n, &run_stats); n++)
        if (run_stats != NULL)
            add_run_stats(stats, run_stats);
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
    uint64_t bytes = sizeof(*scheduler) + scheduler->shard_count * sizeof(*scheduler->shards) +
                     scheduler->expirer_count * sizeof(*scheduler->expirers) +
                     htw__thread_count(scheduler) * sizeof(*scheduler->threads) +
                     scheduler->batch_count * sizeof(*scheduler->batches);
    struct htw__run_stats *run_stats;
    for (uint32_t n = 0; run_stats_at(scheduler, n, &run_stats); n++)
        bytes += run_stats == NULL ? 0 : sizeof(*run_stats);
    return bytes + htw__observation_bytes(scheduler);
}

void htw__stats_gather(struct htw_scheduler *scheduler, struct htw_scheduler_stats *stats,
                       struct htw__histogram *lateness, struct htw__histogram *duration) {
    *stats = (struct htw_scheduler_stats)HTW_SCHEDULER_STATS_INIT;
    htw__histogram_init(lateness);
    htw__histogram_init(duration);
    htw__stats_add_runners(scheduler, stats);
    struct htw__run_stats *run_stats;
    for (uint32_t n = 0; run_stats_at(scheduler, n, &run_stats); n++)
        if (run_stats != NULL) {
            htw__histogram_merge(lateness, &run_stats->lateness);
            htw__histogram_merge(duration, &run_stats->duration);
        }
    uint64_t in_wheels = 0, groups = 0;
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

int htw__stats_of(struct htw_scheduler *scheduler, struct htw_scheduler_stats *stats,
                  struct htw__histogram **ret_histograms) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (stats == NULL || stats->struct_size != sizeof(*stats))
        return -EINVAL;
    struct htw__histogram *histograms =
        htw__allocate(&scheduler->allocator, 2 * sizeof(*histograms));
    if (histograms == NULL)
        return -ENOMEM;
    htw__stats_gather(scheduler, stats, &histograms[0], &histograms[1]);
    stats->lateness = htw__histogram_distribution(&histograms[0]);
    stats->callback = htw__histogram_distribution(&histograms[1]);
    *ret_histograms = histograms;
    return 0;
}

void htw__stats_release(struct htw_scheduler *scheduler, struct htw__histogram *histograms) {
    htw__release(&scheduler->allocator, histograms, 2 * sizeof(*histograms));
}

int htw_scheduler_get_stats(struct htw_scheduler *scheduler, struct htw_scheduler_stats *stats) {
    struct htw__histogram *histograms;
    int error = htw__stats_of(scheduler, stats, &histograms);
    if (error == 0)
        htw__stats_release(scheduler, histograms);
    return error;
}

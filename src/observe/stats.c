/* SPDX-License-Identifier: MIT */
/* stats.c - the statistics of a scheduler and of its shards: the counters of all parts, added up. */
#include "distribution.h"
#include "observation.h"
#include "../scheduler/workers.h"
#include "visit.h"

#include <htw/observe.h>
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

/* Adds up what the runners have counted. `fired` includes the timers that run now. */
static void add_runners(const struct htw_scheduler *scheduler, struct htw_scheduler_stats *stats) {
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

/* Adds the counters of a shard, the timers in its wheels, and its groups. Locks the shard. */
static void add_shard(struct htw__shard *shard, struct htw_scheduler_stats *stats,
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
    stats->memory_bytes +=
        htw__slab_bytes(&shard->slab) + htw__counter_read(&shard->attributes_bytes);
    htw__lock_release(&shard->lock);
}

static uint64_t own_bytes(const struct htw_scheduler *scheduler) {
    return sizeof(*scheduler) + scheduler->shard_count * sizeof(*scheduler->shards) +
           scheduler->expirer_count * sizeof(*scheduler->expirers) +
           htw__thread_count(scheduler) * sizeof(*scheduler->threads) +
           scheduler->batch_count * sizeof(*scheduler->batches) + htw__observation_bytes(scheduler);
}

struct gathered {
    struct htw_scheduler_stats stats;
    struct htw__histogram lateness, callback;
};

static void gather(struct htw_scheduler *scheduler, struct gathered *gathered) {
    struct htw_scheduler_stats *stats = &gathered->stats;
    uint64_t in_wheels = 0, groups = 0;
    add_runners(scheduler, stats);
    for (uint32_t n = 0; n <= htw__thread_count(scheduler); n++) {
        const struct htw__run_stats *run_stats = run_stats_at(scheduler, n);
        if (run_stats == NULL)
            continue;
        htw__histogram_merge(&gathered->lateness, &run_stats->lateness);
        htw__histogram_merge(&gathered->callback, &run_stats->duration);
        stats->memory_bytes += sizeof(*run_stats);
    }
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        add_shard(&scheduler->shards[i], stats, &in_wheels, &groups);
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

uint64_t htw_pending(const struct htw_scheduler *scheduler) {
    if (htw__scheduler_refusal(scheduler) != 0)
        return 0;
    struct htw_scheduler_stats stats = { 0 };
    uint64_t scheduled = 0, gone = 0;
    /* `scheduled` is read last, so that the difference is never negative. */
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        gone += htw__counter_read(&scheduler->shards[i].cancelled) +
                htw__counter_read(&scheduler->shards[i].handed_back);
    add_runners(scheduler, &stats);
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        scheduled += htw__counter_read(&scheduler->shards[i].scheduled);
    gone += stats.fired;
    return scheduled > gone ? scheduled - gone : 0;
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
    struct gathered *gathered = htw__allocate(&scheduler->allocator, sizeof(*gathered));
    if (gathered == NULL)
        return -ENOMEM;
    gathered->stats = (struct htw_scheduler_stats)HTW_SCHEDULER_STATS_INIT;
    htw__histogram_init(&gathered->lateness);
    htw__histogram_init(&gathered->callback);
    gather(scheduler, gathered);
    *stats = gathered->stats;
    if (histograms != NULL) {
        htw__histogram_copy(&gathered->lateness, histograms->lateness);
        htw__histogram_copy(&gathered->callback, histograms->callback);
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

/* ---- shards */

int htw__visit_shards(struct htw__visit *visit) {
    bool more = true;
    for (uint32_t i = 0; i < visit->scheduler->shard_count && more; i++) {
        struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
        uint64_t in_wheels = 0, groups = 0;
        add_shard(&visit->scheduler->shards[i], &stats, &in_wheels, &groups);
        union htw_visited visited = {
            .shard = {
                .scheduled = stats.scheduled,
                .cancelled = stats.cancelled,
                .moved = stats.moved,
                .demoted = stats.demoted,
                .in_wheels = in_wheels,
                .groups = groups,
                .memory_bytes = stats.memory_bytes,
            },
        };
        more = htw__visit_show(visit, &visited);
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* inspect.c - what tools show of a scheduler: its shards, and how full its wheels are. */
#include "../scheduler/shard.h"
#include "stats.h"
#include "visit.h"

#include <htw/wheel_inspect.h>

/* What is counted under a lock at a time: as many timers, or as many buckets. */
#define SLICE 64u

/* ---- shards */

int htw__visit_shards(struct htw__visit *visit) {
    bool more = true;
    for (uint32_t i = 0; i < visit->scheduler->shard_count && more; i++) {
        struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
        uint64_t in_wheels = 0, groups = 0;
        htw__stats_add_shard(&visit->scheduler->shards[i], &stats, &in_wheels, &groups);
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

/* ---- levels */

/* The number of levels of the wheel that has most; and of level `number`, which is the same in each wheel that
   has it, the logarithm of its width in ticks, and its buckets. */
static unsigned level_count(struct htw_scheduler *scheduler, unsigned number, unsigned *ret_shift,
                            uint32_t *ret_buckets) {
    unsigned most = 0;
    *ret_buckets = 0;
    for (uint32_t i = 0; i < scheduler->shard_count; i++) {
        struct htw__shard *shard = &scheduler->shards[i];
        struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
        htw__lock_acquire(&shard->lock);
        htw_wheel_get_stats(shard->own.wheel, &stats);
        uint32_t buckets = htw_wheel_level_buckets(shard->own.wheel, number);
        htw__lock_release(&shard->lock);
        *ret_shift = number * (unsigned)__builtin_ctz(stats.size);
        if (buckets > 0)
            *ret_buckets = buckets;
        if (stats.levels > most)
            most = stats.levels;
    }
    return most;
}

/* Adds the timers that a shard has in a level, with a bounded amount of work under each lock. Between
   two slices the wheel may change, or be replaced by another one. */
static void add_level(struct htw__shard *shard, unsigned number,
                      struct htw_scheduler_level *level) {
    uint32_t width = level->buckets / level->parts;
    for (uint32_t slot = 0; slot < level->buckets;) {
        size_t seen = 0;
        htw__lock_acquire(&shard->lock);
        for (uint32_t end = slot + SLICE; slot < level->buckets && slot < end && seen < SLICE;
             slot++) {
            size_t count = htw_wheel_count_in(shard->own.wheel, number, slot, 1, SLICE);
            level->timers[slot / width] += (uint32_t)count;
            seen += count;
        }
        htw__lock_release(&shard->lock);
    }
}

/* False: there is no such level. */
static bool count_level(struct htw_scheduler *scheduler, unsigned number,
                        struct htw_scheduler_level *level) {
    unsigned shift;
    uint32_t buckets;
    if (number >= level_count(scheduler, number, &shift, &buckets))
        return false; /* from here on the level exists, and `shift` is less than 64 */
    uint64_t now_tick = htw__tick_at(scheduler, htw__now_ns(scheduler));
    *level = (struct htw_scheduler_level) {
        .bucket_ns = htw__tick_ns(scheduler, (uint64_t)1 << shift),
        .buckets = buckets,
        .parts = buckets < HTW_LEVEL_PARTS ? buckets : HTW_LEVEL_PARTS,
    };
    level->clock_part = (uint32_t)((now_tick >> shift) % buckets) / (buckets / level->parts);
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        add_level(&scheduler->shards[i], number, level);
    return true;
}

int htw__visit_levels(struct htw__visit *visit) {
    union htw_visited visited;
    bool more = true;
    for (unsigned number = 0; more; number++)
        more = count_level(visit->scheduler, number, &visited.level) &&
               htw__visit_show(visit, &visited);
    return 0;
}

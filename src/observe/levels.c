/* SPDX-License-Identifier: MIT */
/* levels.c - how full the levels of wheels are. */
#include "levels.h"

#include "../scheduler/shard.h"
#include "visit.h"

#include <htw/wheel_inspect.h>

/* What is counted at a time: as many timers, or as many buckets. */
#define SLICE 64u

bool htw__level_begin(struct htw_scheduler_level *level, const struct htw_wheel *wheel,
                      unsigned number, int64_t tick_ns, uint64_t clock) {
    uint32_t buckets = htw_wheel_level_buckets(wheel, number);
    if (buckets == 0)
        return false;
    uint32_t parts = buckets < HTW_LEVEL_PARTS ? buckets : HTW_LEVEL_PARTS;
    unsigned shift = number * htw__lowest_bit(htw_wheel_level_buckets(wheel, 0));
    *level = (struct htw_scheduler_level) {
        .buckets = buckets,
        .parts = parts,
        .clock_part = (uint32_t)((clock >> shift) % buckets) / (buckets / parts),
    };
    if (__builtin_mul_overflow(tick_ns, (uint64_t)1 << shift, &level->bucket_ns))
        level->bucket_ns = HTW_NEVER_NS;
    return true;
}

uint32_t htw__level_add(struct htw_scheduler_level *level, const struct htw_wheel *wheel,
                        unsigned number, uint32_t bucket) {
    const uint32_t width = level->buckets / level->parts, end = bucket + SLICE;
    size_t seen = 0;
    for (; bucket < level->buckets && bucket < end && seen < SLICE; bucket++) {
        size_t count = htw_wheel_count_in(wheel, number, bucket, 1, SLICE);
        level->timers[bucket / width] += (uint32_t)count;
        seen += count;
    }
    return bucket;
}

/* ---- of a scheduler */

/* Between two slices the wheel may change, or be replaced by another one. */
static void add_shard(struct htw__shard *shard, unsigned number,
                      struct htw_scheduler_level *level) {
    for (uint32_t bucket = 0; bucket < level->buckets;) {
        htw__lock_acquire(&shard->lock);
        bucket = htw__level_add(level, shard->own.wheel, number, bucket);
        htw__lock_release(&shard->lock);
    }
}

/* False: there is no such level. */
static bool count_level(struct htw_scheduler *scheduler, unsigned number,
                        struct htw_scheduler_level *level) {
    uint64_t clock = htw__tick_at(scheduler, htw__now_ns(scheduler));
    bool exists = false;
    for (uint32_t i = 0; i < scheduler->shard_count && !exists; i++) {
        struct htw__shard *shard = &scheduler->shards[i];
        htw__lock_acquire(&shard->lock);
        exists = htw__level_begin(level, shard->own.wheel, number, (int64_t)scheduler->tick.value,
                                  clock);
        htw__lock_release(&shard->lock);
    }
    for (uint32_t i = 0; i < scheduler->shard_count && exists; i++)
        add_shard(&scheduler->shards[i], number, level);
    return exists;
}

int htw__visit_levels(struct htw__visit *visit) {
    union htw_visited visited;
    bool more = true;
    for (unsigned number = 0; more; number++)
        more = count_level(visit->scheduler, number, &visited.level) &&
               htw__visit_show(visit, &visited);
    return 0;
}

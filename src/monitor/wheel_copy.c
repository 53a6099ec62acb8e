/* SPDX-License-Identifier: MIT */
/* wheel_copy.c - copies what is shown of a wheel. */
#include "wheel_copy.h"

#include "../base/clock.h"

/* Timers that are counted in a bucket. */
#define BUCKET_MOST 64u

static void copy_level(struct htw__lent_wheel *lent, unsigned number) {
    struct htw_scheduler_level *level = &lent->levels[number];
    unsigned shift = number * (unsigned)__builtin_ctz(lent->stats.size);
    uint32_t buckets = htw_wheel_level_buckets(lent->wheel, number);
    level->buckets = buckets;
    level->parts = buckets < HTW_LEVEL_PARTS ? buckets : HTW_LEVEL_PARTS;
    uint32_t width = buckets / level->parts;
    level->clock_part = ((uint32_t)(lent->clock >> shift) & (buckets - 1)) / width;
    if (__builtin_mul_overflow(lent->tick_ns, (uint64_t)1 << shift, &level->bucket_ns))
        level->bucket_ns = HTW_NEVER_NS;
    for (uint32_t part = 0; part < level->parts; part++) {
        size_t count = 0;
        for (uint32_t slot = part * width; slot < (part + 1) * width; slot++)
            count += htw_wheel_count_in(lent->wheel, number, slot, 1, BUCKET_MOST);
        level->timers[part] = (uint32_t)count;
    }
}

void htw__wheel_copy_take(struct htw__lent_wheel *lent) {
    lent->is_wanted = false;
    lent->copied_ns = htw__clock_monotonic_ns();
    htw_wheel_stats_init(&lent->stats);
    (void)htw_wheel_get_stats(lent->wheel, &lent->stats); /* the arguments are right */
    lent->clock = htw_wheel_now(lent->wheel);
    lent->level_count =
        lent->stats.levels < HTW__LEVELS_SHOWN ? lent->stats.levels : HTW__LEVELS_SHOWN;
    for (unsigned number = 0; number < lent->level_count; number++)
        copy_level(lent, number);
}

/* SPDX-License-Identifier: MIT */
/* wheel_copy.c - copies what is shown of a wheel. */
#include "wheel_copy.h"

#include "../base/clock.h"

/* Timers that are counted in a bucket. */
#define BUCKET_MOST 64u

static void copy_level(struct htw__lent_wheel *lent, unsigned level) {
    lent->buckets[level] = htw_wheel_level_buckets(lent->wheel, level);
    uint32_t parts = htw__wheel_copy_parts(lent, level);
    uint32_t width = lent->buckets[level] / parts;
    for (uint32_t part = 0; part < parts; part++) {
        size_t count = 0;
        for (uint32_t slot = part * width; slot < (part + 1) * width; slot++)
            count += htw_wheel_count_in(lent->wheel, level, slot, 1, BUCKET_MOST);
        lent->timers[level][part] = (uint16_t)count;
    }
}

void htw__wheel_copy_take(struct htw__lent_wheel *lent) {
    lent->is_wanted = false;
    lent->copied_ns = htw__clock_monotonic_ns();
    htw_wheel_stats_init(&lent->stats);
    (void)htw_wheel_get_stats(lent->wheel, &lent->stats); /* the arguments are right */
    lent->clock = htw_wheel_now(lent->wheel);
    for (unsigned level = 0; level < htw__wheel_copy_levels(lent); level++)
        copy_level(lent, level);
}

void htw__wheel_copy_refresh(struct htw__lent_wheel *lent) {
    if (lent->is_lent)
        htw__wheel_copy_take(lent);
    else
        lent->is_wanted = true;
}

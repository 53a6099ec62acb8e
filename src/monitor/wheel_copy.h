/* SPDX-License-Identifier: MIT */
/* wheel_copy.h - what is shown of a wheel that is lent now and then. */
#ifndef HTW_SRC_MONITOR_WHEEL_COPY_H
#define HTW_SRC_MONITOR_WHEEL_COPY_H

#include "state.h"

/* How many levels are shown, and into how many parts one is divided. Under the mutex. */
static inline unsigned htw__wheel_copy_levels(const struct htw__lent_wheel *lent) {
    return lent->stats.levels < HTW__LEVELS_SHOWN ? lent->stats.levels : HTW__LEVELS_SHOWN;
}

static inline uint32_t htw__wheel_copy_parts(const struct htw__lent_wheel *lent, unsigned level) {
    return lent->buckets[level] < HTW_LEVEL_PARTS ? lent->buckets[level] : HTW_LEVEL_PARTS;
}

/* Copies the state of the wheel. By its owner or, while it is lent, by the monitor. Under the mutex. */
void htw__wheel_copy_take(struct htw__lent_wheel *lent);

/* The same if it is lent; otherwise asks the owner for it. Under the mutex. */
void htw__wheel_copy_refresh(struct htw__lent_wheel *lent);

#endif /* HTW_SRC_MONITOR_WHEEL_COPY_H */

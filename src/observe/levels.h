/* SPDX-License-Identifier: MIT */
/* levels.h - how full a level of a wheel is. */
#ifndef HTW_SRC_OBSERVE_LEVELS_H
#define HTW_SRC_OBSERVE_LEVELS_H

#include "../base/compiler.h"

#include <htw/observe.h>
#include <htw/wheel.h>

/* Sets a level to one without timers. `clock`: the present tick. False: the wheel does not have the level. */
HTW__SHARED bool htw__level_begin(struct htw_scheduler_level *level, const struct htw_wheel *wheel,
                                  unsigned number, int64_t tick_ns, uint64_t clock);

/* Adds the timers of the wheel in the buckets from `bucket` on: a bounded amount of work. Returns the bucket after
   these. */
HTW__SHARED uint32_t htw__level_add(struct htw_scheduler_level *level,
                                    const struct htw_wheel *wheel, unsigned number,
                                    uint32_t bucket);

#endif /* HTW_SRC_OBSERVE_LEVELS_H */

/* SPDX-License-Identifier: MIT */
/* collect.h - takes due timers from the wheels. */
#ifndef HTW_SRC_SCHEDULER_COLLECT_H
#define HTW_SRC_SCHEDULER_COLLECT_H

#include "shard.h"
#include "work_queue.h"

/*
 * Takes up to `max` timers that are due at `now_ns`, by the clock of the clockwork, into the batch, as
 * QUEUED and in order; `max` is at most HTW__SLICE. Returns whether more may be due; if not, wake_tick is up to
 * date.
 *
 * For the expirer, not under the lock.
 */
bool htw__collect(struct htw__expirer *expirer, struct htw__clockwork *clockwork, int64_t now_ns,
                  struct htw__batch *batch, uint32_t max);

#endif /* HTW_SRC_SCHEDULER_COLLECT_H */

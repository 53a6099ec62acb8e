/* SPDX-License-Identifier: MIT */
/* wake.h - when an expirer wakes up: its alarm, and who sets it. */
#ifndef HTW_SRC_SCHEDULER_WAKE_H
#define HTW_SRC_SCHEDULER_WAKE_H

#include "state.h"

/* How long the expirer lets records lie that are to be freed. */
#define HTW__CLEANUP_DELAY_NS (50 * HTW_MILLISECOND)

/* The expirer that serves a shard. */
static inline struct htw__expirer *htw__expirer_of(const struct htw__shard *shard) {
    const struct htw_scheduler *scheduler = shard->scheduler;
    uint32_t count = scheduler->expirer_count;
    return &scheduler->expirers[count == 1 ? 0 : shard->index % count];
}

/* Creates the alarm of an expirer, if the clock of its scheduler needs one. 0 or a negative errno.
 */
int htw__wake_init(struct htw__expirer *expirer);

/* Wakes an expirer up at an instant, unless it wakes up earlier. No lock is held. */
void htw__wake_at(struct htw__expirer *expirer, int64_t at_ns);

/* Makes an expirer clean up soon. No lock is held. */
void htw__wake_for_cleanup(struct htw__expirer *expirer);

#endif /* HTW_SRC_SCHEDULER_WAKE_H */

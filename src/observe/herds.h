/* SPDX-License-Identifier: MIT */
/* herds.h - how many timers were due at each tick of the last minute: the ticks with most of them. */
#ifndef HTW_SRC_OBSERVE_HERDS_H
#define HTW_SRC_OBSERVE_HERDS_H

#include "../scheduler/observe.h"
#include "observer.h"

struct htw__herd {
    int64_t at_ns; /* when its tick begins, by the clock of the scheduler */
    uint64_t timers;
    htw__origin origin; /* of the first */
};

/* Of an expirer. Under the mutex of the observation. False: no memory. */
bool htw__observer_add_herds(struct htw__observer *observer);

/* Counts the timers of a batch, which were due. In the role of the expirer. */
void htw__herds_add(struct htw__observer *observer, const struct htw__clockwork *clockwork,
                    const struct htw__batch *batch);

/* Adds the herds of the minute before `now_ns` to a list, the greatest first; `*count`, of at most
   HTW_HERDS_MAX, is how many it has. */
void htw__herds_list(const struct htw__observer *observer, int64_t now_ns, struct htw__herd *list,
                     uint32_t *count);

#endif /* HTW_SRC_OBSERVE_HERDS_H */

/* SPDX-License-Identifier: MIT */
/* poll.h - what a call of poll has done and may still do: for poll.c and fifo.c. */
#ifndef HTW_SRC_WHEEL_POLL_H
#define HTW_SRC_WHEEL_POLL_H

#include "state.h"

struct htw__poll {
    struct htw_timer **timers;
    size_t count;
    size_t max;
    size_t budget; /* steps that remain */
};

static inline bool htw__poll_is_over(const struct htw__poll *poll) {
    return poll->count == poll->max || poll->budget == 0;
}

/* The bucket at the top of the delay queue. */
struct htw__top {
    uint64_t key;
    unsigned level;
    struct htw__bucket bucket;
};

/* With strict FIFO: empties the bucket at the top, which is above level 0, or continues to. fifo.c */
void htw__fifo_empty_bucket(struct htw_wheel *wheel, const struct htw__top *top,
                            struct htw__poll *batch);

/* With strict FIFO: fetches into the cache what will expire at `tick` and soon after. fifo.c */
void htw__fifo_fetch(struct htw_wheel *wheel, uint64_t tick, size_t budget);

#endif /* HTW_SRC_WHEEL_POLL_H */

/* SPDX-License-Identifier: MIT */
/* waiting.h - the requests that wait on a threshold. */
#ifndef HTW_SRC_PURGATORY_WAITING_H
#define HTW_SRC_PURGATORY_WAITING_H

#include "state.h"
#include "value_tree.h"

struct htw_threshold {
    alignas(HTW__CACHE_LINE) struct htw__lock lock; /* guards the members up to `purgatory` */
    bool closed;
    uint64_t value;
    struct htw__outstanding outstanding; /* requests in the tree, or taken out and not released */
    struct htw__value_tree waiting;
    struct htw_purgatory *purgatory;
    struct htw__purgatory_shard *shard; /* in which its requests are counted */
    struct htw__link link;              /* in a ring of the purgatory, under its lock */
};

/* The requests that a call ends: those that wait for `last_value` or less, and arrived no later
   than `last_arrival`, since hooks may add more. */
struct htw__threshold_walk {
    uint64_t last_value, last_arrival;
    uint64_t value, arrival; /* the walk continues after these */
    uint32_t mark;           /* for busy requests: one of HTW__REQUEST_FORCED */
    int64_t marked;          /* busy requests that this walk has marked */
};

/* Adds a request, unless the value has been reached already (`*ret_reached`). 0 or -ESHUTDOWN. The
   owner only. */
int htw__threshold_link(struct htw_threshold *threshold, struct htw_request *request,
                        uint64_t value, bool *ret_reached);

/* Removes a request, and counts that: an enum htw_reason or HTW__NO_REASON. The owner only. */
void htw__threshold_unlink(struct htw_request *request, int reason);

/* Owns the next request of a walk. Busy ones are marked. Each is removed from the tree. NULL: the
   walk has ended. */
struct htw_request *htw__threshold_next(struct htw_threshold *threshold,
                                        struct htw__threshold_walk *walk);

/* Closes the threshold, and owns any request of it, as htw__threshold_next(). Adds the number of
   requests that it has marked to `*marked`. */
struct htw_request *htw__threshold_close_next(struct htw_threshold *threshold, int64_t *marked);

#endif /* HTW_SRC_PURGATORY_WAITING_H */

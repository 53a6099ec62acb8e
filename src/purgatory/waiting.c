/* SPDX-License-Identifier: MIT */
/* waiting.c - the requests that wait on a threshold: adds, removes and visits them. */
#include "waiting.h"

#include "owner.h"
#include "shard.h"

/* How many requests are visited under one lock. */
#define BUDGET 16u

static struct htw_request *request_of(struct htw__threshold_node *waiting) {
    return HTW_CONTAINER_OF(waiting, struct htw_request, _place._on_threshold._node);
}

int htw__threshold_link(struct htw_threshold *threshold, struct htw_request *request,
                        uint64_t value, bool *ret_reached) {
    request->_place._on_threshold._threshold = threshold;
    htw__lock_acquire(&threshold->lock);
    bool closed = threshold->closed;
    *ret_reached = value <= threshold->value;
    if (!closed && !*ret_reached) {
        htw__value_tree_add(&threshold->waiting, &request->_place._on_threshold._node, value);
        (void)htw__outstanding_add(&threshold->outstanding); /* it is never closed */
    }
    htw__lock_release(&threshold->lock);
    return closed ? -ESHUTDOWN : 0;
}

void htw__threshold_unlink(struct htw_request *request, int reason) {
    struct htw_threshold *threshold = request->_place._on_threshold._threshold;
    struct htw__purgatory_shard *shard = threshold->shard;
    htw__lock_acquire(&shard->lock);
    htw__purgatory_shard_uncount(shard, request, reason);
    htw__lock_release(&shard->lock);
    htw__lock_acquire(&threshold->lock);
    htw__value_tree_remove(&threshold->waiting, &request->_place._on_threshold._node);
    htw__lock_release(&threshold->lock);
    if (reason == HTW__NO_REASON)
        htw__outstanding_remove(&threshold->outstanding);
}

/* As htw__threshold_next(), for at most BUDGET requests. NULL: `*ret_more`, or the walk has ended.
   Under the lock. */
static struct htw_request *next_of_some(struct htw_threshold *threshold,
                                        struct htw__threshold_walk *walk, bool *ret_more) {
    bool marked;
    *ret_more = true;
    for (unsigned steps = 0; steps < BUDGET; steps++) {
        struct htw__threshold_node *waiting =
            htw__value_tree_after(&threshold->waiting, walk->value, walk->arrival);
        if (waiting == NULL || waiting->_value > walk->last_value) {
            *ret_more = false;
            break;
        }
        walk->value = waiting->_value;
        walk->arrival = waiting->_arrival;
        if (waiting->_arrival > walk->last_arrival)
            continue;
        htw__value_tree_remove(&threshold->waiting, waiting);
        if (htw__request_own_to_end(request_of(waiting), walk->mark, &marked))
            return request_of(waiting);
        walk->marked += marked;
    }
    return NULL;
}

struct htw_request *htw__threshold_next(struct htw_threshold *threshold,
                                        struct htw__threshold_walk *walk) {
    struct htw_request *request = NULL;
    bool more = true;
    while (request == NULL && more) {
        htw__lock_acquire(&threshold->lock);
        request = next_of_some(threshold, walk, &more);
        htw__lock_release(&threshold->lock);
    }
    return request;
}

struct htw_request *htw__threshold_close_next(struct htw_threshold *threshold, int64_t *marked) {
    struct htw__threshold_walk walk = { UINT64_MAX, UINT64_MAX, .mark = HTW__REQUEST_CLOSE };
    htw__lock_acquire(&threshold->lock);
    threshold->closed = true;
    htw__lock_release(&threshold->lock);
    struct htw_request *request = htw__threshold_next(threshold, &walk);
    *marked += walk.marked;
    return request;
}

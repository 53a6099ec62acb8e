/* SPDX-License-Identifier: MIT */
/* threshold.c - thresholds: values that rise, and the requests that wait until they are reached. */
#include "../purgatory/condition.h"
#include "../purgatory/end.h"
#include "../purgatory/owner.h"
#include "value_tree.h"

#include <htw/threshold.h>

/* How many requests are visited under one lock. */
#define BUDGET 16u

struct htw_threshold {
    alignas(HTW__CACHE_LINE) struct htw__lock lock; /* guards the members up to `condition` */
    bool closed;
    uint64_t value;
    struct htw__value_tree waiting;
    struct htw__condition condition;
};

/* As the header and the documents say. tests/api/docs.py reads the number here. */
_Static_assert(HTW__IS_OF_SIZE(sizeof(struct htw_threshold) == 128), "a threshold");

static struct htw_purgatory *purgatory_of(const struct htw_threshold *threshold) {
    return threshold->condition.purgatory;
}

/* ---- ending requests */

/* The requests that a call ends: those that wait for `last_value` or less, and have arrived when the
   call begins, since hooks may add more. */
struct range {
    uint64_t last_value;
    uint64_t last_arrival;   /* 0: it has not begun */
    uint64_t value, arrival; /* what follows is behind these */
    uint32_t mark;           /* for busy requests: one of HTW__REQUEST_FORCED */
    int64_t marked;          /* how many it has marked */
};

static struct htw_request *request_of(struct htw__threshold_node *waiting) {
    return HTW_CONTAINER_OF(waiting, struct htw_request, _place._on_threshold._node);
}

/* As next_request(), for at most BUDGET requests. NULL: `*ret_more`, or there is none. Under the
   lock. */
static struct htw_request *next_of_some(struct htw_threshold *threshold, struct range *range,
                                        bool *ret_more) {
    bool marked;
    *ret_more = true;
    if (range->last_arrival == 0)
        range->last_arrival = threshold->waiting.arrivals;
    for (unsigned steps = 0; steps < BUDGET; steps++) {
        struct htw__threshold_node *waiting =
            htw__value_tree_after(&threshold->waiting, range->value, range->arrival);
        if (waiting == NULL || waiting->_value > range->last_value) {
            *ret_more = false;
            break;
        }
        HTW_ASSERT_REQUEST(request_of(waiting), purgatory_of(threshold));
        range->value = waiting->_value;
        range->arrival = waiting->_arrival;
        if (waiting->_arrival > range->last_arrival)
            continue;
        htw__value_tree_remove(&threshold->waiting, waiting);
        if (htw__request_own_to_end(request_of(waiting), range->mark, &marked))
            return request_of(waiting);
        range->marked += marked;
    }
    return NULL;
}

/* Owns the next request of a range. Busy ones are marked. Each is removed from the tree. NULL: there is none. */
static struct htw_request *next_request(struct htw_threshold *threshold, struct range *range) {
    struct htw_request *request = NULL;
    bool more = true;
    while (request == NULL && more) {
        htw__lock_acquire(&threshold->lock);
        request = next_of_some(threshold, range, &more);
        htw__lock_release(&threshold->lock);
    }
    return request;
}

/* Ends the requests that wait for `last_value` or less. Returns how many, marked ones included. */
static int64_t end_up_to(struct htw__frame *frame, struct htw_threshold *threshold,
                         uint64_t last_value, enum htw_reason reason) {
    struct range range = { .last_value = last_value, .mark = htw__request_mark(reason) };
    int64_t ended = 0;
    htw__frame_push(frame, purgatory_of(threshold));
    for (struct htw_request *request; (request = next_request(threshold, &range)) != NULL; ended++)
        htw__request_end(frame, request, reason);
    htw__frame_pop(frame);
    return ended + range.marked;
}

/* ---- as a condition */

static struct htw_threshold *threshold_of(struct htw__condition *condition) {
    return HTW_CONTAINER_OF(condition, struct htw_threshold, condition);
}

static int link_request(struct htw__condition *condition, struct htw_request *request,
                        uint64_t value) {
    struct htw_threshold *threshold = threshold_of(condition);
    int result = 0;
    htw__lock_acquire(&threshold->lock);
    if (threshold->closed)
        result = -ESHUTDOWN;
    else if (value <= threshold->value)
        result = HTW_FINISHED;
    else
        htw__value_tree_add(&threshold->waiting, &request->_place._on_threshold._node, value);
    htw__lock_release(&threshold->lock);
    return result;
}

static void unlink_request(struct htw__condition *condition, struct htw_request *request) {
    struct htw_threshold *threshold = threshold_of(condition);
    htw__lock_acquire(&threshold->lock);
    htw__value_tree_remove(&threshold->waiting, &request->_place._on_threshold._node);
    htw__lock_release(&threshold->lock);
}

static void close_threshold(struct htw_threshold *threshold) {
    htw__lock_acquire(&threshold->lock);
    threshold->closed = true;
    htw__lock_release(&threshold->lock);
}

static int64_t close_condition(struct htw__condition *condition, struct htw__frame *frame) {
    struct htw_threshold *threshold = threshold_of(condition);
    struct htw__frame inner = *frame;
    close_threshold(threshold);
    return end_up_to(&inner, threshold, UINT64_MAX, HTW_REASON_CLOSED);
}

/* ---- creating and destroying */

int htw_threshold_create(struct htw_purgatory *purgatory, uint64_t initial,
                         struct htw_threshold **ret_threshold) {
    static const struct htw__condition_type type = { link_request, unlink_request,
                                                     close_condition };
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    if (ret_threshold == NULL)
        return -EINVAL;
    struct htw_threshold *threshold = htw__allocate(&purgatory->allocator, sizeof(*threshold));
    if (threshold == NULL)
        return -ENOMEM;
    *threshold = (struct htw_threshold) { .value = initial, .waiting.seed = purgatory->seed };
    htw__lock_init(&threshold->lock, HTW__RANK_THRESHOLD);
    int error = htw__condition_init(&threshold->condition, &type, purgatory, sizeof(*threshold));
    if (error != 0) {
        htw__release(&purgatory->allocator, threshold, sizeof(*threshold));
        return error;
    }
    *ret_threshold = threshold;
    return 0;
}

int htw_threshold_destroy(struct htw_threshold *threshold) {
    if (threshold == NULL)
        return 0;
    struct htw_purgatory *purgatory = purgatory_of(threshold);
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    if (htw__frame_is_inside(purgatory))
        return -EDEADLK;
    struct htw__frame frame = { 0 };
    close_threshold(threshold);
    (void)end_up_to(&frame, threshold, UINT64_MAX, HTW_REASON_CLOSED);
    htw__condition_fini(&threshold->condition, sizeof(*threshold));
    htw__release(&purgatory->allocator, threshold, sizeof(*threshold));
    return 0;
}

/* ---- the other calls */

static int refusal_of(const struct htw_threshold *threshold) {
    return threshold == NULL ? -EINVAL : htw__purgatory_refusal(purgatory_of(threshold));
}

int htw_threshold_await(struct htw_threshold *threshold, struct htw_request *request,
                        uint64_t value, int64_t timeout_ns) {
    int refusal = refusal_of(threshold);
    if (refusal != 0)
        return refusal;
    if (request == NULL)
        return -EINVAL;
    return htw__request_submit(&threshold->condition, request, value, timeout_ns);
}

int64_t htw_threshold_advance(struct htw_threshold *threshold, uint64_t value) {
    int refusal = refusal_of(threshold);
    if (refusal != 0)
        return refusal;
    struct htw__frame frame = { 0 };
    htw__lock_acquire(&threshold->lock);
    bool is_higher = value > threshold->value;
    if (is_higher)
        threshold->value = value;
    htw__lock_release(&threshold->lock);
    return is_higher ? end_up_to(&frame, threshold, value, HTW_REASON_COMPLETED) : 0;
}

int htw_threshold_lower(struct htw_threshold *threshold, uint64_t value) {
    int refusal = refusal_of(threshold);
    if (refusal != 0)
        return refusal;
    htw__lock_acquire(&threshold->lock);
    if (value < threshold->value)
        threshold->value = value;
    htw__lock_release(&threshold->lock);
    return 0;
}

int64_t htw_threshold_end_all(struct htw_threshold *threshold, enum htw_reason reason,
                              htw_request_visitor *visitor, void *context) {
    int refusal = refusal_of(threshold);
    if (refusal != 0)
        return refusal;
    if ((unsigned)reason > HTW_REASON_CLOSED || reason == HTW_REASON_EXPIRED)
        return -EINVAL;
    struct htw__frame frame = { .visitor = visitor, .visitor_context = context };
    return end_up_to(&frame, threshold, UINT64_MAX, reason);
}

uint64_t htw_threshold_value(struct htw_threshold *threshold) {
    if (refusal_of(threshold) != 0)
        return 0;
    htw__lock_acquire(&threshold->lock);
    uint64_t value = threshold->value;
    htw__lock_release(&threshold->lock);
    return value;
}

/* SPDX-License-Identifier: MIT */
/* threshold.c - creates, changes and destroys thresholds: values on which requests wait. submit.c adds
   requests. */
#include "end.h"
#include "owner.h"

/* How many requests are visited under one lock. */
#define BUDGET 16u

/* ---- creating */

static struct htw_threshold *threshold_of(struct htw__link *link) {
    return HTW_CONTAINER_OF(link, struct htw_threshold, link);
}

/* -ESHUTDOWN if the purgatory was closed: no call would close the threshold. */
static int enlist(struct htw_purgatory *purgatory, struct htw_threshold *threshold) {
    htw__lock_acquire(&purgatory->lock);
    /* order: A hint; closing takes the same lock afterwards. */
    bool closed = atomic_load_explicit(&purgatory->closed, memory_order_relaxed);
    if (!closed) {
        htw__ring_push_front(&purgatory->thresholds, &threshold->link);
        purgatory->threshold_count++;
    }
    htw__lock_release(&purgatory->lock);
    return closed ? -ESHUTDOWN : 0;
}

static void release_threshold(struct htw_threshold *threshold) {
    htw__release(&threshold->purgatory->allocator, threshold, sizeof(*threshold));
}

int htw_threshold_create(struct htw_purgatory *purgatory, uint64_t initial,
                         struct htw_threshold **ret_threshold) {
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    if (ret_threshold == NULL)
        return -EINVAL;
    struct htw_threshold *threshold = htw__allocate(&purgatory->allocator, sizeof(*threshold));
    if (threshold == NULL)
        return -ENOMEM;
    *threshold = (struct htw_threshold) { .purgatory = purgatory, .value = initial };
    threshold->waiting.seed = purgatory->seed;
    htw__lock_init(&threshold->lock, HTW__RANK_THRESHOLD);
    int error = enlist(purgatory, threshold);
    if (error != 0) {
        release_threshold(threshold);
        return error;
    }
    *ret_threshold = threshold;
    return 0;
}

/* ---- ending requests */

/* The requests that a call ends: those that wait for `last_value` or less, and have arrived when the
   walk begins, since hooks may add more. */
struct walk {
    uint64_t last_value;
    uint64_t last_arrival;   /* 0: the walk has not begun */
    uint64_t value, arrival; /* the walk continues after these */
    uint32_t mark;           /* for busy requests: one of HTW__REQUEST_FORCED */
    int64_t marked;          /* busy requests that this walk has marked */
};

static struct htw_request *request_of(struct htw__threshold_node *waiting) {
    return HTW_CONTAINER_OF(waiting, struct htw_request, _place._on_threshold._node);
}

/* As next_request(), for at most BUDGET requests. NULL: `*ret_more`, or the walk has ended. Under the
   lock. */
static struct htw_request *next_of_some(struct htw_threshold *threshold, struct walk *walk,
                                        bool *ret_more) {
    bool marked;
    *ret_more = true;
    if (walk->last_arrival == 0)
        walk->last_arrival = threshold->waiting.arrivals;
    for (unsigned steps = 0; steps < BUDGET; steps++) {
        struct htw__threshold_node *waiting =
            htw__value_tree_after(&threshold->waiting, walk->value, walk->arrival);
        if (waiting == NULL || waiting->_value > walk->last_value) {
            *ret_more = false;
            break;
        }
        HTW_ASSERT_REQUEST(request_of(waiting), threshold->purgatory);
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

/* Owns the next request of a walk. Busy ones are marked. Each is removed from the tree. NULL: the walk
   has ended. */
static struct htw_request *next_request(struct htw_threshold *threshold, struct walk *walk) {
    struct htw_request *request = NULL;
    bool more = true;
    while (request == NULL && more) {
        htw__lock_acquire(&threshold->lock);
        request = next_of_some(threshold, walk, &more);
        htw__lock_release(&threshold->lock);
    }
    return request;
}

/* Ends the requests that wait for `last_value` or less. Returns how many, marked ones included. */
static int64_t end_up_to(struct htw__frame *frame, struct htw_threshold *threshold,
                         uint64_t last_value, enum htw_reason reason) {
    struct walk walk = { .last_value = last_value, .mark = htw__request_mark(reason) };
    int64_t ended = 0;
    htw__frame_push(frame, threshold->purgatory);
    for (struct htw_request *request; (request = next_request(threshold, &walk)) != NULL; ended++)
        htw__request_end(frame, NULL, request, reason);
    htw__frame_pop(frame);
    return ended + walk.marked;
}

/* ---- the public calls */

static int refusal_of(const struct htw_threshold *threshold) {
    return threshold == NULL ? -EINVAL : htw__purgatory_refusal(threshold->purgatory);
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

/* ---- closing */

/* No request is accepted from now on. */
static void close_threshold(struct htw_threshold *threshold) {
    htw__lock_acquire(&threshold->lock);
    threshold->closed = true;
    htw__lock_release(&threshold->lock);
}

/* Closes thresholds until it owns a request of one. Adds the number of requests that it has marked to
   `*marked`. */
static struct htw_request *close_next(struct htw_purgatory *purgatory, int64_t *marked) {
    struct htw_request *request = NULL;
    htw__lock_acquire(&purgatory->lock);
    while (request == NULL && !htw__ring_is_empty(&purgatory->thresholds)) {
        struct htw_threshold *threshold = threshold_of(purgatory->thresholds._next);
        struct walk walk = { .last_value = UINT64_MAX, .mark = HTW__REQUEST_CLOSE };
        if (threshold->emptied)
            break;
        close_threshold(threshold);
        request = next_request(threshold, &walk);
        *marked += walk.marked;
        if (request == NULL) {
            threshold->emptied = true;
            htw__link_unlink(&threshold->link);
            htw__ring_push_back(&purgatory->thresholds, &threshold->link);
        }
    }
    htw__lock_release(&purgatory->lock);
    return request;
}

int64_t htw__thresholds_close(struct htw__frame *frame) {
    int64_t closed = 0, marked = 0;
    for (struct htw_request *request; (request = close_next(frame->purgatory, &marked)) != NULL;
         closed++)
        htw__request_end(frame, NULL, request, HTW_REASON_CLOSED);
    return closed + marked;
}

int htw_threshold_destroy(struct htw_threshold *threshold) {
    if (threshold == NULL)
        return 0;
    struct htw_purgatory *purgatory = threshold->purgatory;
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    if (htw__frame_is_inside(purgatory))
        return -EDEADLK;
    struct htw__frame frame = { 0 };
    close_threshold(threshold);
    (void)end_up_to(&frame, threshold, UINT64_MAX, HTW_REASON_CLOSED);
    htw__lock_acquire(&purgatory->lock);
    htw__link_unlink(&threshold->link);
    purgatory->threshold_count--;
    htw__lock_release(&purgatory->lock);
    /* Other threads may be in hooks of requests that have expired or were busy. */
    htw__outstanding_wait(&threshold->outstanding, NULL);
    release_threshold(threshold);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* threshold.c - creates, changes and destroys thresholds: values on which requests wait. */
#include "threshold.h"

#include "end.h"
#include "owner.h"
#include "shard.h"
#include "submit.h"
#include "waiting.h"

static struct htw_threshold *threshold_of(struct htw__link *link) {
    return HTW_CONTAINER_OF(link, struct htw_threshold, link);
}

/* -ESHUTDOWN if the purgatory was closed: no call would close the threshold. */
static int enlist(struct htw_purgatory *purgatory, struct htw_threshold *threshold) {
    htw__lock_acquire(&purgatory->lock);
    bool closed = atomic_load_explicit(&purgatory->closed, memory_order_relaxed);
    if (!closed) {
        htw__ring_push_back(&purgatory->thresholds, &threshold->link);
        threshold->shard =
            &purgatory->shards[purgatory->threshold_turn++ & (purgatory->shard_count - 1)];
    }
    htw__lock_release(&purgatory->lock);
    return closed ? -ESHUTDOWN : 0;
}

static void release_threshold(struct htw_threshold *threshold) {
    htw__lock_fini(&threshold->lock);
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
    htw__outstanding_init(&threshold->outstanding);
    int error = enlist(purgatory, threshold);
    if (error != 0) {
        release_threshold(threshold);
        return error;
    }
    *ret_threshold = threshold;
    return 0;
}

int htw_threshold_await(struct htw_threshold *threshold, struct htw_request *request,
                        uint64_t value, int64_t timeout_ns) {
    if (threshold == NULL || request == NULL)
        return -EINVAL;
    struct htw_purgatory *purgatory = threshold->purgatory;
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    struct htw__frame frame = { 0 };
    int error = htw__submit_begin(&frame, purgatory, request);
    if (error != 0)
        return error;
    struct htw__purgatory_shard *shard = threshold->shard;
    bool reached;
    error = htw__threshold_link(threshold, request, value, &reached);
    if (error == 0 && reached) {
        htw__request_set_done(request);
        return htw__submit_finish(&frame, request, HTW_REASON_COMPLETED);
    }
    if (error == 0) {
        htw__lock_acquire(&shard->lock);
        htw__purgatory_shard_count(shard, request, timeout_ns != HTW_NEVER_NS);
        htw__lock_release(&shard->lock);
        request->_flags |= HTW__REQUEST_ON_THRESHOLD;
    }
    return htw__submit_wait(&frame, request, timeout_ns, error);
}

/* Ends all requests of a walk. Returns how many, marked ones included. */
static int64_t end_walked(struct htw__frame *frame, struct htw_threshold *threshold,
                          struct htw__threshold_walk *walk, enum htw_reason reason) {
    int64_t ended = 0;
    htw__frame_push(frame, threshold->purgatory);
    for (struct htw_request *request; (request = htw__threshold_next(threshold, walk)) != NULL;
         ended++)
        htw__request_end(frame, request, reason);
    htw__frame_pop(frame);
    return ended + walk->marked;
}

int64_t htw_threshold_advance(struct htw_threshold *threshold, uint64_t value) {
    if (threshold == NULL)
        return -EINVAL;
    int refusal = htw__purgatory_refusal(threshold->purgatory);
    if (refusal != 0)
        return refusal;
    struct htw__frame frame = { 0 };
    struct htw__threshold_walk walk = { .last_value = value, .mark = HTW__REQUEST_COMPLETE };
    htw__lock_acquire(&threshold->lock);
    bool is_higher = value > threshold->value;
    if (is_higher)
        threshold->value = value;
    walk.last_arrival = threshold->waiting.arrivals;
    htw__lock_release(&threshold->lock);
    return is_higher ? end_walked(&frame, threshold, &walk, HTW_REASON_COMPLETED) : 0;
}

int htw_threshold_lower(struct htw_threshold *threshold, uint64_t value) {
    if (threshold == NULL)
        return -EINVAL;
    int refusal = htw__purgatory_refusal(threshold->purgatory);
    if (refusal != 0)
        return refusal;
    htw__lock_acquire(&threshold->lock);
    if (value < threshold->value)
        threshold->value = value;
    htw__lock_release(&threshold->lock);
    return 0;
}

/* The mark that ends a request for this reason; 0: no call of the user ends one for it. */
static uint32_t mark_of(enum htw_reason reason) {
    switch (reason) {
    case HTW_REASON_COMPLETED:
        return HTW__REQUEST_COMPLETE;
    case HTW_REASON_CANCELLED:
        return HTW__REQUEST_CANCEL;
    case HTW_REASON_CLOSED:
        return HTW__REQUEST_CLOSE;
    case HTW_REASON_EXPIRED:
        break;
    }
    return 0;
}

int64_t htw_threshold_end_all(struct htw_threshold *threshold, enum htw_reason reason,
                              htw_request_visitor *visitor, void *context) {
    uint32_t mark = mark_of(reason);
    if (threshold == NULL || mark == 0)
        return -EINVAL;
    int refusal = htw__purgatory_refusal(threshold->purgatory);
    if (refusal != 0)
        return refusal;
    struct htw__frame frame = { .visitor = visitor, .visitor_context = context };
    struct htw__threshold_walk walk = { .last_value = UINT64_MAX, .mark = mark };
    htw__lock_acquire(&threshold->lock);
    walk.last_arrival = threshold->waiting.arrivals;
    htw__lock_release(&threshold->lock);
    return end_walked(&frame, threshold, &walk, reason);
}

uint64_t htw_threshold_value(struct htw_threshold *threshold) {
    if (threshold == NULL || htw__purgatory_refusal(threshold->purgatory) != 0)
        return 0;
    htw__lock_acquire(&threshold->lock);
    uint64_t value = threshold->value;
    htw__lock_release(&threshold->lock);
    return value;
}

/* Owns any request of any threshold. A threshold without requests moves to the closed ones. */
static struct htw_request *close_next(struct htw_purgatory *purgatory, int64_t *marked) {
    struct htw_request *request = NULL;
    htw__lock_acquire(&purgatory->lock);
    while (request == NULL && !htw__ring_is_empty(&purgatory->thresholds)) {
        struct htw__link *link = purgatory->thresholds._next;
        request = htw__threshold_close_next(threshold_of(link), marked);
        if (request == NULL) {
            htw__link_unlink(link);
            htw__ring_push_back(&purgatory->closed_thresholds, link);
        }
    }
    htw__lock_release(&purgatory->lock);
    return request;
}

int64_t htw__thresholds_close(struct htw__frame *frame) {
    int64_t closed = 0, marked = 0;
    for (struct htw_request *request; (request = close_next(frame->purgatory, &marked)) != NULL;
         closed++)
        htw__request_end(frame, request, HTW_REASON_CLOSED);
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
    int64_t marked = 0;
    htw__frame_push(&frame, purgatory);
    for (struct htw_request *request;
         (request = htw__threshold_close_next(threshold, &marked)) != NULL;)
        htw__request_end(&frame, request, HTW_REASON_CLOSED);
    htw__frame_pop(&frame);
    htw__lock_acquire(&purgatory->lock);
    htw__link_unlink(&threshold->link);
    htw__lock_release(&purgatory->lock);
    /* Other threads may be in hooks of requests that have expired or were busy. */
    htw__outstanding_wait(&threshold->outstanding, NULL);
    release_threshold(threshold);
    return 0;
}

static uint64_t ring_bytes(const struct htw__link *ring) {
    uint64_t bytes = 0;
    for (struct htw__link *link = ring->_next; link != ring; link = link->_next)
        bytes += sizeof(struct htw_threshold);
    return bytes;
}

uint64_t htw__thresholds_memory(struct htw_purgatory *purgatory) {
    htw__lock_acquire(&purgatory->lock);
    uint64_t bytes = ring_bytes(&purgatory->thresholds) + ring_bytes(&purgatory->closed_thresholds);
    htw__lock_release(&purgatory->lock);
    return bytes;
}

bool htw__thresholds_exist(struct htw_purgatory *purgatory) {
    htw__lock_acquire(&purgatory->lock);
    bool exist = !htw__ring_is_empty(&purgatory->thresholds) ||
                 !htw__ring_is_empty(&purgatory->closed_thresholds);
    htw__lock_release(&purgatory->lock);
    return exist;
}

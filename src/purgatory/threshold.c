/* SPDX-License-Identifier: MIT */
/* threshold.c - requests that wait until a value is reached. */
#include "threshold.h"

#include "request.h"
#include "submit.h"

#include <errno.h>
#include <time.h>

/* How many requests are visited at most before the lock is given back. */
#define BUDGET 16u

/* How long destroy sleeps between two looks at whether hooks have returned. */
#define NAP_NS 50000L

/* The requests of a threshold that a call ends: those that wait for `last_value` or less and came
   no later than `last_arrival`. Hooks can add requests for ever; these are left alone. */
struct sweep {
    uint64_t last_value, last_arrival;
    uint64_t value, arrival; /* the sweep goes on behind these */
    uint32_t mark;           /* one of HTW__REQUEST_FORCED, for those that are busy */
    int64_t marked;          /* those that have got it */
};

static struct htw_request *request_of(struct htw__waiting *waiting) {
    return HTW_CONTAINER_OF(waiting, struct htw_request, _place._on_threshold._waiting);
}

static struct htw_threshold *threshold_of(struct htw__link *link) {
    return HTW_CONTAINER_OF(link, struct htw_threshold, link);
}

/* -ESHUTDOWN where the purgatory was closed: nobody would close it any more. */
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
    int error = enlist(purgatory, threshold);
    if (error != 0) {
        release_threshold(threshold);
        return error;
    }
    *ret_threshold = threshold;
    return 0;
}

void htw__threshold_unlink(struct htw_request *request, int reason) {
    struct htw_threshold *threshold = request->_place._on_threshold._threshold;
    struct htw__purgatory_shard *shard = threshold->shard;
    htw__lock_acquire(&shard->lock);
    htw__request_uncount(shard, request, reason);
    htw__lock_release(&shard->lock);
    htw__lock_acquire(&threshold->lock);
    htw__value_tree_remove(&threshold->waiting, &request->_place._on_threshold._waiting);
    threshold->used -= reason == HTW__NO_REASON;
    htw__lock_release(&threshold->lock);
}

void htw__threshold_leave(struct htw_threshold *threshold) {
    htw__lock_acquire(&threshold->lock);
    threshold->used--; /* from when the lock is given back on, it may be gone */
    htw__lock_release(&threshold->lock);
}

/* Puts a request into the tree; `*ret_reached`: there is no need. 0 or -ESHUTDOWN. */
static int link_to(struct htw_threshold *threshold, struct htw_request *request, uint64_t value,
                   bool *ret_reached) {
    htw__lock_acquire(&threshold->lock);
    bool closed = threshold->closed;
    *ret_reached = value <= threshold->value;
    if (!closed && !*ret_reached) {
        htw__value_tree_add(&threshold->waiting, &request->_place._on_threshold._waiting, value);
        threshold->used++;
    }
    htw__lock_release(&threshold->lock);
    return closed ? -ESHUTDOWN : 0;
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
    request->_place._on_threshold._threshold = threshold;
    error = link_to(threshold, request, value, &reached);
    if (error == 0 && reached) {
        htw__request_decide(request);
        return htw__submit_finish(&frame, request, HTW_REASON_COMPLETED);
    }
    if (error == 0) {
        htw__lock_acquire(&shard->lock);
        htw__request_count(shard, request, timeout_ns != HTW_NEVER_NS);
        htw__lock_release(&shard->lock);
        request->_flags |= HTW__REQUEST_ON_THRESHOLD;
    }
    return htw__submit_end(&frame, request, timeout_ns, error);
}

/* Takes the next request of a sweep that is not busy out of the tree; busy ones are marked, and
   taken out too, since they end. Under the lock. NULL: `*ret_more`, or the sweep is over. */
static struct htw_request *take_some(struct htw_threshold *threshold, struct sweep *sweep,
                                     bool *ret_more) {
    bool marked;
    *ret_more = true;
    for (unsigned steps = 0; steps < BUDGET; steps++) {
        struct htw__waiting *waiting =
            htw__value_tree_after(&threshold->waiting, sweep->value, sweep->arrival);
        if (waiting == NULL || waiting->_value > sweep->last_value) {
            *ret_more = false;
            break;
        }
        sweep->value = waiting->_value;
        sweep->arrival = waiting->_arrival;
        if (waiting->_arrival > sweep->last_arrival)
            continue;
        htw__value_tree_remove(&threshold->waiting, waiting);
        if (htw__request_force(request_of(waiting), sweep->mark, &marked))
            return request_of(waiting);
        sweep->marked += marked;
    }
    return NULL;
}

/* NULL: the sweep is over, or this is a child that a hook has forked. */
static struct htw_request *take_next(struct htw_threshold *threshold, struct sweep *sweep) {
    struct htw_request *request = NULL;
    bool more = !htw__purgatory_is_child(threshold->purgatory);
    while (request == NULL && more) {
        htw__lock_acquire(&threshold->lock);
        request = take_some(threshold, sweep, &more);
        htw__lock_release(&threshold->lock);
    }
    return request;
}

/* Ends all requests of a sweep. Returns how many, those that other threads end included. */
static int64_t end_swept(struct htw__frame *frame, struct htw_threshold *threshold,
                         struct sweep *sweep, enum htw_reason reason) {
    int64_t ended = 0;
    htw__frame_push(frame, threshold->purgatory);
    for (struct htw_request *request; (request = take_next(threshold, sweep)) != NULL; ended++)
        htw__request_end(frame, request, reason);
    htw__frame_pop(frame);
    return htw__purgatory_answer(threshold->purgatory, ended + sweep->marked);
}

int64_t htw_threshold_advance(struct htw_threshold *threshold, uint64_t value) {
    if (threshold == NULL)
        return -EINVAL;
    int refusal = htw__purgatory_refusal(threshold->purgatory);
    if (refusal != 0)
        return refusal;
    struct htw__frame frame = { 0 };
    struct sweep sweep = { .last_value = value, .mark = HTW__REQUEST_COMPLETE };
    htw__lock_acquire(&threshold->lock);
    bool is_news = value > threshold->value;
    if (is_news)
        threshold->value = value;
    sweep.last_arrival = threshold->waiting.arrivals;
    htw__lock_release(&threshold->lock);
    return is_news ? end_swept(&frame, threshold, &sweep, HTW_REASON_COMPLETED) : 0;
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

int64_t htw_threshold_end_all(struct htw_threshold *threshold, enum htw_reason reason,
                              htw_request_visitor *visitor, void *context) {
    static const uint32_t marks[HTW__REASONS] = { [HTW_REASON_COMPLETED] = HTW__REQUEST_COMPLETE,
                                                  [HTW_REASON_CANCELLED] = HTW__REQUEST_CANCEL,
                                                  [HTW_REASON_CLOSED] = HTW__REQUEST_CLOSE };
    if (threshold == NULL || (unsigned)reason >= HTW__REASONS || marks[reason] == 0)
        return -EINVAL;
    int refusal = htw__purgatory_refusal(threshold->purgatory);
    if (refusal != 0)
        return refusal;
    struct htw__frame frame = { .visitor = visitor, .visitor_context = context };
    struct sweep sweep = { .last_value = UINT64_MAX, .mark = marks[reason] };
    htw__lock_acquire(&threshold->lock);
    sweep.last_arrival = threshold->waiting.arrivals;
    htw__lock_release(&threshold->lock);
    return end_swept(&frame, threshold, &sweep, reason);
}

uint64_t htw_threshold_value(struct htw_threshold *threshold) {
    if (threshold == NULL || htw__purgatory_refusal(threshold->purgatory) != 0)
        return 0;
    htw__lock_acquire(&threshold->lock);
    uint64_t value = threshold->value;
    htw__lock_release(&threshold->lock);
    return value;
}

/* As take_next(), of all requests: so that none is left. Adds those that it marks. */
static struct htw_request *take_any(struct htw_threshold *threshold, int64_t *marked) {
    struct sweep sweep = { UINT64_MAX, UINT64_MAX, .mark = HTW__REQUEST_CLOSE };
    if (htw__purgatory_is_child(threshold->purgatory))
        return NULL;
    htw__lock_acquire(&threshold->lock);
    threshold->closed = true;
    htw__lock_release(&threshold->lock);
    struct htw_request *request = take_next(threshold, &sweep);
    *marked += sweep.marked;
    return request;
}

/* From any threshold, which is put with the closed ones when it has been emptied. */
static struct htw_request *take_from_any(struct htw_purgatory *purgatory, int64_t *marked) {
    struct htw_request *request = NULL;
    if (htw__purgatory_is_child(purgatory))
        return NULL;
    htw__lock_acquire(&purgatory->lock);
    while (request == NULL && !htw__ring_is_empty(&purgatory->thresholds)) {
        struct htw__link *link = purgatory->thresholds._next;
        request = take_any(threshold_of(link), marked);
        if (request == NULL) {
            htw__link_unlink(link);
            htw__ring_push_back(&purgatory->closed_thresholds, link);
        }
    }
    htw__lock_release(&purgatory->lock);
    return request;
}

int64_t htw__threshold_close_all(struct htw__frame *frame) {
    int64_t closed = 0, marked = 0;
    for (struct htw_request *request; (request = take_from_any(frame->purgatory, &marked)) != NULL;
         closed++)
        htw__request_end(frame, request, HTW_REASON_CLOSED);
    return closed + marked;
}

/* For the hooks of requests that others end: those that expire, and those that were busy. */
static void wait_until_unused(struct htw_threshold *threshold) {
    const struct timespec nap = { 0, NAP_NS };
    for (;;) {
        htw__lock_acquire(&threshold->lock);
        bool over = threshold->used == 0;
        htw__lock_release(&threshold->lock);
        if (over)
            return;
        nanosleep(&nap, NULL);
    }
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
    for (struct htw_request *request; (request = take_any(threshold, &marked)) != NULL;)
        htw__request_end(&frame, request, HTW_REASON_CLOSED);
    htw__frame_pop(&frame);
    if (htw__purgatory_is_child(purgatory))
        return -EOWNERDEAD;
    htw__lock_acquire(&purgatory->lock);
    htw__link_unlink(&threshold->link);
    htw__lock_release(&purgatory->lock);
    wait_until_unused(threshold);
    release_threshold(threshold);
    return 0;
}

static uint64_t ring_bytes(const struct htw__link *ring) {
    uint64_t bytes = 0;
    for (struct htw__link *link = ring->_next; link != ring; link = link->_next)
        bytes += sizeof(struct htw_threshold);
    return bytes;
}

uint64_t htw__threshold_bytes(struct htw_purgatory *purgatory) {
    htw__lock_acquire(&purgatory->lock);
    uint64_t bytes = ring_bytes(&purgatory->thresholds) + ring_bytes(&purgatory->closed_thresholds);
    htw__lock_release(&purgatory->lock);
    return bytes;
}

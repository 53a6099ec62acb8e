/* SPDX-License-Identifier: MIT */
#include "threshold.h"

#include "request.h"
#include "submit.h"

#include <errno.h>
#include <time.h>

/* Values that are waited for tend to be near: with few buckets a wheel is small. */
#define WHEEL_SIZE 16u

/* Steps in the wheel for which the lock is held at most. */
#define BUDGET 64u

/* How long destroy sleeps between two looks at whether hooks have returned. */
#define NAP_NS 50000L

static struct htw_request *request_of(struct htw_timer *timer) {
    return HTW_CONTAINER_OF(timer, struct htw_request, _place._on_threshold._waiting);
}

static struct htw_threshold *threshold_of(struct htw__link *link) {
    return HTW_CONTAINER_OF(link, struct htw_threshold, link);
}

static int create_wheel(struct htw_threshold *threshold, uint64_t initial) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.size = WHEEL_SIZE;
    options.strict_fifo = true;
    options.start = initial == HTW_NEVER ? HTW_NEVER - 1 : initial;
    options.allocator = &threshold->purgatory->allocator;
    return htw_wheel_create(&threshold->wheel, &options);
}

/* -ESHUTDOWN where the purgatory was closed: nobody would close it any more. */
static int enlist(struct htw_purgatory *purgatory, struct htw_threshold *threshold) {
    htw__lock_take(&purgatory->lock);
    bool closed = atomic_load_explicit(&purgatory->closed, memory_order_relaxed);
    if (!closed) {
        htw__ring_push_back(&purgatory->thresholds, &threshold->link);
        threshold->shard =
            &purgatory->shards[purgatory->threshold_turn++ & (purgatory->shard_count - 1)];
    }
    htw__lock_give(&purgatory->lock);
    return closed ? -ESHUTDOWN : 0;
}

static void release_threshold(struct htw_threshold *threshold) {
    htw_wheel_destroy(threshold->wheel);
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
    htw__lock_init(&threshold->lock);
    int error = create_wheel(threshold, initial);
    if (error == 0)
        error = enlist(purgatory, threshold);
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
    htw__lock_take(&shard->lock);
    htw__request_uncount(shard, request, reason);
    htw__lock_give(&shard->lock);
    htw__lock_take(&threshold->lock);
    htw_wheel_cancel(threshold->wheel, &request->_place._on_threshold._waiting);
    threshold->used -= reason == HTW__NO_REASON;
    htw__lock_give(&threshold->lock);
}

void htw__threshold_leave(struct htw_threshold *threshold) {
    htw__lock_take(&threshold->lock);
    threshold->used--; /* from when the lock is given back on, it may be gone */
    htw__lock_give(&threshold->lock);
}

/* Puts a request into the wheel; `*ret_reached`: there is no need. */
static int link_to(struct htw_threshold *threshold, struct htw_request *request, uint64_t value,
                   bool *ret_reached) {
    int error = 0;
    htw__lock_take(&threshold->lock);
    *ret_reached = value <= threshold->value;
    if (threshold->closed)
        error = -ESHUTDOWN;
    else if (!*ret_reached)
        error =
            htw_wheel_schedule(threshold->wheel, &request->_place._on_threshold._waiting, value);
    if (error == 0 && !*ret_reached)
        threshold->used++;
    htw__lock_give(&threshold->lock);
    return error;
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
    htw_timer_init(&request->_place._on_threshold._waiting);
    request->_place._on_threshold._threshold = threshold;
    error = link_to(threshold, request, value, &reached);
    if (error == 0 && reached) {
        htw__request_decide(request);
        return htw__submit_finish(&frame, request, HTW_REASON_COMPLETED);
    }
    if (error == 0) {
        htw__lock_take(&shard->lock);
        htw__request_count(shard, request, timeout_ns != HTW_FOREVER);
        htw__lock_give(&shard->lock);
        request->_flags |= HTW__REQUEST_ON_THRESHOLD;
    }
    return htw__submit_end(&frame, request, timeout_ns, error);
}

/* Takes the next request that the value has reached out of the wheel; NULL: there is none, unless
   `*ret_more`. The last of all values is a deadline that never comes to a wheel. */
static struct htw_timer *take_reached(struct htw_threshold *threshold, bool *ret_more) {
    struct htw_timer *timer = NULL;
    size_t count;
    *ret_more = htw_wheel_poll_batch(threshold->wheel, threshold->value, &timer, 1, BUDGET,
                                     &count) == HTW_MORE;
    if (!*ret_more && threshold->value == HTW_NEVER)
        timer = htw_wheel_drain(threshold->wheel);
    return timer;
}

/* Takes requests out until one is not busy, which is the caller's then; busy ones are marked. */
static struct htw_request *take_next(struct htw_threshold *threshold) {
    bool more = true;
    while (more) {
        htw__lock_take(&threshold->lock);
        struct htw_timer *timer = take_reached(threshold, &more);
        struct htw_request *request = timer != NULL ? request_of(timer) : NULL;
        bool marked;
        bool taken = request != NULL && htw__request_force(request, HTW__REQUEST_COMPLETE, &marked);
        htw__lock_give(&threshold->lock);
        if (taken)
            return request;
        more = more || timer != NULL;
    }
    return NULL;
}

int64_t htw_threshold_advance(struct htw_threshold *threshold, uint64_t value) {
    if (threshold == NULL)
        return -EINVAL;
    int refusal = htw__purgatory_refusal(threshold->purgatory);
    if (refusal != 0)
        return refusal;
    struct htw__frame frame = { 0 };
    htw__lock_take(&threshold->lock);
    bool is_news = value > threshold->value;
    if (is_news)
        threshold->value = value;
    htw__lock_give(&threshold->lock);
    if (!is_news)
        return 0;
    int64_t completed = 0;
    htw__frame_push(&frame, threshold->purgatory);
    for (struct htw_request *request; (request = take_next(threshold)) != NULL; completed++)
        htw__request_end(&frame, request, HTW_REASON_COMPLETED);
    htw__frame_pop(&frame);
    return completed;
}

uint64_t htw_threshold_value(struct htw_threshold *threshold) {
    if (threshold == NULL || htw__purgatory_refusal(threshold->purgatory) != 0)
        return 0;
    htw__lock_take(&threshold->lock);
    uint64_t value = threshold->value;
    htw__lock_give(&threshold->lock);
    return value;
}

/* As take_next(), whatever they wait for: so that none is left. */
static struct htw_request *take_any(struct htw_threshold *threshold) {
    struct htw_request *taken = NULL;
    struct htw_timer *timer;
    bool marked;
    htw__lock_take(&threshold->lock);
    threshold->closed = true;
    while (taken == NULL && (timer = htw_wheel_drain(threshold->wheel)) != NULL)
        if (htw__request_force(request_of(timer), HTW__REQUEST_CLOSE, &marked))
            taken = request_of(timer);
    htw__lock_give(&threshold->lock);
    return taken;
}

/* From any threshold, which is put with the closed ones when it has been emptied. */
static struct htw_request *take_from_any(struct htw_purgatory *purgatory) {
    struct htw_request *request = NULL;
    htw__lock_take(&purgatory->lock);
    while (request == NULL && !htw__ring_is_empty(&purgatory->thresholds)) {
        struct htw__link *link = purgatory->thresholds._next;
        request = take_any(threshold_of(link));
        if (request == NULL) {
            htw__link_unlink(link);
            htw__ring_push_back(&purgatory->closed_thresholds, link);
        }
    }
    htw__lock_give(&purgatory->lock);
    return request;
}

int64_t htw__threshold_close_all(struct htw__frame *frame) {
    int64_t closed = 0;
    for (struct htw_request *request; (request = take_from_any(frame->purgatory)) != NULL; closed++)
        htw__request_end(frame, request, HTW_REASON_CLOSED);
    return closed;
}

/* For the hooks of requests that others end: those that expire, and those that were busy. */
static void wait_until_unused(struct htw_threshold *threshold) {
    const struct timespec nap = { 0, NAP_NS };
    for (;;) {
        htw__lock_take(&threshold->lock);
        bool over = threshold->used == 0;
        htw__lock_give(&threshold->lock);
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
    htw__frame_push(&frame, purgatory);
    for (struct htw_request *request; (request = take_any(threshold)) != NULL;)
        htw__request_end(&frame, request, HTW_REASON_CLOSED);
    htw__frame_pop(&frame);
    htw__lock_take(&purgatory->lock);
    htw__link_unlink(&threshold->link);
    htw__lock_give(&purgatory->lock);
    wait_until_unused(threshold);
    release_threshold(threshold);
    return 0;
}

static uint64_t threshold_bytes(struct htw_threshold *threshold) {
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    htw__lock_take(&threshold->lock);
    htw_wheel_stats(threshold->wheel, &stats);
    htw__lock_give(&threshold->lock);
    return sizeof(*threshold) + stats.memory_bytes;
}

static uint64_t ring_bytes(const struct htw__link *ring) {
    uint64_t bytes = 0;
    for (struct htw__link *link = ring->_next; link != ring; link = link->_next)
        bytes += threshold_bytes(threshold_of(link));
    return bytes;
}

uint64_t htw__threshold_bytes(struct htw_purgatory *purgatory) {
    htw__lock_take(&purgatory->lock);
    uint64_t bytes = ring_bytes(&purgatory->thresholds) + ring_bytes(&purgatory->closed_thresholds);
    htw__lock_give(&purgatory->lock);
    return bytes;
}

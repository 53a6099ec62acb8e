/* SPDX-License-Identifier: MIT */
/* end.c - ends a request: unlinks it from everything, and calls the hooks on_complete and release. */
#include "end.h"

#include "../base/compiler.h"
#include "../base/user_code.h"
#include "owner.h"
#include "timeout.h"
#include "waiting.h"
#include "watch.h"

/* What unlinking from the keys writes to. Across a lock the processor loads nothing ahead. */
static void prefetch_keys(struct htw_request *request) {
    for (uint32_t i = 0; i < request->_count && i < HTW__REQUEST_WATCHES; i++)
        HTW__PREFETCH(htw__watch_key(htw__request_watch(request, i)));
}

/* `walk`: that of the request; NULL: there is none. */
static void unlink_from_keys(struct htw_request *request, struct htw__walk *walk, int reason) {
    struct htw_purgatory *purgatory = request->_purgatory;
    /* The first key is unlinked last: its shard counts the request, and must do so while the
       request is still on another key. */
    for (uint32_t i = request->_count; i-- > 0;) {
        struct htw__watch *watch = htw__request_watch(request, i);
        struct htw__purgatory_shard *shard = htw__watch_shard(purgatory, watch);
        htw__lock_acquire(&shard->lock);
        if (walk != NULL)
            htw__walk_unlink(walk, shard, watch);
        else
            htw__watch_unlink(purgatory, shard, watch);
        if (i == 0) {
            htw__purgatory_shard_uncount(shard, request, reason);
            if ((request->_flags & HTW__REQUEST_MANY) != 0)
                shard->bytes -= request->_place._many._bytes;
        }
        htw__lock_release(&shard->lock);
    }
    request->_count = 0;
}

static void unlink_all(struct htw_request *request, struct htw__walk *walk, int reason) {
    prefetch_keys(request);
    if ((request->_flags & HTW__REQUEST_ARMED) != 0)
        htw__timeout_disarm(request);
    if ((request->_flags & HTW__REQUEST_ON_THRESHOLD) != 0)
        htw__threshold_unlink(request, reason);
    else if (request->_count > 0)
        unlink_from_keys(request, walk, reason);
    else if (reason != HTW__NO_REASON)
        htw__purgatory_count_unlinked(request, (enum htw_reason)reason);
    if ((request->_flags & HTW__REQUEST_MANY) != 0)
        htw__release(&request->_purgatory->allocator, request->_place._many._watches,
                     request->_place._many._bytes);
}

void htw__request_unlink(struct htw_request *request, int reason) {
    unlink_all(request, NULL, reason);
}

static void count_wait(const struct htw_request *request) {
    uint32_t waited_ms = htw__waited_ms(request);
    struct htw__cpu *cpu = htw__cpu_here(request->_purgatory);
    htw__lock_acquire(&cpu->lock);
    htw__wait_histogram_add(&cpu->waits, waited_ms);
    htw__lock_release(&cpu->lock);
}

/* Without a release hook, the user may free the request when its state is 0. */
static void release(struct htw_purgatory *purgatory, struct htw_request *request) {
    htw__request_set_free(request);
    if (purgatory->release != NULL)
        HTW__CALL_USER("a hook release", purgatory, purgatory->release,
                       purgatory->release(purgatory->context, request));
}

void htw__request_end(struct htw__frame *frame, struct htw_request *request,
                      enum htw_reason reason) {
    htw__request_end_walked(frame, NULL, request, reason);
}

void htw__request_end_walked(struct htw__frame *frame, struct htw__walk *walk,
                             struct htw_request *request, enum htw_reason reason) {
    struct htw_purgatory *purgatory = frame->purgatory;
    /* The request keeps its threshold alive until its last hook has returned. */
    struct htw_threshold *threshold = (request->_flags & HTW__REQUEST_ON_THRESHOLD) != 0
                                          ? request->_place._on_threshold._threshold
                                          : NULL;
    if ((request->_flags & HTW__REQUEST_MEASURED) != 0)
        count_wait(request);
    unlink_all(request, walk, (int)reason);
    if (frame->visitor != NULL)
        HTW__CALL_USER("a visitor", purgatory, frame->visitor,
                       frame->visitor(frame->visitor_context, request));
    HTW__CALL_USER("a hook on_complete", purgatory, purgatory->on_complete,
                   purgatory->on_complete(purgatory->context, request, reason));
    release(purgatory, request);
    if (threshold != NULL)
        htw__outstanding_remove(&threshold->outstanding);
}

/* SPDX-License-Identifier: MIT */
/*
 * end.c - ends requests, for each reason but that `try_complete` returned true: unlinks a request from
 * everything, and calls the hooks on_complete and release.
 */
#include "end.h"

#include "../base/probe.h"
#include "alarm.h"
#include "condition.h"
#include "owner.h"
#include "timeout.h"
#include "walk.h"
#include "watch.h"

/* How many requests the callback of an alarm ends before it returns to the scheduler. Requests may be
   submitted again and again with a timeout of 0, and the thread has other callbacks to run. */
#define TURNS 4096u

static void unlink_from_keys(struct htw_request *request) {
    struct htw_purgatory *purgatory = request->_purgatory;
    for (uint32_t i = request->_count; i-- > 0;) {
        struct htw__watch *watch = htw__request_watch(request, i);
        struct htw__purgatory_shard *shard = htw__watch_shard(purgatory, watch);
        htw__lock_acquire(&shard->first.lock);
        htw__watch_unlink(purgatory, shard, request, watch);
        htw__lock_release(&shard->first.lock);
    }
    request->_count = 0;
    if ((request->_flags & HTW__REQUEST_MANY) != 0)
        htw__release(&purgatory->allocator, request->_place._many._watches,
                     request->_place._many._bytes);
}

/* NULL: it waits on keys. */
static struct htw__condition *condition_of(const struct htw_request *request) {
    return (request->_flags & HTW__REQUEST_ON_CONDITION) != 0
               ? request->_place._on_threshold._condition
               : NULL;
}

void htw__request_withdraw(struct htw_request *request) {
    struct htw__condition *condition = condition_of(request);
    if (condition != NULL) {
        condition->type->unlink(condition, request);
        htw__outstanding_remove(&condition->outstanding);
    } else {
        unlink_from_keys(request);
    }
    request->_flags = 0; /* if it ends, it must not be unlinked again */
}

void htw__request_end(struct htw__frame *frame, struct htw_request *request,
                      enum htw_reason reason) {
    HTW__PROBE3(request_end, frame->purgatory, request, reason);
    struct htw__condition *condition = condition_of(request);
    /* What unlinking from the keys writes to. Across a lock the processor loads nothing ahead. */
    for (uint32_t i = 0; i < request->_count && i < HTW__REQUEST_WATCHES; i++)
        HTW__PREFETCH(htw__watch_cell(htw__request_watch(request, i)));
    htw__timeout_end(request, reason);
    if (condition != NULL)
        condition->type->unlink(condition, request);
    else
        unlink_from_keys(request);
    htw__call_last_hooks(frame, request, reason);
    if (condition != NULL) /* the request has kept it alive until here */
        htw__outstanding_remove(&condition->outstanding);
}

/* ---- timeouts that are due */

/* No call of the scheduler fails here, unless the scheduler was stopped; then nothing expires. */
void htw__expire_due(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    struct htw__timeout_alarm *alarm = arg;
    struct htw__frame frame = { 0 };
    htw__frame_push(&frame, alarm->cpu->purgatory);
    bool more = true;
    for (unsigned turn = 0; more && turn < TURNS; turn++) {
        struct htw_request *request = htw__timeout_next_due(alarm, turn == 0, &more);
        if (request != NULL)
            htw__request_end(&frame, request, HTW_REASON_EXPIRED);
    }
    htw__timeout_alarm_end(alarm);
    htw__frame_pop(&frame);
}

/* ---- the public calls */

bool htw_request_is_pending(const struct htw_request *request) {
    return request != NULL && htw__request_state(request) != 0;
}

/* True: this call ends the request, or has marked it so that its owner does. */
static bool end_by_call(struct htw_purgatory *purgatory, struct htw_request *request,
                        enum htw_reason reason) {
    if (htw__purgatory_refusal(purgatory) != 0 || request == NULL)
        return false;
    bool marked;
    if (!htw__request_own_to_end(request, htw__request_mark(reason), &marked))
        return marked;
    struct htw__frame frame = { 0 };
    htw__frame_push(&frame, purgatory);
    htw__request_end(&frame, request, reason);
    htw__frame_pop(&frame);
    return true;
}

bool htw_request_complete(struct htw_purgatory *purgatory, struct htw_request *request) {
    return end_by_call(purgatory, request, HTW_REASON_COMPLETED);
}

bool htw_request_cancel(struct htw_purgatory *purgatory, struct htw_request *request) {
    return end_by_call(purgatory, request, HTW_REASON_CANCELLED);
}

int htw_request_set_timeout(struct htw_purgatory *purgatory, struct htw_request *request,
                            int64_t timeout_ns) {
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    return request == NULL ? -EINVAL : htw__timeout_move(purgatory, request, timeout_ns);
}

int64_t htw_purgatory_cancel_key(struct htw_purgatory *purgatory, const void *key, size_t key_size,
                                 htw_request_visitor *visitor, void *context) {
    struct htw__key hashed;
    int refusal = htw__key_of_call(purgatory, key, key_size, &hashed);
    if (refusal != 0)
        return refusal;
    struct htw__walk walk = { .purgatory = purgatory, .mark = HTW__REQUEST_CANCEL };
    struct htw__frame frame = { .visitor = visitor, .visitor_context = context };
    int64_t cancelled = 0;
    htw__frame_push(&frame, purgatory);
    for (struct htw_request *request = htw__walk_begin(&walk, &hashed); request != NULL;
         request = htw__walk_next(&walk)) {
        htw__request_end(&frame, request, HTW_REASON_CANCELLED);
        cancelled++;
    }
    htw__frame_pop(&frame);
    return cancelled + walk.marked;
}

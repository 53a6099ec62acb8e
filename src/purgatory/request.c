/* SPDX-License-Identifier: MIT */
/* request.c - who owns a request, the marks of other threads, and how a request ends. */
#include "request.h"

#include "timeout.h"
#include "later.h"
#include "threshold.h"
#include "waits.h"
#include "watch.h"

/* How often a thread asks a request because of events in other threads, before it hands the request
   over to a check for later: or it could be kept in a call for ever. */
#define SERVED_MAX 16u

/* Changes the state from `*state` to `to`; else reads it again. */
static bool change(struct htw_request *request, uint32_t *state, uint32_t to) {
    HTW__ANNOTATE_HAPPENS_BEFORE(request);
    bool changed = __atomic_compare_exchange_n(&request->_state, state, to, true, __ATOMIC_ACQ_REL,
                                               __ATOMIC_ACQUIRE);
    HTW__ANNOTATE_HAPPENS_AFTER(request);
    return changed;
}

/* Sets bits, and returns the state before. */
static uint32_t set(struct htw_request *request, uint32_t bits) {
    HTW__ANNOTATE_HAPPENS_BEFORE(request);
    uint32_t before = __atomic_fetch_or(&request->_state, bits, __ATOMIC_ACQ_REL);
    HTW__ANNOTATE_HAPPENS_AFTER(request);
    return before;
}

/* Clears bits, and returns the state before. */
static uint32_t clear(struct htw_request *request, uint32_t bits) {
    HTW__ANNOTATE_HAPPENS_BEFORE(request);
    uint32_t before = __atomic_fetch_and(&request->_state, ~bits, __ATOMIC_ACQ_REL);
    HTW__ANNOTATE_HAPPENS_AFTER(request);
    return before;
}

/* Whether a hook of the request is up the stack of this thread. */
static bool is_own(const struct htw_request *request) {
    for (const struct htw__frame *frame = htw__innermost_frame; frame != NULL; frame = frame->outer)
        if (frame->request == request)
            return true;
    return false;
}

bool htw__request_take(struct htw_request *request) {
    uint32_t state = __atomic_load_n(&request->_state, __ATOMIC_RELAXED);
    for (;;) {
        uint32_t to = state | HTW__REQUEST_BUSY;
        if ((state & HTW__REQUEST_DONE) != 0)
            return false;
        if ((state & HTW__REQUEST_BUSY) != 0)
            to |= is_own(request) ? HTW__REQUEST_SELF : HTW__REQUEST_AGAIN;
        if (change(request, &state, to))
            return (state & HTW__REQUEST_BUSY) == 0;
    }
}

bool htw__request_force(struct htw_request *request, uint32_t mark, bool *ret_marked) {
    uint32_t state = __atomic_load_n(&request->_state, __ATOMIC_RELAXED);
    *ret_marked = false;
    for (;;) {
        if (state == 0 || (state & (HTW__REQUEST_DONE | HTW__REQUEST_FORCED)) != 0)
            return false;
        bool busy = (state & HTW__REQUEST_BUSY) != 0;
        if (change(request, &state,
                   state | (busy ? mark : HTW__REQUEST_BUSY | HTW__REQUEST_DONE))) {
            *ret_marked = busy;
            return !busy;
        }
    }
}

/* From here on marks are ignored. A plain store, which is cheaper, may overwrite some that come
   just now; none of them is missed, since the reason is known. */
void htw__request_decide(struct htw_request *request) {
    __atomic_store_n(&request->_state, HTW__REQUEST_PENDING | HTW__REQUEST_BUSY | HTW__REQUEST_DONE,
                     __ATOMIC_RELAXED);
}

bool htw__request_is_ready(struct htw__frame *frame, struct htw_request *request) {
    const struct htw_purgatory *purgatory = frame->purgatory;
    if (purgatory->try_complete == NULL)
        return false;
    frame->request = request;
    bool ready = purgatory->try_complete(purgatory->context, request);
    frame->request = NULL;
    if (ready)
        htw__request_decide(request);
    return ready;
}

/* The reason that is marked. EXPIRE may have joined another, which was first. */
static enum htw_reason marked_reason(uint32_t state) {
    if ((state & HTW__REQUEST_COMPLETE) != 0)
        return HTW_REASON_COMPLETED;
    if ((state & HTW__REQUEST_CANCEL) != 0)
        return HTW_REASON_CANCELLED;
    return (state & HTW__REQUEST_CLOSE) != 0 ? HTW_REASON_CLOSED : HTW_REASON_EXPIRED;
}

bool htw__request_give_up(struct htw_request *request) {
    uint32_t state = __atomic_load_n(&request->_state, __ATOMIC_RELAXED);
    do {
        if ((state & HTW__REQUEST_FORCED) != 0)
            return false;
    } while (!change(request, &state, HTW__REQUEST_PENDING));
    return true;
}

/* As htw__request_settle(), for a request that has been marked. */
static __attribute__((noinline)) bool settle_marked(struct htw__frame *frame,
                                                    struct htw_request *request, uint32_t idle,
                                                    enum htw_reason *ret_reason) {
    bool asked_for_self = false;
    unsigned served = 0;
    for (;;) {
        uint32_t state = htw__request_state(request);
        if (htw__purgatory_is_child(frame->purgatory)) {
            *ret_reason = HTW_REASON_COMPLETED;
            return true;
        }
        if ((state & HTW__REQUEST_FORCED) != 0) {
            htw__request_decide(request);
            *ret_reason = marked_reason(state);
            return true;
        }
        if (state == (HTW__REQUEST_PENDING | HTW__REQUEST_BUSY)) {
            if (change(request, &state, idle))
                return false;
            continue; /* a mark has come */
        }
        /* What its own hook causes makes it asked once more, or a hook that checks its own key
           each time would be asked for ever. */
        bool by_others =
            (clear(request, HTW__REQUEST_AGAIN | HTW__REQUEST_SELF) & HTW__REQUEST_AGAIN) != 0;
        bool ask = by_others || !asked_for_self;
        asked_for_self = !by_others;
        if (by_others && ++served > SERVED_MAX) {
            if (htw__later_hand_over(request))
                return false;
            served = 0;
        }
        if (ask && htw__request_is_ready(frame, request)) {
            *ret_reason = HTW_REASON_COMPLETED;
            return true;
        }
    }
}

bool htw__request_settle(struct htw__frame *frame, struct htw_request *request, bool ask,
                         uint32_t idle, enum htw_reason *ret_reason) {
    if (ask && htw__request_is_ready(frame, request)) {
        *ret_reason = HTW_REASON_COMPLETED;
        return true;
    }
    uint32_t state = HTW__REQUEST_PENDING | HTW__REQUEST_BUSY;
    return !change(request, &state, idle) && settle_marked(frame, request, idle, ret_reason);
}

void htw__request_count(struct htw__purgatory_shard *shard, struct htw_request *request,
                        bool delayed) {
    shard->submitted++;
    shard->pending++;
    shard->delayed += delayed;
    if (delayed)
        request->_flags |= HTW__REQUEST_DELAYED;
}

void htw__request_uncount(struct htw__purgatory_shard *shard, const struct htw_request *request,
                          int reason) {
    shard->pending--;
    shard->delayed -= (request->_flags & HTW__REQUEST_DELAYED) != 0;
    if (reason == HTW__NO_REASON) {
        shard->submitted--;
        return;
    }
    if (reason != HTW_REASON_COMPLETED)
        shard->ended[reason]++;
}

/* One that was never watched counts in any shard: by its address, so that threads do not meet. */
static void count_ended(struct htw_request *request, enum htw_reason reason) {
    uint64_t mixed = (uint64_t)(uintptr_t)request * UINT64_C(0x9e3779b97f4a7c15);
    struct htw__purgatory_shard *shard = htw__purgatory_shard_of(request->_purgatory, mixed);
    htw__lock_acquire(&shard->lock);
    htw__request_count(shard, request, false);
    htw__request_uncount(shard, request, (int)reason);
    htw__lock_release(&shard->lock);
}

static void unlink_from_keys(struct htw_request *request, int reason) {
    struct htw_purgatory *purgatory = request->_purgatory;
    for (uint32_t i = 0; i < request->_count && i < HTW__REQUEST_WATCHES; i++)
        __builtin_prefetch(htw__watch_key(htw__request_watch(request, i)), 1);
    /* The first comes last: by its shard the request is counted, and until then seen to be there.
     */
    for (uint32_t i = request->_count; i-- > 0;) {
        struct htw__watch *watch = htw__request_watch(request, i);
        struct htw__purgatory_shard *shard = htw__watch_shard(purgatory, watch);
        htw__lock_acquire(&shard->lock);
        htw__watch_unlink(shard, watch);
        if (i == 0) {
            htw__request_uncount(shard, request, reason);
            if ((request->_flags & HTW__REQUEST_MANY) != 0)
                shard->bytes -= request->_place._many._bytes;
        }
        htw__lock_release(&shard->lock);
    }
    request->_count = 0;
}

void htw__request_unlink(struct htw_request *request, int reason) {
    if ((request->_flags & HTW__REQUEST_ARMED) != 0)
        htw__timeouts_disarm(request);
    if ((request->_flags & HTW__REQUEST_ON_THRESHOLD) != 0)
        htw__threshold_unlink(request, reason);
    else if (request->_count > 0)
        unlink_from_keys(request, reason);
    else if (reason != HTW__NO_REASON)
        count_ended(request, (enum htw_reason)reason);
    if ((request->_flags & HTW__REQUEST_MANY) != 0)
        htw__release(&request->_purgatory->allocator, request->_place._many._watches,
                     request->_place._many._bytes);
}

bool htw__request_expire(struct htw_request *request) {
    return (set(request, HTW__REQUEST_BUSY | HTW__REQUEST_EXPIRE) & HTW__REQUEST_BUSY) == 0;
}

static void release(struct htw_purgatory *purgatory, struct htw_request *request) {
    HTW__ANNOTATE_HAPPENS_BEFORE(request);
    /* Without a release hook, a thread that sees this may free the request: nothing touches it any
       more. */
    __atomic_store_n(&request->_state, 0, __ATOMIC_RELEASE);
    if (purgatory->release != NULL && !htw__purgatory_is_child(purgatory))
        purgatory->release(purgatory->context, request);
}

void htw__request_end(struct htw__frame *frame, struct htw_request *request,
                      enum htw_reason reason) {
    struct htw_purgatory *purgatory = frame->purgatory;
    if (htw__purgatory_is_child(purgatory))
        return;
    /* On which it waits; it lasts until it is left. */
    struct htw_threshold *threshold = (request->_flags & HTW__REQUEST_ON_THRESHOLD) != 0
                                          ? request->_place._on_threshold._threshold
                                          : NULL;
    if ((request->_flags & HTW__REQUEST_MEASURED) != 0)
        htw__wait_end(request);
    htw__request_unlink(request, (int)reason);
    if (frame->visitor != NULL)
        frame->visitor(frame->visitor_context, request);
    if (frame->visitor != NULL && htw__purgatory_is_child(purgatory))
        return;
    purgatory->on_complete(purgatory->context, request, reason);
    release(purgatory, request);
    if (threshold != NULL && !htw__purgatory_is_child(purgatory))
        htw__threshold_leave(threshold);
}

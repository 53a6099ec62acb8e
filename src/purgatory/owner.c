/* SPDX-License-Identifier: MIT */
/* owner.c - the state of a request: which thread owns it, the marks of other threads, and the last hooks. */
#include "owner.h"

_Thread_local struct htw__frame *htw__innermost_frame;

/* Sets and clears bits, and returns the state before. */
static uint32_t update(struct htw_request *request, uint32_t set, uint32_t clear) {
    /* order: An old state lets the exchange fail. */
    uint32_t state = __atomic_load_n(&request->_state, __ATOMIC_RELAXED);
    while (!htw__request_change(request, &state, (state | set) & ~clear))
        ;
    return state;
}

/* Whether this thread is in `try_complete` of the request. */
static bool is_asking(const struct htw_request *request) {
    for (const struct htw__frame *frame = htw__innermost_frame; frame != NULL; frame = frame->outer)
        if (frame->request == request)
            return true;
    return false;
}

bool htw__request_own_slow(struct htw_request *request) {
    uint32_t state = HTW__REQUEST_PENDING;
    for (;;) {
        uint32_t to = state | HTW__REQUEST_BUSY;
        if ((state & HTW__REQUEST_DONE) != 0)
            return false;
        if ((state & HTW__REQUEST_BUSY) != 0)
            to |= is_asking(request) ? HTW__REQUEST_SELF : HTW__REQUEST_AGAIN;
        if (htw__request_change(request, &state, to))
            return (state & HTW__REQUEST_BUSY) == 0;
    }
}

bool htw__request_own_to_end(struct htw_request *request, uint32_t mark, bool *ret_marked) {
    /* order: An old state lets the exchange fail; a request that has ended stays so. */
    uint32_t state = __atomic_load_n(&request->_state, __ATOMIC_RELAXED);
    *ret_marked = false;
    for (;;) {
        if (state == 0 || (state & (HTW__REQUEST_DONE | HTW__REQUEST_FORCED)) != 0)
            return false;
        bool busy = (state & HTW__REQUEST_BUSY) != 0;
        if (htw__request_change(request, &state,
                                state | (busy ? mark : HTW__REQUEST_BUSY | HTW__REQUEST_DONE))) {
            *ret_marked = busy;
            return !busy;
        }
    }
}

bool htw__request_own_expired(struct htw_request *request) {
    uint32_t before = update(request, HTW__REQUEST_BUSY | HTW__REQUEST_EXPIRE, 0);
    return (before & HTW__REQUEST_BUSY) == 0;
}

/* A plain store is cheaper than a compare-and-swap. It may overwrite marks that come at the same
   time; they change nothing, since the reason is decided. */
void htw__request_set_done(struct htw_request *request) {
    /* order: By the owner; marks that it hides change nothing, and no thread acquires it. */
    __atomic_store_n(&request->_state, HTW__REQUEST_PENDING | HTW__REQUEST_BUSY | HTW__REQUEST_DONE,
                     __ATOMIC_RELAXED);
}

uint32_t htw__request_clear_events(struct htw_request *request) {
    return update(request, 0, HTW__REQUEST_AGAIN | HTW__REQUEST_SELF);
}

/* EXPIRE may have joined another mark, which was first. */
enum htw_reason htw__request_marked_reason(uint32_t state) {
    uint32_t mark = state & HTW__REQUEST_FORCED & ~(uint32_t)HTW__REQUEST_EXPIRE;
    return mark == 0 ? HTW_REASON_EXPIRED
                     : (enum htw_reason)htw__lowest_bit(mark / HTW__REQUEST_COMPLETE);
}

/* The user may free the request as soon as its state is 0, if there is no release hook. */
void htw__call_last_hooks(const struct htw__frame *frame, struct htw_request *request,
                          enum htw_reason reason) {
    struct htw_purgatory *purgatory = frame->purgatory;
    if (frame->visitor != NULL)
        HTW__CALL_USER("a visitor", purgatory, frame->visitor,
                       frame->visitor(frame->visitor_context, request));
    HTW__CALL_USER("a hook on_complete", purgatory, purgatory->on_complete,
                   purgatory->on_complete(purgatory->context, request, reason));
    HTW__ANNOTATE_HAND_OVER(request);
    /* order: The user who sees it owns all of the request. [relaxed: `free-request`] */
    __atomic_store_n(&request->_state, 0, __ATOMIC_RELEASE);
    if (purgatory->release != NULL)
        HTW__CALL_USER("a hook release", purgatory, purgatory->release,
                       purgatory->release(purgatory->context, request));
}

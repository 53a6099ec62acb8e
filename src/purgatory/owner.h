/* SPDX-License-Identifier: MIT */
/*
 * owner.h - the state of a request: which thread owns it, and the marks that other threads leave; and the hooks,
 * which the owner calls.
 *
 * `_state` is 0 while the request is the user's. Otherwise it is a set of bits:
 *
 *   PENDING    submitted, and not released
 *   BUSY       a thread owns it
 *   AGAIN      mark: call `try_complete`, an event has come
 *   SELF       mark: the same, for an event that the request's own hook has caused
 *   COMPLETE   mark: end it with HTW_REASON_COMPLETED; CANCEL, CLOSE and EXPIRE likewise
 *   DONE       the reason is decided; marks are ignored, and BUSY stays until the release
 *
 * A thread owns a request by setting BUSY. If it finds BUSY set, it leaves a mark and does not
 * wait, so no thread waits for a hook. The first mark that ends a request decides; only EXPIRE may
 * be added to another. The owner disowns the request by a compare-and-swap that expects no mark. So
 * no event is lost: it finds the request without an owner, or the owner sees its mark.
 */
#ifndef HTW_SRC_PURGATORY_OWNER_H
#define HTW_SRC_PURGATORY_OWNER_H

#include "../base/user_code.h"
#include "state.h"

enum {
    HTW__REQUEST_PENDING = 1u << 0,
    HTW__REQUEST_BUSY = 1u << 1,
    HTW__REQUEST_AGAIN = 1u << 2,
    HTW__REQUEST_SELF = 1u << 3,
    HTW__REQUEST_COMPLETE = 1u << 4, /* these four in the order of enum htw_reason */
    HTW__REQUEST_EXPIRE = 1u << 5,
    HTW__REQUEST_CANCEL = 1u << 6,
    HTW__REQUEST_CLOSE = 1u << 7,
    HTW__REQUEST_DONE = 1u << 8,
    /* The marks that end a request. */
    HTW__REQUEST_FORCED =
        HTW__REQUEST_COMPLETE | HTW__REQUEST_CANCEL | HTW__REQUEST_CLOSE | HTW__REQUEST_EXPIRE
};

/* The mark that ends a request for a reason. */
static inline uint32_t htw__request_mark(enum htw_reason reason) {
    return (uint32_t)HTW__REQUEST_COMPLETE << reason;
}

/* In `_flags`, which only the owner reads and writes. */
enum {
    HTW__REQUEST_MANY = 1u << 0,         /* its watches are in a block of their own */
    HTW__REQUEST_ON_CONDITION = 1u << 1, /* linked to a condition, not to keys */
    HTW__REQUEST_MEASURED = 1u << 2,     /* counts in the histogram of waits, since `_since_ms` */
    HTW__REQUEST_SINCE_SHIFT = 5 /* above: the 11 bits that `_since_ms` has no room for, or 0 */
};

/* Whether a request to which a list of the purgatory leads is what it was when it was linked. Under the lock of that
   list, which keeps it pending. */
static inline bool htw__request_is_intact(const struct htw_request *request,
                                          const struct htw_purgatory *purgatory) {
    uint32_t bits = HTW__REQUEST_DONE * 2u - 1u;
    /* order: An assertion of `check_level` 1; the lock of the list orders what it compares. */
    uint32_t state = __atomic_load_n(&request->_state, __ATOMIC_RELAXED);
    return request->_purgatory == purgatory && (state & HTW__REQUEST_PENDING) != 0 && state <= bits;
}

#define HTW_ASSERT_REQUEST(request, purgatory)                                     \
    HTW_ASSERT_USE(htw__request_is_intact(request, purgatory), "request", request, \
                   HTW__NOT_LEFT_ALONE)

/* Also makes visible what happened before the state was set. Any thread. */
static inline uint32_t htw__request_state(const struct htw_request *request) {
    /* order: For the user who sees 0, and for the owner who sees what another thread marked. [relaxed:
       `free-request`] */
    uint32_t state = __atomic_load_n(&request->_state, __ATOMIC_ACQUIRE);
    HTW__ANNOTATE_TAKE_OVER(request);
    return state;
}

/* Changes the state from `*state` to `to`, or reads it into `*state`. */
static inline bool htw__request_change(struct htw_request *request, uint32_t *state, uint32_t to) {
    HTW__ANNOTATE_HAND_OVER(request);
    /* order: Acquire: to own. Release: to disown, and to mark, for which the owner must see the event.
       [acquire: `check`; release: `check`] */
    bool changed = __atomic_compare_exchange_n(&request->_state, state, to, false, __ATOMIC_ACQ_REL,
                                               __ATOMIC_RELAXED);
    HTW__ANNOTATE_TAKE_OVER(request);
    return changed;
}

/*
 * These return whether the caller owns the request now, and mark it if another thread does. The
 * caller holds the lock under which it found the request, or keeps it alive otherwise.
 */

/* All cases of the next one. */
bool htw__request_own_slow(struct htw_request *request);

/* For an event. Does not read the state first: if another CPU has changed it, the cache line then moves
   once, not twice. */
static inline bool htw__request_own(struct htw_request *request) {
    uint32_t state = HTW__REQUEST_PENDING;
    /* order: What the last owner wrote must be visible. It publishes nothing; a failure starts again.
       [relaxed: `check`] */
    if (!HTW__ANNOTATED() && __atomic_compare_exchange_n(&request->_state, &state,
                                                         HTW__REQUEST_PENDING | HTW__REQUEST_BUSY,
                                                         true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return true;
    return htw__request_own_slow(request);
}

/* To end it by `mark`, one of HTW__REQUEST_FORCED except EXPIRE. Owned, the request is DONE.
   `*ret_marked`: this call has marked it; false if it ends anyway. */
bool htw__request_own_to_end(struct htw_request *request, uint32_t mark, bool *ret_marked);

/* For a request whose timeout is due. */
bool htw__request_own_expired(struct htw_request *request);

/* These are for the owner only. */

void htw__request_set_done(struct htw_request *request);

/* Disowns the request unless there is a mark. Its state is then `state`: PENDING, or 0. */
static inline bool htw__request_disown(struct htw_request *request, uint32_t state) {
    uint32_t unmarked = HTW__REQUEST_PENDING | HTW__REQUEST_BUSY;
    return htw__request_change(request, &unmarked, state);
}

/* Clears the marks of events, and returns the state before. */
uint32_t htw__request_clear_events(struct htw_request *request);

/* The reason of a mark. */
enum htw_reason htw__request_marked_reason(uint32_t state);

/* ---- hooks. With no lock held. */

/* True: the owner must end the request. Inline in checks, which call it for each request. */
static inline __attribute__((always_inline)) bool
htw__call_try_complete(struct htw__frame *frame, struct htw_request *request) {
    const struct htw_purgatory *purgatory = frame->purgatory;
    if (purgatory->try_complete == NULL)
        return false;
    frame->request = request;
    bool ready = false;
    HTW__CALL_USER("a hook try_complete", purgatory, purgatory->try_complete,
                   ready = purgatory->try_complete(purgatory->context, request));
    frame->request = NULL;
    if (ready) {
        htw__request_set_done(request);
        frame->completed++;
    }
    return ready;
}

/* For a request that nothing leads to any more. It is released then. */
void htw__call_last_hooks(const struct htw__frame *frame, struct htw_request *request,
                          enum htw_reason reason);

#endif /* HTW_SRC_PURGATORY_OWNER_H */

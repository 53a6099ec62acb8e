/* SPDX-License-Identifier: MIT */
/*
 * owner.h - the state of a request: which thread owns it, and the marks that other threads leave.
 *
 * `_state` is 0 while the request is the user's. Otherwise it is a set of bits:
 *
 *   bit        meaning                                              set by        cleared by
 *   PENDING    the request was submitted and is not released        submission    release
 *   BUSY       a thread owns it                                     the owner     the owner
 *   AGAIN      mark: an event has come, call `try_complete`         any thread    the owner
 *   SELF       mark: the same, caused by the request's own hook     the owner     the owner
 *   COMPLETE   mark: end it with HTW_REASON_COMPLETED               any thread    -
 *   CANCEL     mark: end it with HTW_REASON_CANCELLED               any thread    -
 *   CLOSE      mark: end it with HTW_REASON_CLOSED                  any thread    -
 *   EXPIRE     mark: end it with HTW_REASON_EXPIRED                 any thread    -
 *   DONE       the reason is decided; the owner ends the request    the owner     release
 *
 * A thread that finds a request without BUSY owns it by setting BUSY. A thread that finds BUSY
 * leaves a mark and goes on; so no thread waits for a hook. Of the four marks that end a request
 * the first one holds; only EXPIRE may join another.
 *
 * The owner disowns the request by a compare-and-swap that expects no mark. So no event is lost:
 * either it finds the request without BUSY, or the owner sees its mark. After DONE the owner keeps
 * BUSY until the release.
 */
#ifndef HTW_SRC_PURGATORY_OWNER_H
#define HTW_SRC_PURGATORY_OWNER_H

#include "../base/annotate.h"

#include <htw/purgatory.h>

enum {
    HTW__REQUEST_PENDING = 1u << 0,
    HTW__REQUEST_BUSY = 1u << 1,
    HTW__REQUEST_AGAIN = 1u << 2,
    HTW__REQUEST_SELF = 1u << 3,
    HTW__REQUEST_COMPLETE = 1u << 4,
    HTW__REQUEST_CANCEL = 1u << 5,
    HTW__REQUEST_CLOSE = 1u << 6,
    HTW__REQUEST_EXPIRE = 1u << 7,
    HTW__REQUEST_DONE = 1u << 8,
    /* The marks that end a request. */
    HTW__REQUEST_FORCED =
        HTW__REQUEST_COMPLETE | HTW__REQUEST_CANCEL | HTW__REQUEST_CLOSE | HTW__REQUEST_EXPIRE
};

/* In `_flags`, which only the owner reads and writes. */
enum {
    HTW__REQUEST_DELAYED = 1u << 0,      /* counted as a request with a timeout */
    HTW__REQUEST_ARMED = 1u << 1,        /* its timeout is in the wheel of a CPU */
    HTW__REQUEST_MANY = 1u << 2,         /* its watches are in a block of their own */
    HTW__REQUEST_ON_THRESHOLD = 1u << 3, /* linked to a threshold, not to keys */
    HTW__REQUEST_MEASURED = 1u << 4      /* counts in the histogram of waits, since `_since_ms` */
};

/* The state, and everything that happened before it was set. Any thread. */
static inline uint32_t htw__request_state(const struct htw_request *request) {
    uint32_t state = __atomic_load_n(&request->_state, __ATOMIC_ACQUIRE);
    HTW__ANNOTATE_HAPPENS_AFTER(request);
    return state;
}

/*
 * The functions below that return whether the caller owns the request now are for any thread that
 * holds the lock under which it found the request, or that keeps the request alive otherwise. False
 * means that another thread owns it.
 */

/* For an event. If another thread owns the request, marks it so that the owner calls
   `try_complete` again. */
bool htw__request_own(struct htw_request *request);

/* For an end by `mark`, one of HTW__REQUEST_FORCED except EXPIRE. On true the request is DONE. On
   false `*ret_marked` tells whether the mark is this call's; it is not if the request ends anyway. */
bool htw__request_own_to_end(struct htw_request *request, uint32_t mark, bool *ret_marked);

/* For the end of the timeout. If another thread owns the request, marks it EXPIRE. */
bool htw__request_own_expired(struct htw_request *request);

/* The functions below are for the owner only. */

/* Decides that the request ends. Marks are ignored from then on. */
void htw__request_set_done(struct htw_request *request);

/* Disowns the request if there is no mark, and returns true. `state` follows: PENDING, or 0 if
   the request is the user's again. */
bool htw__request_disown(struct htw_request *request, uint32_t state);

/* Disowns the request and drops its marks of events, unless a mark ends it. True: the
   caller makes sure that `try_complete` is called later. */
bool htw__request_disown_marked(struct htw_request *request);

/* Clears the marks of events, and returns the state before. */
uint32_t htw__request_clear_events(struct htw_request *request);

/* Sets the state to 0: the request is the user's, who may free it at once. */
void htw__request_set_free(struct htw_request *request);

/* The reason of a state with a mark that ends the request. */
enum htw_reason htw__request_marked_reason(uint32_t state);

#endif /* HTW_SRC_PURGATORY_OWNER_H */

/* SPDX-License-Identifier: MIT */
/* request.h - the life of a request: who owns it, marks, its end. See state.h. */
#ifndef HTW_SRC_PURGATORY_REQUEST_H
#define HTW_SRC_PURGATORY_REQUEST_H

#include "../base/annotate.h"
#include "state.h"
#include "watch.h"

/* Watch `i` of a request on keys. */
static inline struct htw__watch *htw__request_watch(struct htw_request *request, uint32_t i) {
    return (request->_flags & HTW__REQUEST_MANY) != 0 ? &request->_place._many._watches[i].watch
                                                      : &request->_place._few[i];
}

/*
 * For an event: takes a request that is not busy, and returns true: the caller owns it. Otherwise
 * marks it, so that its owner asks again.
 */
bool htw__request_take(struct htw_request *request);

/*
 * For who wants its end: takes a request that is not busy, and returns true. Otherwise leaves
 * `mark`, one of HTW__REQUEST_FORCED, unless its end is settled; tells by `*ret_marked`.
 */
bool htw__request_force(struct htw_request *request, uint32_t mark, bool *ret_marked);

/* Asks `try_complete`; if it says yes the owner must end the request. The hook may have forked, and
   this be the child. The owner only. */
bool htw__request_is_ready(struct htw__frame *frame, struct htw_request *request);

/* Settles that it ends, whatever others mark. The owner only. */
void htw__request_decide(struct htw_request *request);

/*
 * The owner is through with what it wanted: asks `try_complete` if `ask` and as long as there are
 * marks of events. True: the owner must end the request, for the reason in `*ret_reason`. False: it
 * has given it up, in the state `idle` (HTW__REQUEST_PENDING, or 0: it is the user's again), and
 * must not touch it any more.
 */
bool htw__request_settle(struct htw__frame *frame, struct htw_request *request, bool ask,
                         uint32_t idle, enum htw_reason *ret_reason);

/* Gives a request up together with its marks of events, unless it must end. The owner only, who
   sees to it that `try_complete` is asked. */
bool htw__request_give_up(struct htw_request *request);

/* Ends a request: unlinks it and calls the hooks. The owner only; it is released then. In a child
   of the purgatory's process it does nothing. */
void htw__request_end(struct htw__frame *frame, struct htw_request *request,
                      enum htw_reason reason);

/* No end: a submission that has failed. */
#define HTW__NO_REASON (-1)

/* Counts a request in, or out, because it has ended (with one of enum htw_reason) or could not be
   submitted (HTW__NO_REASON). Under the lock of the shard. */
void htw__request_count(struct htw__purgatory_shard *shard, struct htw_request *request,
                        bool delayed);
void htw__request_uncount(struct htw__purgatory_shard *shard, const struct htw_request *request,
                          int reason);

/* Takes it out wherever it stands, and counts it out. The owner only. */
void htw__request_unlink(struct htw_request *request, int reason);

/* Its time is up: takes a request that is not busy, and returns true. Otherwise marks it. Under the
   lock of its CPU. */
bool htw__request_expire(struct htw_request *request);

/* The state, and all that happened before it was set. */
static inline uint32_t htw__request_state(const struct htw_request *request) {
    uint32_t state = __atomic_load_n(&request->_state, __ATOMIC_ACQUIRE);
    HTW__ANNOTATE_HAPPENS_AFTER(request);
    return state;
}

#endif /* HTW_SRC_PURGATORY_REQUEST_H */

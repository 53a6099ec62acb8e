/* SPDX-License-Identifier: MIT */
/* check.h - asks requests whether they can be completed now. */
#ifndef HTW_SRC_PURGATORY_CHECK_H
#define HTW_SRC_PURGATORY_CHECK_H

#include "frame.h"
#include "owner.h"

/* Calls `try_complete`. True: the owner must end the request. The owner only. */
bool htw__request_is_ready(struct htw__frame *frame, struct htw_request *request);

/* The next one for a request that has a mark. */
bool htw__request_must_end_marked(struct htw__frame *frame, struct htw_request *request,
                                  uint32_t idle, enum htw_reason *ret_reason);

/*
 * Calls `try_complete` while there are marks of events. True: the owner must end the request, for
 * `*ret_reason`. False: the request is disowned and must not be touched; its state is `idle`:
 * HTW__REQUEST_PENDING, or 0 (it belongs to the user again). The owner only.
 */
static inline bool htw__request_must_end(struct htw__frame *frame, struct htw_request *request,
                                         uint32_t idle, enum htw_reason *ret_reason) {
    return !htw__request_disown(request, idle) &&
           htw__request_must_end_marked(frame, request, idle, ret_reason);
}

/*
 * A check of a key that a thread is making, in rounds. A `try_complete` that checks the same key
 * causes another round; a walk inside the walk would make n! calls for n requests. To end, a check
 * accepts one nested check for each request of the first round, and HTW__CHECK_EXTRA_ROUNDS more.
 * If one request alone causes two rounds in a row, the second does not ask it.
 */
struct htw__check {
    uint64_t hash;
    const void *key;
    size_t size;
    uint64_t max;       /* the most requests to complete, at least 1 */
    uint64_t completed; /* requests whose `try_complete` has returned true */
    uint64_t asked;     /* requests in the first round */
    uint64_t nested_checks_accepted;
    bool again; /* another round follows */
    /* The only request that has caused the next round, and the round that is being made; NULL:
       several have. */
    const struct htw_request *next_sole_requester, *sole_requester;
};

#define HTW__CHECK_EXTRA_ROUNDS 16u

/* Makes a check, of which the first four members are set and the others 0. */
void htw__check_make(struct htw__frame *frame, struct htw__check *check);

#endif /* HTW_SRC_PURGATORY_CHECK_H */

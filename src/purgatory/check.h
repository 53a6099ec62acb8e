/* SPDX-License-Identifier: MIT */
/* check.h - asks requests whether they can be completed now. */
#ifndef HTW_SRC_PURGATORY_CHECK_H
#define HTW_SRC_PURGATORY_CHECK_H

#include "frame.h"

/* Calls `try_complete`. True: the request is DONE, and the owner must end it. The hook may have
   forked, and this be the child. The owner only. */
bool htw__request_is_ready(struct htw__frame *frame, struct htw_request *request);

/*
 * Whether the owner must end the request, with the reason in `*ret_reason`. If not, this call has
 * disowned the request, and the caller must not touch it any more. `idle` is the state that follows:
 * HTW__REQUEST_PENDING, or 0 if the request is the user's again.
 *
 * Calls `try_complete` if `ask`, and again as long as there are marks of events. The owner only.
 */
bool htw__request_must_end(struct htw__frame *frame, struct htw_request *request, bool ask,
                           uint32_t idle, enum htw_reason *ret_reason);

/*
 * A check of a key that a thread is making: it goes along the key in rounds.
 *
 * If a `try_complete` of this thread checks the same key, that check does not begin a walk of its
 * own, or n requests whose hooks do so would cause n! calls. It sets `again`, and another round
 * follows.
 *
 * Hooks that check their key in each call would cause endless rounds. So a check accepts only one
 * inner check for each request of the first round, and HTW__CHECK_SLACK more. And a round that one
 * request alone has caused does not ask that request, if it was asked for its own checks before.
 */
struct htw__check {
    uint64_t hash;
    const void *key;
    size_t size;
    uint64_t max;                     /* the most requests to complete, at least 1 */
    uint64_t completed;               /* requests that have ended with HTW_REASON_COMPLETED */
    uint64_t asked;                   /* requests in the first round */
    uint64_t heard;                   /* inner checks that were accepted */
    bool again;                       /* another round follows */
    const struct htw_request *author; /* which this request alone has caused; NULL: several have */
    const struct htw_request *once;   /* the last author that was asked again */
};

#define HTW__CHECK_SLACK 16u

/* Makes a check, of which the first four members are set and the others 0. */
void htw__check_make(struct htw__frame *frame, struct htw__check *check);

#endif /* HTW_SRC_PURGATORY_CHECK_H */

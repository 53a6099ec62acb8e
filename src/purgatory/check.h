/* SPDX-License-Identifier: MIT */
/* check.h - what an event on a key does. */
#ifndef HTW_SRC_PURGATORY_CHECK_H
#define HTW_SRC_PURGATORY_CHECK_H

#include "state.h"

/*
 * A check of a key that a thread is making. It goes along the key in rounds. Where a `try_complete`
 * of this thread checks the same key, no walk is begun inside the other, or n requests whose hooks
 * do so would cause n! calls: `again` is set, and another round follows.
 *
 * Hooks that check their key each time that they are asked would cause rounds for ever. So only so
 * many checks inside are heard: one for each request that the first round asks, and
 * HTW__CHECK_SLACK more. And a round that one request alone has caused does not ask that one, if it
 * was asked again for its own checks before.
 */
struct htw__check {
    uint64_t hash;
    const void *key;
    size_t size;
    uint64_t max;                     /* so many requests may end, not 0 */
    uint64_t completed;               /* requests that have ended with HTW_REASON_COMPLETED */
    uint64_t asked;                   /* requests, in the first round */
    uint64_t heard;                   /* checks inside that have caused a round */
    bool again;                       /* another round follows, */
    const struct htw_request *author; /* which only this one has caused; NULL: several have */
    const struct htw_request *once;   /* the last author that was asked again */
};

#define HTW__CHECK_SLACK 16u

/* Asks the requests on a key, until `max` have ended or none is left to be asked. The first four
   members of `check` are set, the others 0. */
void htw__check(struct htw__frame *frame, struct htw__check *check);

/* 0; what a call about a key answers when it cannot be one, or the purgatory is not this process's.
 */
int htw__key_refusal(const struct htw_purgatory *purgatory, const void *key, size_t key_size);

#endif /* HTW_SRC_PURGATORY_CHECK_H */

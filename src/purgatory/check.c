/* SPDX-License-Identifier: MIT */
/* check.c - calls try_complete: asks requests whether they can be completed now, because of an
   event on a key or because of a mark. */
#include "check.h"

#include "../base/user_code.h"
#include "deferred.h"
#include "end.h"
#include "keys.h"
#include "walk.h"

#include <string.h>

/* How often a call asks a request because of events of other threads. Then it hands the request
   over to a deferred check, so that other threads cannot keep it busy endlessly. */
#define ASKED_FOR_OTHERS_MAX 16u

/* Inline in checks, which call it for each request. */
static inline __attribute__((always_inline)) bool is_ready(struct htw__frame *frame,
                                                           struct htw_request *request) {
    const struct htw_purgatory *purgatory = frame->purgatory;
    if (purgatory->try_complete == NULL)
        return false;
    frame->request = request;
    bool ready = false;
    HTW__CALL_USER("a hook try_complete", frame->purgatory, purgatory->try_complete,
                   ready = purgatory->try_complete(purgatory->context, request));
    frame->request = NULL;
    if (ready) {
        htw__request_set_done(request);
        if (frame->check != NULL) /* what a mark ends belongs to the call that has left the mark */
            frame->check->completed++;
    }
    return ready;
}

bool htw__request_is_ready(struct htw__frame *frame, struct htw_request *request) {
    return is_ready(frame, request);
}

bool htw__request_must_end_marked(struct htw__frame *frame, struct htw_request *request,
                                  uint32_t idle, enum htw_reason *ret_reason) {
    bool asked_for_self = false;
    unsigned asked_for_others = 0;
    for (;;) {
        uint32_t state = htw__request_state(request);
        if ((state & HTW__REQUEST_FORCED) != 0) {
            htw__request_set_done(request);
            *ret_reason = htw__request_marked_reason(state);
            return true;
        }
        if (state == (HTW__REQUEST_PENDING | HTW__REQUEST_BUSY)) {
            if (htw__request_disown(request, idle))
                return false;
            continue;
        }
        /* Several events of its own hook in a row count as one: otherwise a hook that checks its
           own key in each call would be called endlessly. */
        bool by_others = (htw__request_clear_events(request) & HTW__REQUEST_AGAIN) != 0;
        bool ask = by_others || !asked_for_self;
        asked_for_self = !by_others;
        if (by_others && ++asked_for_others > ASKED_FOR_OTHERS_MAX) {
            if (htw__deferred_hand_over(request))
                return false;
            asked_for_others = 0;
        }
        if (ask && is_ready(frame, request)) {
            *ret_reason = HTW_REASON_COMPLETED;
            return true;
        }
    }
}

/* Visits the requests on the key once, and asks all but `unasked`. Each adds `one` to `asked`. */
static void make_round(struct htw__frame *frame, struct htw__check *check, uint64_t one,
                       const struct htw_request *unasked) {
    struct htw__walk walk;
    walk.purgatory = frame->purgatory;
    walk.shard = htw__purgatory_shard_of(frame->purgatory, check->hash);
    walk.mark = 0;
    struct htw_request *request = htw__walk_begin(&walk, check->hash, check->key, check->size);
    while (request != NULL) {
        enum htw_reason reason = HTW_REASON_COMPLETED;
        check->asked += one;
        if (request == unasked || !is_ready(frame, request)) {
            if (htw__walk_pass(&walk, &request))
                continue;
            if (!htw__request_must_end_marked(frame, request, HTW__REQUEST_PENDING, &reason)) {
                request = htw__walk_next(&walk);
                continue;
            }
        }
        bool is_last = check->completed == check->max;
        if (is_last)
            htw__walk_stop(&walk);
        htw__request_end_walked(frame, &walk, request, reason);
        if (is_last)
            break;
        request = htw__walk_next(&walk);
    }
}

void htw__check_make(struct htw__frame *frame, struct htw__check *check) {
    const struct htw_request *unasked = NULL;
    uint64_t one = 1; /* 0 from the second round on */
    frame->check = check;
    for (;;) {
        make_round(frame, check, one, unasked);
        if (!check->again || check->completed == check->max)
            break;
        unasked =
            check->next_sole_requester == check->sole_requester ? check->sole_requester : NULL;
        one = 0;
        check->sole_requester = check->next_sole_requester;
        check->again = false;
    }
    frame->check = NULL;
}

/* The check of this key that this thread is making; NULL: there is none. */
static struct htw__check *find_outer(const struct htw_purgatory *purgatory, uint64_t hash,
                                     const void *key, size_t size) {
    for (struct htw__frame *frame = htw__innermost_frame; frame != NULL; frame = frame->outer) {
        struct htw__check *check = frame->check;
        if (check != NULL && frame->purgatory == purgatory && check->hash == hash &&
            check->size == size && (size == 0 || memcmp(check->key, key, size) == 0))
            return check;
    }
    return NULL;
}

/* If this thread is checking the key already, has that check make another round, in which `max`
   more requests may end. False: it is not. */
static __attribute__((noinline)) bool check_again(const struct htw_purgatory *purgatory,
                                                  uint64_t hash, const void *key, size_t size,
                                                  uint64_t max) {
    struct htw__check *outer = find_outer(purgatory, hash, key, size);
    if (outer == NULL)
        return false;
    if (outer->again || outer->nested_checks_accepted < outer->asked + HTW__CHECK_EXTRA_ROUNDS) {
        const struct htw_request *requester = htw__innermost_frame->request;
        outer->next_sole_requester =
            !outer->again || outer->next_sole_requester == requester ? requester : NULL;
        outer->nested_checks_accepted++;
        outer->max = max > UINT64_MAX - outer->max ? UINT64_MAX : outer->max + max;
        outer->again = true;
    }
    return true;
}

static bool is_in_try_complete(void) {
    return htw__innermost_frame != NULL && htw__innermost_frame->request != NULL;
}

int64_t htw_purgatory_check_at_most(struct htw_purgatory *purgatory, const void *key,
                                    size_t key_size, uint64_t max) {
    int refusal = htw__key_refusal(purgatory, key, key_size);
    if (refusal != 0)
        return refusal;
    if (max == 0)
        return 0;
    uint64_t hash = htw__key_hash(key, key_size, purgatory->seed);
    htw__purgatory_shard_prefetch(purgatory, hash);
    if (is_in_try_complete() && check_again(purgatory, hash, key, key_size, max))
        return 0;
    struct htw__check check = { hash, key, key_size, max, .again = false };
    struct htw__frame frame = { 0 };
    htw__frame_push(&frame, purgatory);
    htw__check_make(&frame, &check);
    htw__frame_pop(&frame);
    return (int64_t)check.completed;
}

int64_t htw_purgatory_check(struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    return htw_purgatory_check_at_most(purgatory, key, key_size, UINT64_MAX);
}

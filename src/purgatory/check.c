/* SPDX-License-Identifier: MIT */
/*
 * check.c - calls try_complete: asks requests whether they can be completed now, because of an event on
 * a key or because of a mark. And deferred checks, which a callback of the scheduler makes.
 */
#include "check.h"

#include "end.h"
#include "owner.h"
#include "walk.h"
#include "watch.h"

#include <htw/group.h>

/* How often a call asks a request because of events of other threads. Then it hands the request
   over to a deferred check, so that other threads cannot keep it busy endlessly. */
#define ASKED_FOR_OTHERS_MAX 16u

/* See struct htw__check. */
#define EXTRA_ROUNDS 16u

/*
 * A check of a key that a thread is making, in rounds. A `try_complete` that checks the same key
 * causes another round; a walk inside the walk would make n! calls for n requests. To end, a check
 * accepts one nested check for each request of the first round, and EXTRA_ROUNDS more.
 * If one request alone causes two rounds in a row, the second does not ask it.
 */
struct htw__check {
    const struct htw__key *key;
    uint64_t max;   /* the most requests to complete, at least 1 */
    uint64_t asked; /* requests in the first round */
    uint64_t nested_checks_accepted;
    bool again; /* another round follows */
    /* The only request that has caused the next round, and the round that is being made; NULL:
       several have. */
    const struct htw_request *next_sole_requester, *sole_requester;
};

/* ---- deferred checks */

static int64_t make_check(struct htw_purgatory *purgatory, const struct htw__key *key,
                          uint64_t max);

/* The argument of a timer of the scheduler, whose callback makes a check. */
struct deferred {
    struct htw_purgatory *purgatory;
    struct htw__key key; /* its bytes are behind this */
};

static size_t bytes_of(size_t key_size) {
    return sizeof(struct deferred) + key_size;
}

void htw__make_deferred_check(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    struct deferred *deferred = arg;
    (void)make_check(deferred->purgatory, &deferred->key, UINT64_MAX);
}

static void count_bytes(struct deferred *deferred, int sign) {
    struct htw__purgatory_shard *shard = deferred->key.shard;
    htw__lock_acquire(&shard->first.lock);
    shard->bytes += (uint64_t)sign * bytes_of(deferred->key.size);
    htw__lock_release(&shard->first.lock);
}

/* The release hook: the check was made; or it never will be, since the scheduler was stopped or the purgatory
   is being destroyed. */
static void release_deferred(void *arg) {
    struct deferred *deferred = arg;
    struct htw_purgatory *purgatory = deferred->purgatory;
    count_bytes(deferred, -1);
    htw__release(&purgatory->allocator, deferred, bytes_of(deferred->key.size));
    htw__outstanding_remove(&purgatory->outstanding);
}

/* Whether a check of a key is scheduled that has not begun: the scheduler knows it by its key. */
static bool is_deferred(const struct htw_purgatory *purgatory, const struct htw__key *key) {
    return htw_find_key(purgatory->scheduler, purgatory->callbacks, key->bytes, key->size) != 0;
}

/* Schedules a check of a key, unless one is. 0, or the error of the scheduler. */
static int defer_check(struct htw_purgatory *purgatory, const struct htw__key *key) {
    struct htw_spec spec = HTW_SPEC_INIT;
    if (is_deferred(purgatory, key))
        return 0;
    struct deferred *deferred = htw__allocate(&purgatory->allocator, bytes_of(key->size));
    if (deferred == NULL)
        return -ENOMEM;
    *deferred = (struct deferred) { purgatory, *key };
    deferred->key.bytes = deferred + 1;
    htw__key_copy(deferred + 1, key->bytes, key->size);
    count_bytes(deferred, 1);
    htw__outstanding_add(&purgatory->outstanding);
    spec.key = key->bytes;
    spec.key_size = key->size;
    spec.site = purgatory->checks;
    spec.arg = deferred;
    spec.clock = htw__steady_clock(purgatory->scheduler);
    spec.group = purgatory->callbacks;
    spec.keep_existing = true;
    spec.release = release_deferred;
    int error = htw_schedule_spec(purgatory->scheduler, &spec, NULL, NULL);
    if (error != 0)
        release_deferred(deferred);
    return error == -EEXIST ? 0 : error;
}

int htw_purgatory_check_later(struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    struct htw__key hashed;
    int refusal = htw__key_of_call(purgatory, key, key_size, &hashed);
    if (refusal != 0)
        return refusal;
    htw__lock_acquire(&hashed.shard->first.lock);
    bool is_watched = htw__watched_key_find(&hashed) != NULL;
    htw__lock_release(&hashed.shard->first.lock);
    return is_watched ? defer_check(purgatory, &hashed) : 0;
}

/*
 * For the owner of a request that other threads mark again and again: disowns it together with its marks of events,
 * and has a deferred check of its first key ask it. False: a mark ends the request, the check cannot be scheduled, or
 * the scheduler has no thread to make it.
 */
static bool hand_over_request(struct htw_request *request) {
    struct htw_purgatory *purgatory = request->_purgatory;
    if (request->_count == 0 || !htw__scheduler_has_threads(purgatory->scheduler))
        return false;
    struct htw__watch *watch = htw__request_watch(request, 0);
    struct htw__purgatory_shard *shard = htw__watch_shard(purgatory, watch);
    htw__lock_acquire(&shard->first.lock);
    struct htw__key key = htw__watched_key_name(shard, htw__watch_key(watch));
    htw__lock_release(&shard->first.lock);
    bool deferred = false, disowned = false;
    while (!deferred && defer_check(purgatory, &key) == 0) {
        /* Under the lock that a check takes to find the request: it finds it without an owner. */
        htw__lock_acquire(&shard->first.lock);
        deferred = is_deferred(purgatory, &key);
        while (deferred && !(disowned = htw__request_disown(request, HTW__REQUEST_PENDING)) &&
               (htw__request_clear_events(request) & HTW__REQUEST_FORCED) == 0)
            ;
        htw__lock_release(&shard->first.lock);
    }
    return disowned;
}

/* ---- one request */

bool htw__request_must_end(struct htw__frame *frame, struct htw_request *request, uint32_t idle,
                           enum htw_reason *ret_reason) {
    bool asked_for_self = false;
    unsigned asked_for_others = 0;
    while (!htw__request_disown(request, idle)) {
        uint32_t state = htw__request_state(request);
        if ((state & HTW__REQUEST_FORCED) != 0) {
            htw__request_set_done(request);
            *ret_reason = htw__request_marked_reason(state);
            return true;
        }
        /* Several events of its own hook in a row count as one: otherwise a hook that checks its
           own key in each call would be called endlessly. */
        bool by_others = (htw__request_clear_events(request) & HTW__REQUEST_AGAIN) != 0;
        bool ask = by_others || !asked_for_self;
        asked_for_self = !by_others;
        if (by_others && ++asked_for_others > ASKED_FOR_OTHERS_MAX && hand_over_request(request))
            return false;
        if (ask && htw__call_try_complete(frame, request)) {
            *ret_reason = HTW_REASON_COMPLETED;
            return true;
        }
    }
    return false;
}

/* ---- checks */

/* Visits the requests on the key once, and asks all but `unasked`. Each adds `one` to `asked`. */
static void make_round(struct htw__frame *frame, struct htw__check *check, uint64_t one,
                       const struct htw_request *unasked) {
    struct htw__walk walk;
    walk.purgatory = frame->purgatory;
    walk.mark = 0;
    struct htw_request *request = htw__walk_begin(&walk, check->key);
    while (request != NULL) {
        enum htw_reason reason = HTW_REASON_COMPLETED;
        check->asked += one;
        if (request == unasked || !htw__call_try_complete(frame, request)) {
            if (htw__walk_pass(&walk, &request))
                continue;
            if (!htw__request_must_end(frame, request, HTW__REQUEST_PENDING, &reason)) {
                request = htw__walk_next(&walk);
                continue;
            }
        }
        bool is_last = frame->completed == check->max;
        if (is_last)
            htw__walk_stop(&walk);
        htw__request_end(frame, request, reason);
        if (is_last)
            break;
        request = htw__walk_next(&walk);
    }
}

/* Returns how many requests answered yes. */
static int64_t make_check(struct htw_purgatory *purgatory, const struct htw__key *key,
                          uint64_t max) {
    struct htw__check check = { key, max, .again = false };
    struct htw__frame frame = { .check = &check };
    const struct htw_request *unasked = NULL;
    uint64_t one = 1; /* 0 from the second round on */
    htw__frame_push(&frame, purgatory);
    for (;;) {
        make_round(&frame, &check, one, unasked);
        if (!check.again || frame.completed == check.max)
            break;
        unasked = check.next_sole_requester == check.sole_requester ? check.sole_requester : NULL;
        one = 0;
        check.sole_requester = check.next_sole_requester;
        check.again = false;
    }
    htw__frame_pop(&frame);
    return (int64_t)frame.completed;
}

/* The check of this key that this thread is making; NULL: there is none. */
static struct htw__check *find_outer(const struct htw_purgatory *purgatory,
                                     const struct htw__key *key) {
    for (struct htw__frame *frame = htw__innermost_frame; frame != NULL; frame = frame->outer) {
        struct htw__check *check = frame->check;
        if (check != NULL && frame->purgatory == purgatory && htw__key_equals(check->key, key))
            return check;
    }
    return NULL;
}

/* If this thread is checking the key already, has that check make another round, in which `max`
   more requests may end. False: it is not. */
static __attribute__((noinline)) bool check_again(const struct htw_purgatory *purgatory,
                                                  const struct htw__key *key, uint64_t max) {
    struct htw__check *outer = find_outer(purgatory, key);
    if (outer == NULL)
        return false;
    if (outer->again || outer->nested_checks_accepted < outer->asked + EXTRA_ROUNDS) {
        const struct htw_request *requester = htw__innermost_frame->request;
        outer->next_sole_requester =
            !outer->again || outer->next_sole_requester == requester ? requester : NULL;
        outer->nested_checks_accepted++;
        outer->max = max > UINT64_MAX - outer->max ? UINT64_MAX : outer->max + max;
        outer->again = true;
    }
    return true;
}

int64_t htw_purgatory_check_at_most(struct htw_purgatory *purgatory, const void *key,
                                    size_t key_size, uint64_t max) {
    struct htw__key hashed;
    int refusal = htw__key_of_call(purgatory, key, key_size, &hashed);
    if (refusal != 0)
        return refusal;
    const struct htw__frame *outer = htw__innermost_frame;
    bool is_in_try_complete = outer != NULL && outer->request != NULL;
    if (max == 0 || (is_in_try_complete && check_again(purgatory, &hashed, max)))
        return 0;
    return make_check(purgatory, &hashed, max);
}

/* SPDX-License-Identifier: MIT */
/*
 * check.c - calls try_complete: asks requests whether they can be completed now, because of an event on
 * a key or because of a mark. And deferred checks, which a callback of the scheduler makes.
 *
 * Each shard has a queue of deferred checks; one callback makes all of them. A check is queued only
 * while a callback is scheduled and has not begun, so no check is forgotten. Each queued check
 * keeps its key alive, so events of one key are merged.
 */
#include "check.h"

#include "../base/user_code.h"
#include "end.h"
#include "owner.h"
#include "watch.h"

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
    struct htw__key key;
    uint64_t max;       /* the most requests to complete, at least 1 */
    uint64_t completed; /* requests whose `try_complete` has returned true */
    uint64_t asked;     /* requests in the first round */
    uint64_t nested_checks_accepted;
    bool again; /* another round follows */
    /* The only request that has caused the next round, and the round that is being made; NULL:
       several have. */
    const struct htw_request *next_sole_requester, *sole_requester;
};

/* ---- one request */

static bool hand_over_request(struct htw_request *request);

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
        if (by_others && ++asked_for_others > ASKED_FOR_OTHERS_MAX) {
            if (hand_over_request(request))
                return false;
            asked_for_others = 0;
        }
        if (ask && is_ready(frame, request)) {
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
    struct htw_request *request = htw__walk_begin(&walk, &check->key);
    while (request != NULL) {
        enum htw_reason reason = HTW_REASON_COMPLETED;
        check->asked += one;
        if (request == unasked || !is_ready(frame, request)) {
            if (htw__walk_pass(&walk, &request))
                continue;
            if (!htw__request_must_end(frame, request, HTW__REQUEST_PENDING, &reason)) {
                request = htw__walk_next(&walk);
                continue;
            }
        }
        bool is_last = check->completed == check->max;
        if (is_last)
            htw__walk_stop(&walk);
        htw__request_end(frame, &walk, request, reason);
        if (is_last)
            break;
        request = htw__walk_next(&walk);
    }
}

/* Makes a check, of which the first two members are set and the others 0. */
static void make_check(struct htw__frame *frame, struct htw__check *check) {
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
static struct htw__check *find_outer(const struct htw_purgatory *purgatory,
                                     const struct htw__key *key) {
    for (struct htw__frame *frame = htw__innermost_frame; frame != NULL; frame = frame->outer) {
        struct htw__check *check = frame->check;
        if (check != NULL && frame->purgatory == purgatory && htw__key_equals(&check->key, key))
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

static bool is_in_try_complete(void) {
    return htw__innermost_frame != NULL && htw__innermost_frame->request != NULL;
}

int64_t htw_purgatory_check_at_most(struct htw_purgatory *purgatory, const void *key,
                                    size_t key_size, uint64_t max) {
    struct htw__key hashed;
    int refusal = htw__key_of_call(purgatory, key, key_size, &hashed);
    if (refusal != 0)
        return refusal;
    if (max == 0 || (is_in_try_complete() && check_again(purgatory, &hashed, max)))
        return 0;
    struct htw__check check = { hashed, max, .again = false };
    struct htw__frame frame = { 0 };
    htw__frame_push(&frame, purgatory);
    make_check(&frame, &check);
    htw__frame_pop(&frame);
    return (int64_t)check.completed;
}

int64_t htw_purgatory_check(struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    return htw_purgatory_check_at_most(purgatory, key, key_size, UINT64_MAX);
}

/* ---- deferred checks */

/* A check in the queue. */
struct htw__deferred {
    struct htw__deferred *next;
    struct htw__key_cell *key; /* valid until the check begins */
    struct htw__key_node copy; /* of it; its bytes are behind this */
};

static size_t bytes_of(size_t key_size) {
    return sizeof(struct htw__deferred) + key_size;
}

static struct htw__deferred *pop_deferred(struct htw__deferred **queue) {
    struct htw__deferred *deferred = *queue;
    if (deferred != NULL)
        *queue = deferred->next;
    return deferred;
}

static void free_check(struct htw__purgatory_shard *shard, struct htw__deferred *deferred) {
    shard->bytes -= bytes_of(deferred->copy.size);
    htw__release(&shard->purgatory->allocator, deferred, bytes_of(deferred->copy.size));
}

/* A check begins or is dropped: another one of its key may be queued. Returns whether requests wait
   on the key. Under the lock. */
static bool release_key(struct htw__purgatory_shard *shard, struct htw__deferred *deferred) {
    bool is_watched = htw__watched_key_is_used(deferred->key);
    deferred->key->is_deferred = false;
    htw__watched_key_free_if_unused(shard->purgatory, shard, deferred->key);
    return is_watched;
}

static void make_deferred(struct htw__frame *frame, struct htw__purgatory_shard *shard,
                          struct htw__deferred *deferred) {
    htw__lock_acquire(&shard->first.lock);
    bool is_watched = release_key(shard, deferred);
    htw__lock_release(&shard->first.lock);
    if (is_watched) {
        const struct htw__key_node *copy = &deferred->copy;
        struct htw__check check = { { copy->hash, htw__key_node_key(copy), copy->size },
                                    .max = UINT64_MAX };
        make_check(frame, &check);
    }
    htw__lock_acquire(&shard->first.lock);
    free_check(shard, deferred);
    htw__lock_release(&shard->first.lock);
}

/* Empties the queue. Under the lock. */
static struct htw__deferred *take_queue(struct htw__purgatory_shard *shard) {
    struct htw__deferred *queue = shard->deferred;
    shard->deferred = NULL;
    shard->deferred_end = &shard->deferred;
    return queue;
}

static void make_all_deferred(struct htw__purgatory_shard *shard, struct htw__deferred *queue) {
    struct htw__frame frame = { 0 };
    htw__frame_push(&frame, shard->purgatory);
    struct htw__deferred *deferred;
    while ((deferred = pop_deferred(&queue)) != NULL)
        make_deferred(&frame, shard, deferred);
    htw__frame_pop(&frame);
}

/* It leaves checks that are queued meanwhile to the next one, so that it returns. */
void htw__run_checks(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    struct htw__purgatory_shard *shard = arg;
    htw__lock_acquire(&shard->first.lock);
    shard->runs_due--;
    struct htw__deferred *queue = take_queue(shard);
    htw__lock_release(&shard->first.lock);
    make_all_deferred(shard, queue);
}

/* Whether a callback will take what is queued. (`runs_due` is -1 for a moment if a callback begins
   before the call that has scheduled it returns.) Under the lock. */
static bool is_run_due(const struct htw__purgatory_shard *shard) {
    return shard->runs_due > 0;
}

static void release_run(void *arg);

/* Schedules a callback. 0, or the error of the scheduler; -ESHUTDOWN also if the purgatory is being
   destroyed. */
static int schedule_run(struct htw__purgatory_shard *shard) {
    struct htw_purgatory *purgatory = shard->purgatory;
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.site = purgatory->checks;
    spec.arg = shard;
    spec.group = purgatory->callbacks;
    spec.release = release_run;
    if (!htw__outstanding_add(&purgatory->outstanding))
        return -ESHUTDOWN;
    int error = htw_schedule_spec(purgatory->scheduler, &spec, NULL, NULL);
    if (error != 0) {
        htw__outstanding_remove(&purgatory->outstanding);
        return error;
    }
    htw__lock_acquire(&shard->first.lock);
    shard->runs_due++;
    htw__lock_release(&shard->first.lock);
    return 0;
}

/* Drops the checks in the queue. Under the lock. */
static void drop_all_deferred(struct htw__purgatory_shard *shard) {
    struct htw__deferred *queue = take_queue(shard);
    for (struct htw__deferred *deferred; (deferred = pop_deferred(&queue)) != NULL;) {
        release_key(shard, deferred);
        free_check(shard, deferred);
    }
}

/* The release hook of a callback that has run; or of one that never does, since the scheduler was stopped
   or the purgatory is being destroyed. */
static void release_run(void *arg) {
    struct htw__purgatory_shard *shard = arg;
    struct htw_purgatory *purgatory = shard->purgatory;
    htw__lock_acquire(&shard->first.lock);
    if (shard->first.is_closed || htw__scheduler_is_stopped(purgatory->scheduler))
        drop_all_deferred(shard);
    htw__lock_release(&shard->first.lock);
    htw__outstanding_remove(&purgatory->outstanding);
}

/* Adds a check of a key to the queue, unless one is there already. -EAGAIN: no callback is due; -ESHUTDOWN:
   none will begin. A stop that is not seen here drops the queue later: in release_run(). Under the lock. */
static int queue_check(struct htw__purgatory_shard *shard, struct htw__key_cell *key) {
    if (key->is_deferred)
        return 0;
    if (htw__scheduler_is_stopped(shard->purgatory->scheduler))
        return -ESHUTDOWN;
    if (!is_run_due(shard))
        return -EAGAIN;
    const struct htw__key name = htw__watched_key_name(shard, key);
    struct htw__deferred *deferred =
        htw__allocate(&shard->purgatory->allocator, bytes_of(name.size));
    if (deferred == NULL)
        return -ENOMEM;
    *deferred = (struct htw__deferred) { .key = key };
    htw__key_copy(deferred + 1, name.bytes, name.size);
    htw__key_node_set(&deferred->copy, name.hash, deferred + 1, name.size);
    *shard->deferred_end = deferred;
    shard->deferred_end = &deferred->next;
    shard->bytes += bytes_of(name.size);
    key->is_deferred = true;
    return 0;
}

/* Queues a check, unless no request waits on the key. As queue_check(). */
static int try_to_queue(struct htw__purgatory_shard *shard, const struct htw__key *source) {
    htw__lock_acquire(&shard->first.lock);
    struct htw__key_cell *key = htw__watched_key_find(shard, source);
    int result = key != NULL ? queue_check(shard, key) : 0;
    htw__lock_release(&shard->first.lock);
    return result;
}

/* Under the lock under which a queued check begins: so it finds the request without an owner. As
   queue_check(); -ESHUTDOWN. */
static int try_to_hand_over(struct htw__purgatory_shard *shard, struct htw_request *request,
                            bool *ret_disowned) {
    htw__lock_acquire(&shard->first.lock);
    struct htw__key_cell *key = htw__watch_key(htw__request_watch(request, 0));
    int result = shard->first.is_closed ? -ESHUTDOWN : queue_check(shard, key);
    *ret_disowned = result == 0 && htw__request_disown_marked(request);
    htw__lock_release(&shard->first.lock);
    return result;
}

/*
 * For the owner of a request that other threads mark again and again: queues a check of its first
 * key, and disowns the request together with its marks of events. That check asks the request.
 * False: nothing has changed, because a mark ends the request, or the check cannot be queued, or
 * the scheduler has no thread to make it.
 */
static bool hand_over_request(struct htw_request *request) {
    struct htw_purgatory *purgatory = request->_purgatory;
    if (request->_count == 0 || !htw__scheduler_has_threads(purgatory->scheduler))
        return false;
    struct htw__purgatory_shard *shard =
        htw__watch_shard(purgatory, htw__request_watch(request, 0));
    bool disowned;
    while (try_to_hand_over(shard, request, &disowned) == -EAGAIN)
        if (schedule_run(shard) != 0)
            return false;
    return disowned;
}

int htw_purgatory_check_later(struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    struct htw__key hashed;
    int result = htw__key_of_call(purgatory, key, key_size, &hashed);
    if (result != 0)
        return result;
    struct htw__purgatory_shard *shard = htw__purgatory_shard_of(purgatory, hashed.hash);
    /* If the callback begins before the check is queued, another one is needed. */
    while ((result = try_to_queue(shard, &hashed)) == -EAGAIN) {
        int error = schedule_run(shard);
        if (error != 0)
            return error;
    }
    return result;
}

/* SPDX-License-Identifier: MIT */
/* later.c - checks that run in the scheduler's threads. */
/*
 * A shard has a queue of checks. They are made by a callback, run(), which takes the whole
 * queue. A check is queued only while such a callback is due (runs_started < runs_scheduled),
 * so that it cannot be forgotten; whoever finds none due schedules one first.
 *
 * A key has at most one check queued, which its tag says; so a burst of events on a key is one
 * check. The check holds the key, so that the tag lasts when the last request leaves the key and
 * another one comes.
 *
 * An executor may drop the callback. Then another one is scheduled: at once the first time, and
 * later each time that it is dropped again, up to a second. Where the scheduler refuses it, the
 * thread that has dropped the callback makes the checks.
 */
#include "later.h"

#include "check.h"
#include "request.h"
#include "watch.h"

#include <errno.h>
#include <string.h>

/* How long after it was dropped a second time a callback is scheduled again; twice as long each
   time, up to so many times. */
#define RETRY_NS HTW_MILLISECOND
#define RETRY_DOUBLINGS_MAX 10u

static size_t later_bytes(size_t key_size) {
    return sizeof(struct htw__later) + key_size;
}

static struct htw__later *take_first(struct htw__later **queue) {
    struct htw__later *later = *queue;
    if (later != NULL)
        *queue = later->next;
    return later;
}

static void release_later(struct htw__purgatory_shard *shard, struct htw__later *later) {
    shard->bytes -= later_bytes(later->size);
    htw__release(&shard->purgatory->allocator, later, later_bytes(later->size));
}

/* The check holds its key no longer, which may be queued again. Whether requests wait on it. Under
   the lock. */
static bool let_key_go(struct htw__purgatory_shard *shard, struct htw__later *later) {
    bool is_watched = !htw__ring_is_empty(&later->key->watches);
    later->key->node.tag &= ~(uint32_t)HTW__KEY_LATER;
    htw__watched_key_leave(shard, later->key);
    return is_watched;
}

/* Makes one check. */
static void make(struct htw__frame *frame, struct htw__purgatory_shard *shard,
                 struct htw__later *later) {
    htw__lock_acquire(&shard->lock);
    bool is_watched = let_key_go(shard, later);
    htw__lock_release(&shard->lock);
    if (is_watched) {
        struct htw__check check = { later->hash, later + 1, later->size, .max = UINT64_MAX };
        htw__check(frame, &check);
    }
    if (htw__purgatory_is_child(shard->purgatory))
        return;
    htw__lock_acquire(&shard->lock);
    release_later(shard, later);
    htw__lock_release(&shard->lock);
}

/* Under the lock. */
static struct htw__later *take_queue(struct htw__purgatory_shard *shard) {
    struct htw__later *queue = shard->later;
    shard->later = NULL;
    shard->later_end = &shard->later;
    return queue;
}

static void make_all(struct htw__purgatory_shard *shard, struct htw__later *queue) {
    struct htw__frame frame = { 0 };
    htw__frame_push(&frame, shard->purgatory);
    struct htw__later *later;
    while (!htw__purgatory_is_child(shard->purgatory) && (later = take_first(&queue)) != NULL)
        make(&frame, shard, later);
    htw__frame_pop(&frame);
}

/* The callback. It takes what is queued now: a steady stream of events must not keep it for ever
   from returning to the scheduler. */
static void run(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    struct htw__purgatory_shard *shard = arg;
    htw__lock_acquire(&shard->lock);
    shard->runs_started++;
    shard->runs_dropped = 0;
    struct htw__later *queue = take_queue(shard);
    htw__lock_release(&shard->lock);
    make_all(shard, queue);
}

/* Whether a callback is going to take what is queued. */
static bool is_due(const struct htw__purgatory_shard *shard) {
    return (int32_t)(shard->runs_scheduled - shard->runs_started) > 0;
}

static int64_t retry_delay_ns(const struct htw__purgatory_shard *shard) {
    if (shard->runs_dropped < 2)
        return 0;
    uint32_t doublings = shard->runs_dropped - 2;
    return RETRY_NS << (doublings < RETRY_DOUBLINGS_MAX ? doublings : RETRY_DOUBLINGS_MAX);
}

static void release_run(void *arg);

static int schedule_run(struct htw__purgatory_shard *shard) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = run;
    spec.arg = shard;
    spec.group = shard->purgatory->callbacks;
    spec.release = release_run;
    htw__lock_acquire(&shard->lock);
    shard->runs_tried++;
    spec.when_ns = retry_delay_ns(shard);
    htw__lock_release(&shard->lock);
    int error = htw_schedule_spec(shard->purgatory->scheduler, &spec, NULL, NULL);
    htw__lock_acquire(&shard->lock);
    if (error == 0)
        shard->runs_scheduled++;
    else
        shard->runs_tried--;
    htw__lock_release(&shard->lock);
    return error;
}

/* Forgets what is queued. Under the lock. */
static void drop(struct htw__purgatory_shard *shard) {
    struct htw__later *queue = take_queue(shard);
    for (struct htw__later *later; (later = take_first(&queue)) != NULL;) {
        let_key_go(shard, later);
        release_later(shard, later);
    }
}

/* Schedules another callback for what is queued. If the scheduler refuses it, this thread makes the
   checks; if it was stopped, they are dropped. */
static void rescue(struct htw__purgatory_shard *shard) {
    int error = schedule_run(shard);
    if (error == 0)
        return;
    htw__lock_acquire(&shard->lock);
    struct htw__later *queue = NULL;
    if (!is_due(shard)) {
        if (error == -ESHUTDOWN)
            drop(shard);
        queue = take_queue(shard);
    }
    htw__lock_release(&shard->lock);
    make_all(shard, queue);
}

/* The callback's release hook. Where it was not run, since the scheduler was stopped or an executor
   has dropped it, another one is tried. */
static void release_run(void *arg) {
    struct htw__purgatory_shard *shard = arg;
    htw__lock_acquire(&shard->lock);
    if ((int32_t)(++shard->runs_released - shard->runs_started) > 0) {
        shard->runs_started = shard->runs_released;
        shard->runs_dropped++;
    }
    bool is_stranded = shard->later != NULL && !is_due(shard);
    htw__lock_release(&shard->lock);
    if (is_stranded)
        rescue(shard);
    if (htw__purgatory_is_child(shard->purgatory))
        return;
    htw__lock_acquire(&shard->lock);
    shard->runs_over++; /* from when the lock is given back on, the shard may be gone */
    htw__lock_release(&shard->lock);
}

static int queue_check(struct htw__purgatory_shard *shard, struct htw__watched_key *key) {
    size_t size = key->node.size;
    struct htw__later *later = htw__allocate(&shard->purgatory->allocator, later_bytes(size));
    if (later == NULL)
        return -ENOMEM;
    *later = (struct htw__later) { .key = key, .hash = key->node.hash, .size = size };
    if (size > 0)
        memcpy(later + 1, key->node.key, size);
    *shard->later_end = later;
    shard->later_end = &later->next;
    shard->bytes += later_bytes(size);
    key->node.tag |= HTW__KEY_LATER;
    return 0;
}

/* Queues a check if that is wanted and a callback is due. -EAGAIN: none is. */
static int try_to_queue(struct htw__purgatory_shard *shard, uint64_t hash, const void *bytes,
                        size_t size) {
    htw__lock_acquire(&shard->lock);
    struct htw__watched_key *key = htw__watched_key_find(shard, hash, bytes, size);
    int result = 0;
    if (key != NULL && (key->node.tag & HTW__KEY_LATER) == 0)
        result = is_due(shard) ? queue_check(shard, key) : -EAGAIN;
    htw__lock_release(&shard->lock);
    return result;
}

/* Under the lock under which a check begins: one that is queued has not. -EAGAIN: no callback is
   due. */
static int try_to_hand_over(struct htw__purgatory_shard *shard, struct htw_request *request,
                            bool *ret_given_up) {
    htw__lock_acquire(&shard->lock);
    struct htw__watched_key *key = htw__watch_key(htw__request_watch(request, 0));
    int result = 0;
    if (shard->closed)
        result = -ESHUTDOWN;
    else if ((key->node.tag & HTW__KEY_LATER) == 0)
        result = is_due(shard) ? queue_check(shard, key) : -EAGAIN;
    *ret_given_up = result == 0 && htw__request_give_up(request);
    htw__lock_release(&shard->lock);
    return result;
}

bool htw__later_hand_over(struct htw_request *request) {
    struct htw_purgatory *purgatory = request->_purgatory;
    if (request->_count == 0 || !htw__scheduler_has_threads(purgatory->scheduler))
        return false;
    struct htw__purgatory_shard *shard =
        htw__watch_shard(purgatory, htw__request_watch(request, 0));
    bool given_up;
    while (try_to_hand_over(shard, request, &given_up) == -EAGAIN)
        if (schedule_run(shard) != 0)
            return false;
    return given_up;
}

int htw_purgatory_check_later(struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    int refusal = htw__key_refusal(purgatory, key, key_size);
    if (refusal != 0)
        return refusal;
    uint64_t hash = htw__key_hash(key, key_size, purgatory->seed);
    struct htw__purgatory_shard *shard = htw__purgatory_shard_of(purgatory, hash);
    int result;
    /* A callback may run before anything is queued: then another one is needed. */
    while ((result = try_to_queue(shard, hash, key, key_size)) == -EAGAIN) {
        int error = schedule_run(shard);
        if (error != 0)
            return error;
    }
    return result;
}

void htw__later_drop(struct htw__purgatory_shard *shard) {
    htw__lock_acquire(&shard->lock);
    drop(shard);
    htw__lock_release(&shard->lock);
}

bool htw__later_is_quiet(struct htw__purgatory_shard *shard) {
    htw__lock_acquire(&shard->lock);
    bool quiet = shard->runs_tried == shard->runs_over;
    htw__lock_release(&shard->lock);
    return quiet;
}

/* SPDX-License-Identifier: MIT */
/*
 * deferred.c - checks that a callback of the scheduler makes.
 *
 * Each shard has a queue of checks; one callback runs all queued checks. A check is queued only
 * while a callback is scheduled and has not begun, so no check is forgotten. Each queued check
 * keeps its key alive, so events of one key are merged.
 *
 * If an executor drops the callback, its release hook schedules another one: at once the first
 * time, then with delays that double up to a second. If the scheduler refuses that, the thread of
 * the hook makes the checks.
 */
#include "deferred.h"

#include "check.h"
#include "keys.h"
#include "watch.h"

/* The delay after the second drop in a row. It doubles with each further drop. */
#define RETRY_NS HTW_MILLISECOND
#define RETRY_DOUBLINGS_MAX 10u

/* A check in the queue. */
struct htw__deferred {
    struct htw__deferred *next;
    struct htw__watched_key *key; /* valid until the check begins */
    struct htw__key_node copy;    /* of it; its bytes are behind this */
};

static size_t bytes_of(size_t key_size) {
    return sizeof(struct htw__deferred) + key_size;
}

static struct htw__deferred *pop(struct htw__deferred **queue) {
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
    bool is_watched = !htw__ring_is_empty(&deferred->key->watches);
    deferred->key->node.tag &= ~(uint32_t)HTW__KEY_DEFERRED;
    htw__watched_key_free_if_unused(shard->purgatory, shard, deferred->key);
    return is_watched;
}

static void make(struct htw__frame *frame, struct htw__purgatory_shard *shard,
                 struct htw__deferred *deferred) {
    htw__lock_acquire(&shard->lock);
    bool is_watched = release_key(shard, deferred);
    htw__lock_release(&shard->lock);
    if (is_watched) {
        struct htw__check check = { deferred->copy.hash, deferred->copy.key, deferred->copy.size,
                                    .max = UINT64_MAX };
        htw__check_make(frame, &check);
    }
    htw__lock_acquire(&shard->lock);
    free_check(shard, deferred);
    htw__lock_release(&shard->lock);
}

/* Empties the queue. Under the lock. */
static struct htw__deferred *drain(struct htw__purgatory_shard *shard) {
    struct htw__deferred *queue = shard->deferred;
    shard->deferred = NULL;
    shard->deferred_end = &shard->deferred;
    return queue;
}

static void make_all(struct htw__purgatory_shard *shard, struct htw__deferred *queue) {
    struct htw__frame frame = { 0 };
    htw__frame_push(&frame, shard->purgatory);
    struct htw__deferred *deferred;
    while ((deferred = pop(&queue)) != NULL)
        make(&frame, shard, deferred);
    htw__frame_pop(&frame);
}

/* The callback. It leaves checks that are queued meanwhile to the next one, so that it returns. */
static void run(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    struct htw__purgatory_shard *shard = arg;
    htw__lock_acquire(&shard->lock);
    shard->runs_due--;
    shard->runs_begun++;
    shard->runs_dropped = 0;
    struct htw__deferred *queue = drain(shard);
    htw__lock_release(&shard->lock);
    make_all(shard, queue);
}

/* Whether a callback will take what is queued. (`runs_due` is -1 for a moment if a callback begins
   before the call that has scheduled it returns.) Under the lock. */
static bool is_due(const struct htw__purgatory_shard *shard) {
    return shard->runs_due > 0;
}

static int64_t retry_delay_ns(const struct htw__purgatory_shard *shard) {
    if (shard->runs_dropped < 2)
        return 0;
    uint32_t doublings = shard->runs_dropped - 2;
    return RETRY_NS << (doublings < RETRY_DOUBLINGS_MAX ? doublings : RETRY_DOUBLINGS_MAX);
}

static void release_run(void *arg);

/* Schedules a callback. 0, or the error of the scheduler; -ESHUTDOWN also if the purgatory is being
   destroyed. */
static int schedule_run(struct htw__purgatory_shard *shard) {
    struct htw_purgatory *purgatory = shard->purgatory;
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = run;
    spec.arg = shard;
    spec.group = purgatory->callbacks;
    spec.release = release_run;
    if (!htw__outstanding_add(&purgatory->outstanding))
        return -ESHUTDOWN;
    htw__lock_acquire(&shard->lock);
    spec.when_ns = retry_delay_ns(shard);
    htw__lock_release(&shard->lock);
    int error = htw_schedule_spec(purgatory->scheduler, &spec, NULL, NULL);
    if (error != 0) {
        htw__outstanding_remove(&purgatory->outstanding);
        return error;
    }
    htw__lock_acquire(&shard->lock);
    shard->runs_due++;
    htw__lock_release(&shard->lock);
    return 0;
}

/* Drops the checks in the queue. Under the lock. */
static void drop_all(struct htw__purgatory_shard *shard) {
    struct htw__deferred *queue = drain(shard);
    for (struct htw__deferred *deferred; (deferred = pop(&queue)) != NULL;) {
        release_key(shard, deferred);
        free_check(shard, deferred);
    }
}

/* Schedules another callback for the queue. If that is refused, makes the checks; after a stop, or
   during destroy, drops them. */
static void reschedule_run(struct htw__purgatory_shard *shard) {
    int error = schedule_run(shard);
    if (error == 0)
        return;
    htw__lock_acquire(&shard->lock);
    struct htw__deferred *queue = NULL;
    if (!is_due(shard)) {
        if (error == -ESHUTDOWN)
            drop_all(shard);
        queue = drain(shard);
    }
    htw__lock_release(&shard->lock);
    make_all(shard, queue);
}

/*
 * The release hook of a callback that has run or was dropped; then the queue needs another one. The
 * hook cannot tell which of two callbacks was dropped: while another one is running, this one
 * counts as run, and the hook of the other one notices the drop.
 */
static void release_run(void *arg) {
    struct htw__purgatory_shard *shard = arg;
    struct htw_purgatory *purgatory = shard->purgatory;
    htw__lock_acquire(&shard->lock);
    if (shard->runs_begun > 0) {
        shard->runs_begun--;
    } else {
        shard->runs_due--;
        shard->runs_dropped++;
    }
    bool is_stranded = shard->deferred != NULL && !is_due(shard);
    htw__lock_release(&shard->lock);
    if (is_stranded)
        reschedule_run(shard);
    htw__outstanding_remove(&purgatory->outstanding);
}

/* Adds a check of a key to the queue. Under the lock. */
static int queue_check(struct htw__purgatory_shard *shard, struct htw__watched_key *key) {
    size_t size = key->node.size;
    struct htw__deferred *deferred = htw__allocate(&shard->purgatory->allocator, bytes_of(size));
    if (deferred == NULL)
        return -ENOMEM;
    *deferred = (struct htw__deferred) { .key = key };
    htw__key_node_set(&deferred->copy, deferred + 1, key->node.hash, key->node.key, size);
    *shard->deferred_end = deferred;
    shard->deferred_end = &deferred->next;
    shard->bytes += bytes_of(size);
    key->node.tag |= HTW__KEY_DEFERRED;
    return 0;
}

/* Queues a check, unless no request waits on the key or a check of it is queued. -EAGAIN: no
   callback is due. */
static int try_to_queue(struct htw__purgatory_shard *shard, uint64_t hash, const void *bytes,
                        size_t size) {
    htw__lock_acquire(&shard->lock);
    struct htw__watched_key *key = htw__watched_key_find(shard, hash, bytes, size);
    int result = 0;
    if (key != NULL && (key->node.tag & HTW__KEY_DEFERRED) == 0)
        result = is_due(shard) ? queue_check(shard, key) : -EAGAIN;
    htw__lock_release(&shard->lock);
    return result;
}

/* Under the lock under which a queued check begins: so it finds the request without an owner.
   -EAGAIN: no callback is due. */
static int try_to_hand_over(struct htw__purgatory_shard *shard, struct htw_request *request,
                            bool *ret_disowned) {
    htw__lock_acquire(&shard->lock);
    struct htw__watched_key *key = htw__watch_key(htw__request_watch(request, 0));
    int result = 0;
    if (shard->closed)
        result = -ESHUTDOWN;
    else if ((key->node.tag & HTW__KEY_DEFERRED) == 0)
        result = is_due(shard) ? queue_check(shard, key) : -EAGAIN;
    *ret_disowned = result == 0 && htw__request_disown_marked(request);
    htw__lock_release(&shard->lock);
    return result;
}

bool htw__deferred_hand_over(struct htw_request *request) {
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
    int refusal = htw__key_refusal(purgatory, key, key_size);
    if (refusal != 0)
        return refusal;
    uint64_t hash = htw__key_hash(key, key_size, purgatory->seed);
    struct htw__purgatory_shard *shard = htw__purgatory_shard_of(purgatory, hash);
    int result;
    /* If the callback begins before the check is queued, another one is needed. */
    while ((result = try_to_queue(shard, hash, key, key_size)) == -EAGAIN) {
        int error = schedule_run(shard);
        if (error != 0)
            return error;
    }
    return result;
}

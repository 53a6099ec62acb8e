/* SPDX-License-Identifier: MIT */
/*
 * submit.c - submits a request: asks it, links it to its keys, asks it again, arms its timeout; or links
 * it to a condition.
 */
#include "../base/probe.h"
#include "check.h"
#include "condition.h"
#include "end.h"
#include "owner.h"
#include "timeout.h"
#include "watch.h"

#include <stdlib.h>

/* Up to this many keys need no memory, and are compared with each other. */
#define KEYS_FEW 16u

/* So the sizes of all blocks for the keys fit into a size_t. */
#define KEYS_MAX (SIZE_MAX / 64 < UINT32_MAX ? SIZE_MAX / 64 : UINT32_MAX)

/* ---- what submissions to keys and to conditions have in common */

/* From now on its fields are the library's, also between two submissions. */
static __attribute__((noinline, cold)) void take_over(struct htw_request *request) {
    HTW__ANNOTATE_OWN(request, sizeof(*request));
    HTW__ANNOTATE_TAKE_OVER(request);
}

/* Makes this thread the owner. 0; -EBUSY: the request is submitted already; -ESHUTDOWN. After 0 the
   caller calls one of the next two functions, which pop the frame and return the answer of the public
   call. */
static int begin_submission(struct htw__frame *frame, struct htw_purgatory *purgatory,
                            struct htw_request *request) {
    if (HTW__ANNOTATED())
        take_over(request);
    /* order: The last owner, another thread, must be done with the request. [relaxed: `submit-again`]
       */
    if (__atomic_load_n(&request->_state, __ATOMIC_ACQUIRE) != 0)
        return -EBUSY;
    /* order: A hint: linking asks again under a lock. */
    if (atomic_load_explicit(&purgatory->closed, memory_order_relaxed))
        return -ESHUTDOWN;
    request->_count = 0;
    request->_flags = 0;
    request->_purgatory = purgatory;
    /* order: No other thread finds the request yet. */
    __atomic_store_n(&request->_cpu, HTW__NO_CPU, __ATOMIC_RELAXED);
    /* order: No other thread finds the request; linking publishes it under a lock. */
    __atomic_store_n(&request->_state, HTW__REQUEST_PENDING | HTW__REQUEST_BUSY, __ATOMIC_RELAXED);
    htw__frame_push(frame, purgatory);
    return 0;
}

/* Ends the request. */
static int finish_request(struct htw__frame *frame, struct htw_request *request,
                          enum htw_reason reason) {
    htw__request_end(frame, NULL, request, reason);
    htw__frame_pop(frame);
    return HTW_FINISHED;
}

/* The request is linked (`error` is 0), or linking has failed: begins its time, or withdraws it, and
   disowns it. If another thread has marked it meanwhile, ends it instead, and reports no error. */
static int let_request_wait(struct htw__frame *frame, struct htw_request *request,
                            int64_t timeout_ns, int error) {
    if (error == 0)
        error = htw__timeout_begin(request, timeout_ns);
    if (error != 0)
        htw__request_withdraw(request);
    uint32_t idle = error == 0 ? HTW__REQUEST_PENDING : 0;
    enum htw_reason reason;
    if (!htw__request_disown(request, idle) && htw__request_must_end(frame, request, idle, &reason))
        return finish_request(frame, request, reason);
    htw__frame_pop(frame);
    return error == 0 ? HTW_WATCHED : error;
}

/* ---- the keys of a call */

struct keys {
    struct htw__key *all; /* `count` of them */
    size_t count;
    size_t allocated; /* 0: `all` is `few` */
    struct htw__key few[KEYS_FEW];
};

static bool are_valid(const struct htw_key *keys, size_t count) {
    if (keys == NULL || count == 0 || count > KEYS_MAX)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!htw__key_is_valid(keys[i].bytes, keys[i].size))
            return false;
    return true;
}

/* Adds a key unless it is among those from `first` on. */
static inline void add_key(struct keys *keys, size_t first, struct htw__key key) {
    for (size_t i = first; i < keys->count; i++)
        if (htw__key_equals(&keys->all[i], &key))
            return;
    keys->all[keys->count++] = key;
}

static int compare_hashes(const void *one, const void *two) {
    const struct htw__key *a = one, *b = two;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

/* Many keys are sorted, so that only those of the same hash need to be compared. */
static void add_many(struct keys *keys, const struct htw_purgatory *purgatory,
                     const struct htw_key *source, size_t count) {
    for (size_t i = 0; i < count; i++)
        keys->all[i] = htw__key_hashed(purgatory, source[i].bytes, source[i].size);
    qsort(keys->all, count, sizeof(*keys->all), compare_hashes);
    for (size_t i = 0, first = 0; i < count; i++) {
        const struct htw__key key = keys->all[i]; /* it is written to where it was, or before */
        if (keys->count > 0 && keys->all[keys->count - 1].hash != key.hash)
            first = keys->count;
        add_key(keys, first, key);
    }
}

/* Hashes the keys and drops duplicates. 0 or -ENOMEM; then release_keys() is not needed. */
static int gather_keys(struct keys *keys, const struct htw_purgatory *purgatory,
                       const struct htw_key *source, size_t count) {
    keys->count = 0;
    keys->allocated = 0;
    keys->all = keys->few;
    if (count <= KEYS_FEW) {
        for (size_t i = 0; i < count; i++)
            add_key(keys, 0, htw__key_hashed(purgatory, source[i].bytes, source[i].size));
        return 0;
    }
    keys->all = htw__allocate(&purgatory->allocator, count * sizeof(*keys->all));
    if (keys->all == NULL)
        return -ENOMEM;
    keys->allocated = count * sizeof(*keys->all);
    add_many(keys, purgatory, source, count);
    return 0;
}

static void release_keys(struct keys *keys, const struct htw_purgatory *purgatory) {
    if (keys->allocated > 0)
        htw__release(&purgatory->allocator, keys->all, keys->allocated);
}

/* ---- submitting to keys */

/* Allocates the watches if there are more than a request has room for. */
static int allocate_watches(struct htw_request *request, size_t count) {
    if (count <= HTW__REQUEST_WATCHES)
        return 0;
    size_t bytes = count * sizeof(struct htw__watch);
    struct htw__watch *watches = htw__allocate(&request->_purgatory->allocator, bytes);
    if (watches == NULL)
        return -ENOMEM;
    request->_place._many._watches = watches;
    request->_place._many._bytes = bytes;
    request->_flags |= HTW__REQUEST_MANY;
    return 0;
}

/* Links the request to its next key. */
static int link_to_key(struct htw_request *request, const struct htw__key *key) {
    struct htw__purgatory_shard *shard = htw__purgatory_shard_of(request->_purgatory, key->hash);
    struct htw__watch *watch = htw__request_watch(request, request->_count);
    htw__lock_acquire(&shard->first.lock);
    int error = htw__watch_link(request->_purgatory, shard, request, watch, key);
    htw__lock_release(&shard->first.lock);
    if (error == 0)
        request->_count++;
    return error;
}

static int link_to_keys(struct htw_request *request, const struct keys *keys) {
    int error = allocate_watches(request, keys->count);
    for (size_t i = 0; i < keys->count && error == 0; i++)
        error = link_to_key(request, &keys->all[i]);
    return error;
}

static int watch_keys(struct htw__frame *frame, struct htw_request *request,
                      const struct htw_key *source, size_t count, int64_t timeout_ns) {
    struct keys keys;
    int error = gather_keys(&keys, frame->purgatory, source, count);
    if (error == 0) {
        error = link_to_keys(request, &keys);
        release_keys(&keys, frame->purgatory);
    }
    /* Later events find the request; `try_complete` sees the effect of earlier ones. */
    if (error == 0 && htw__call_try_complete(frame, request))
        return finish_request(frame, request, HTW_REASON_COMPLETED);
    return let_request_wait(frame, request, timeout_ns, error);
}

int htw_purgatory_try_complete_else_watch(struct htw_purgatory *purgatory,
                                          struct htw_request *request, const struct htw_key *keys,
                                          size_t key_count, int64_t timeout_ns) {
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    if (request == NULL || !are_valid(keys, key_count))
        return -EINVAL;
    struct htw__frame frame = { 0 };
    int error = begin_submission(&frame, purgatory, request);
    if (error != 0)
        return error;
    HTW__PROBE3(request_submit, purgatory, request, timeout_ns);
    if (htw__call_try_complete(&frame, request))
        return finish_request(&frame, request, HTW_REASON_COMPLETED);
    return watch_keys(&frame, request, keys, key_count, timeout_ns);
}

/* ---- submitting to a condition */

int htw__request_submit(struct htw__condition *condition, struct htw_request *request,
                        uint64_t value, int64_t timeout_ns) {
    struct htw_purgatory *purgatory = condition->purgatory;
    struct htw__frame frame = { 0 };
    int error = begin_submission(&frame, purgatory, request);
    if (error != 0)
        return error;
    HTW__PROBE3(request_submit, purgatory, request, timeout_ns);
    request->_place._on_threshold._condition = condition;
    int result = condition->type->link(condition, request, value);
    if (result == HTW_FINISHED) {
        htw__request_set_done(request);
        return finish_request(&frame, request, HTW_REASON_COMPLETED);
    }
    if (result == 0) {
        htw__outstanding_add(&condition->outstanding);
        request->_flags |= HTW__REQUEST_ON_CONDITION;
    }
    return let_request_wait(&frame, request, timeout_ns, result);
}

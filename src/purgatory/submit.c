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

/* Makes this thread the owner. 0; -EBUSY: the request is submitted already; -ESHUTDOWN. After 0 the
   caller calls one of the next two functions, which pop the frame and return the answer of the public
   call. */
static int begin_submission(struct htw__frame *frame, struct htw_purgatory *purgatory,
                            struct htw_request *request) {
    if (HTW__ANNOTATED()) { /* from now on its fields are the library's, also between two submissions */
        HTW__ANNOTATE_OWN(request, sizeof(*request));
        HTW__ANNOTATE_TAKE_OVER(request);
    }
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

/* When a timeout begins. */
static int64_t now_ns_for(const struct htw_purgatory *purgatory, int64_t timeout_ns) {
    return timeout_ns == HTW_NEVER_NS ? 0 : htw__steady_now_ns(purgatory->scheduler);
}

static int end_submission(struct htw__frame *frame, struct htw_request *request,
                          enum htw_reason reason) {
    htw__request_end(frame, request, reason);
    htw__frame_pop(frame);
    return HTW_FINISHED;
}

/* The request is linked (`error` is 0), or linking has failed: begins its time, or withdraws it, and
   disowns it. If another thread has marked it meanwhile, ends it instead, and reports no error. */
static int let_request_wait(struct htw__frame *frame, struct htw_request *request,
                            int64_t timeout_ns, int64_t now_ns, int error) {
    if (error == 0)
        error = htw__timeout_begin(request, timeout_ns, now_ns);
    if (error != 0)
        htw__request_withdraw(request);
    uint32_t idle = error == 0 ? HTW__REQUEST_PENDING : 0;
    enum htw_reason reason;
    if (!htw__request_disown(request, idle) && htw__request_must_end(frame, request, idle, &reason))
        return end_submission(frame, request, reason);
    htw__frame_pop(frame);
    return error == 0 ? HTW_WATCHED : error;
}

/* ---- submitting to keys */

static bool are_valid(const struct htw_key *keys, size_t count) {
    if (keys == NULL || count == 0 || count > KEYS_MAX)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!htw__key_is_valid(keys[i].bytes, keys[i].size))
            return false;
    return true;
}

static int compare_hashes(const void *one, const void *two) {
    const struct htw__key *a = one, *b = two;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

/* Whether a key is among `count` others. */
static bool is_among(const struct htw__key *keys, size_t count, const struct htw__key *key) {
    for (size_t i = 0; i < count; i++)
        if (htw__key_equals(&keys[i], key))
            return true;
    return false;
}

/* Drops duplicates. Returns how many there are. */
static size_t sort_keys(struct htw__key *keys, size_t count) {
    size_t different = 0, first = 0; /* those from `first` on have the same hash */
    qsort(keys, count, sizeof(*keys), compare_hashes);
    for (size_t i = 0; i < count; i++) {
        if (different > 0 && keys[different - 1].hash != keys[i].hash)
            first = different;
        if (!is_among(keys + first, different - first, &keys[i]))
            keys[different++] = keys[i];
    }
    return different;
}

/* Hashes the keys and drops duplicates. Many are sorted, so that only those of the same hash need to be compared.
   Returns how many there are. */
static size_t hash_keys(const struct htw_purgatory *purgatory, const struct htw_key *source,
                        size_t count, struct htw__key *keys) {
    size_t different = 0;
    for (size_t i = 0; i < count; i++) {
        keys[different] = htw__key_hashed(purgatory, source[i].bytes, source[i].size);
        if (count > KEYS_FEW || !is_among(keys, different, &keys[different]))
            different++;
    }
    return count > KEYS_FEW ? sort_keys(keys, count) : different;
}

/* After a failure the request is on those before. */
static int link_to_keys(struct htw_request *request, const struct htw__key *keys, size_t count) {
    const struct htw_purgatory *purgatory = request->_purgatory;
    if (count > HTW__REQUEST_WATCHES) {
        size_t bytes = count * sizeof(struct htw__watch);
        struct htw__watch *watches = htw__allocate(&purgatory->allocator, bytes);
        if (watches == NULL)
            return -ENOMEM;
        request->_place._many._watches = watches;
        request->_place._many._bytes = bytes;
        request->_flags |= HTW__REQUEST_MANY;
    }
    for (size_t i = 0; i < count; i++) {
        struct htw__lock *lock = &keys[i].shard->first.lock;
        struct htw__watch *watch = htw__request_watch(request, request->_count);
        htw__lock_acquire(lock);
        int error = htw__watch_link(purgatory, request, watch, &keys[i]);
        htw__lock_release(lock);
        if (error != 0)
            return error;
        request->_count++;
    }
    return 0;
}

/* The clock is read in between: to read it waits for all that was loaded before, while the cache lines of the keys
   come. */
static int watch_keys(struct htw_request *request, const struct htw_key *source, size_t count,
                      int64_t timeout_ns, int64_t *ret_now_ns) {
    struct htw_purgatory *purgatory = request->_purgatory;
    struct htw__key few[KEYS_FEW], *keys = few;
    if (count > KEYS_FEW)
        keys = htw__allocate(&purgatory->allocator, count * sizeof(*keys));
    if (keys == NULL)
        return -ENOMEM;
    size_t different = hash_keys(purgatory, source, count, keys);
    *ret_now_ns = now_ns_for(purgatory, timeout_ns);
    int error = link_to_keys(request, keys, different);
    if (keys != few)
        htw__release(&purgatory->allocator, keys, count * sizeof(*keys));
    return error;
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
        return end_submission(&frame, request, HTW_REASON_COMPLETED);
    int64_t now_ns = 0;
    error = watch_keys(request, keys, key_count, timeout_ns, &now_ns);
    /* Later events find the request; `try_complete` sees the effect of earlier ones. */
    if (error == 0 && htw__call_try_complete(&frame, request))
        return end_submission(&frame, request, HTW_REASON_COMPLETED);
    return let_request_wait(&frame, request, timeout_ns, now_ns, error);
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
    int64_t now_ns = now_ns_for(purgatory, timeout_ns);
    int result = condition->type->link(condition, request, value);
    if (result == HTW_FINISHED) {
        htw__request_set_done(request);
        return end_submission(&frame, request, HTW_REASON_COMPLETED);
    }
    if (result == 0) {
        htw__outstanding_add(&condition->outstanding);
        request->_flags |= HTW__REQUEST_ON_CONDITION;
    }
    return let_request_wait(&frame, request, timeout_ns, now_ns, result);
}

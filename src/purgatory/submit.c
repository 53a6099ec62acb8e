/* SPDX-License-Identifier: MIT */
/* submit.c - submits a request: asks it, links it to its keys, asks it again, arms its timeout. */
#include "submit.h"

#include "check.h"
#include "end.h"
#include "keys.h"
#include "owner.h"
#include "timeout.h"
#include "watch.h"

/* From now on its fields are the library's, also between two submissions. */
static __attribute__((noinline, cold)) void take_over(struct htw_request *request) {
    HTW__ANNOTATE_OWN(request, sizeof(*request));
    HTW__ANNOTATE_TAKE_OVER(request);
}

int htw__submit_begin(struct htw__frame *frame, struct htw_purgatory *purgatory,
                      struct htw_request *request) {
    if (HTW__ANNOTATED())
        take_over(request);
    if (__atomic_load_n(&request->_state, __ATOMIC_ACQUIRE) != 0)
        return -EBUSY;
    if (atomic_load_explicit(&purgatory->closed, memory_order_relaxed))
        return -ESHUTDOWN;
    HTW__ANNOTATE_ATOMIC(&request->_state, sizeof(request->_state));
    request->_count = 0;
    request->_flags = 0;
    request->_purgatory = purgatory;
    __atomic_store_n(&request->_cpu, HTW__NO_CPU, __ATOMIC_RELAXED);
    __atomic_store_n(&request->_state, HTW__REQUEST_PENDING | HTW__REQUEST_BUSY, __ATOMIC_RELAXED);
    htw__frame_push(frame, purgatory);
    return 0;
}

int htw__submit_finish(struct htw__frame *frame, struct htw_request *request,
                       enum htw_reason reason) {
    htw__request_end(frame, request, reason);
    htw__frame_pop(frame);
    return HTW_FINISHED;
}

/* Undoes a submission that has failed. If another thread has marked the request meanwhile, ends it
   instead, and reports no error. */
static int undo(struct htw__frame *frame, struct htw_request *request, int error) {
    htw__request_unlink(request, HTW__NO_REASON);
    request->_flags = 0; /* if it ends, it must not be unlinked again */
    enum htw_reason reason;
    if (htw__request_must_end(frame, request, 0, &reason))
        return htw__submit_finish(frame, request, reason);
    htw__frame_pop(frame);
    return error;
}

int htw__submit_wait(struct htw__frame *frame, struct htw_request *request, int64_t timeout_ns,
                     int error) {
    if (error == 0 && timeout_ns != HTW_NEVER_NS)
        error = htw__timeout_arm(request, timeout_ns);
    else if (error == 0 && htw__scheduler_is_stopped(frame->purgatory->scheduler))
        error = -ESHUTDOWN;
    else if (error == 0)
        htw__wait_histogram_begin_without_clock(&htw__cpu_here(frame->purgatory)->waits, request);
    if (error != 0)
        return undo(frame, request, error);
    enum htw_reason reason;
    if (htw__request_must_end(frame, request, HTW__REQUEST_PENDING, &reason))
        return htw__submit_finish(frame, request, reason);
    htw__frame_pop(frame);
    return HTW_WATCHED;
}

/* Allocates the watches if there are more than a request has room for. */
static int allocate_watches(struct htw_request *request, size_t count) {
    if (count <= HTW__REQUEST_WATCHES)
        return 0;
    size_t bytes = count * sizeof(struct htw__distant_watch);
    struct htw__distant_watch *watches = htw__allocate(&request->_purgatory->allocator, bytes);
    if (watches == NULL)
        return -ENOMEM;
    request->_place._many._watches = watches;
    request->_place._many._bytes = bytes;
    request->_flags |= HTW__REQUEST_MANY;
    return 0;
}

/* Links the request to its next key. */
static int link_to(struct htw_request *request, const struct htw__hashed_key *hashed,
                   bool delayed) {
    struct htw__purgatory_shard *shard = htw__purgatory_shard_of(request->_purgatory, hashed->hash);
    struct htw__watch *watch = htw__request_watch(request, request->_count);
    htw__watch_init(watch, request, request->_count);
    htw__lock_acquire(&shard->lock);
    int error = htw__watch_link(request->_purgatory, shard, watch, hashed->hash, hashed->key);
    if (error == 0 && request->_count == 0) {
        htw__purgatory_shard_count(shard, request, delayed);
        if ((request->_flags & HTW__REQUEST_MANY) != 0)
            shard->bytes += request->_place._many._bytes;
    }
    htw__lock_release(&shard->lock);
    if (error == 0)
        request->_count++;
    return error;
}

static int link_to_all(struct htw_request *request, const struct htw__keys *keys, bool delayed) {
    int error = allocate_watches(request, keys->count);
    for (size_t i = 0; i < keys->count && error == 0; i++)
        error = link_to(request, &keys->hashed[i], delayed);
    return error;
}

static int watch(struct htw__frame *frame, struct htw_request *request,
                 const struct htw_key *source, size_t count, int64_t timeout_ns) {
    struct htw__keys keys;
    int error = htw__keys_init(&keys, frame->purgatory, source, count);
    if (error == 0) {
        error = link_to_all(request, &keys, timeout_ns != HTW_NEVER_NS);
        htw__keys_fini(&keys, frame->purgatory);
    }
    /* Later events find the request; `try_complete` sees the effect of earlier ones. */
    if (error == 0 && htw__request_is_ready(frame, request))
        return htw__submit_finish(frame, request, HTW_REASON_COMPLETED);
    return htw__submit_wait(frame, request, timeout_ns, error);
}

int htw_purgatory_try_complete_else_watch(struct htw_purgatory *purgatory,
                                          struct htw_request *request, const struct htw_key *keys,
                                          size_t key_count, int64_t timeout_ns) {
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    if (request == NULL || !htw__keys_are_valid(keys, key_count))
        return -EINVAL;
    struct htw__frame frame = { 0 };
    int error = htw__submit_begin(&frame, purgatory, request);
    if (error != 0)
        return error;
    if (htw__request_is_ready(&frame, request))
        return htw__submit_finish(&frame, request, HTW_REASON_COMPLETED);
    return watch(&frame, request, keys, key_count, timeout_ns);
}

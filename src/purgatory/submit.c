/* SPDX-License-Identifier: MIT */
/* submit.c - a request arrives: asked, linked to its keys, asked again, given a timeout. */
#include "submit.h"

#include "keys.h"
#include "timeout.h"
#include "request.h"
#include "waits.h"
#include "watch.h"

#include <errno.h>

int htw__submit_begin(struct htw__frame *frame, struct htw_purgatory *purgatory,
                      struct htw_request *request) {
    if (htw__request_state(request) != 0)
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
    return (int)htw__purgatory_answer(frame->purgatory, HTW_FINISHED);
}

/*
 * Nothing has come of a submission: it is taken back, unless it has been marked while it could be
 * found. The error counts only if the request is the user's again.
 */
static int take_back(struct htw__frame *frame, struct htw_request *request, int error) {
    htw__request_unlink(request, HTW__NO_REASON);
    request->_flags = 0; /* where it stood and counted, it must not be taken out again */
    enum htw_reason reason;
    if (htw__request_settle(frame, request, false, 0, &reason))
        return htw__submit_finish(frame, request, reason);
    htw__frame_pop(frame);
    return error;
}

int htw__submit_end(struct htw__frame *frame, struct htw_request *request, int64_t timeout_ns,
                    int error) {
    if (error == 0 && timeout_ns != HTW_NEVER_NS)
        error = htw__timeouts_arm(request, timeout_ns);
    else if (error == 0 && htw__scheduler_is_stopped(frame->purgatory->scheduler))
        error = -ESHUTDOWN;
    else if (error == 0)
        htw__wait_begin_without_clock(request);
    if (error != 0)
        return take_back(frame, request, error);
    enum htw_reason reason;
    if (htw__request_settle(frame, request, false, HTW__REQUEST_PENDING, &reason))
        return htw__submit_finish(frame, request, reason);
    htw__frame_pop(frame);
    return HTW_WATCHED;
}

/* Provides watches for more keys than a request holds in itself. */
static int provide_watches(struct htw_request *request, size_t count) {
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

/* Puts the request on one key more. */
static int link_to(struct htw_request *request, const struct htw__hashed_key *hashed,
                   bool delayed) {
    struct htw__purgatory_shard *shard = htw__purgatory_shard_of(request->_purgatory, hashed->hash);
    struct htw__watch *watch = htw__request_watch(request, request->_count);
    htw__watch_init(watch, request, request->_count);
    htw__lock_acquire(&shard->lock);
    int error = htw__watch_link(shard, watch, hashed->hash, hashed->key);
    if (error == 0 && request->_count == 0) {
        htw__request_count(shard, request, delayed);
        if ((request->_flags & HTW__REQUEST_MANY) != 0)
            shard->bytes += request->_place._many._bytes;
    }
    htw__lock_release(&shard->lock);
    if (error == 0)
        request->_count++;
    return error;
}

static int link_to_all(struct htw_request *request, const struct htw__keys *keys, bool delayed) {
    int error = provide_watches(request, keys->count);
    for (size_t i = 0; i < keys->count && error == 0; i++)
        error = link_to(request, &keys->hashed[i], delayed);
    return error;
}

/* Asks `try_complete`. Whether to finish now: it says yes, or has forked, and this is the child. */
static bool is_over(struct htw__frame *frame, struct htw_request *request) {
    return htw__request_is_ready(frame, request) || htw__purgatory_is_child(frame->purgatory);
}

static int watch(struct htw__frame *frame, struct htw_request *request,
                 const struct htw_key *source, size_t count, int64_t timeout_ns) {
    struct htw__keys keys;
    int error = htw__keys_init(&keys, frame->purgatory, source, count);
    if (error == 0) {
        error = link_to_all(request, &keys, timeout_ns != HTW_NEVER_NS);
        htw__keys_fini(&keys, frame->purgatory);
    }
    /* Events that came before it stood there are seen by asking, later ones find it. */
    if (error == 0 && is_over(frame, request))
        return htw__submit_finish(frame, request, HTW_REASON_COMPLETED);
    return htw__submit_end(frame, request, timeout_ns, error);
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
    if (is_over(&frame, request))
        return htw__submit_finish(&frame, request, HTW_REASON_COMPLETED);
    return watch(&frame, request, keys, key_count, timeout_ns);
}

void htw_request_init(struct htw_request *request) {
    if (request != NULL)
        *request = (struct htw_request) { 0 };
}

bool htw_request_is_pending(const struct htw_request *request) {
    return request != NULL && htw__request_state(request) != 0;
}

static bool end_by_force(struct htw_purgatory *purgatory, struct htw_request *request,
                         uint32_t mark, enum htw_reason reason) {
    if (htw__purgatory_refusal(purgatory) != 0 || request == NULL)
        return false;
    bool marked;
    if (!htw__request_force(request, mark, &marked))
        return marked;
    struct htw__frame frame = { 0 };
    htw__frame_push(&frame, purgatory);
    htw__request_end(&frame, request, reason);
    htw__frame_pop(&frame);
    return true;
}

bool htw_request_complete(struct htw_purgatory *purgatory, struct htw_request *request) {
    return end_by_force(purgatory, request, HTW__REQUEST_COMPLETE, HTW_REASON_COMPLETED);
}

bool htw_request_cancel(struct htw_purgatory *purgatory, struct htw_request *request) {
    return end_by_force(purgatory, request, HTW__REQUEST_CANCEL, HTW_REASON_CANCELLED);
}

int htw_request_set_timeout(struct htw_purgatory *purgatory, struct htw_request *request,
                            int64_t timeout_ns) {
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    return request == NULL ? -EINVAL : htw__timeouts_move(purgatory, request, timeout_ns);
}

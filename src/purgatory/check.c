/* SPDX-License-Identifier: MIT */
#include "check.h"

#include "request.h"
#include "walk.h"

#include <errno.h>

int64_t htw__check(struct htw__frame *frame, uint64_t hash, const void *key, size_t size,
                   uint64_t max) {
    struct htw__walk walk;
    walk.shard = htw__purgatory_shard_of(frame->purgatory, hash);
    walk.mark = 0;
    if (max == 0)
        return 0;
    uint64_t completed = 0;
    for (struct htw_request *request = htw__walk_begin(&walk, hash, key, size); request != NULL;
         request = htw__walk_next(&walk)) {
        enum htw_reason reason;
        if (!htw__request_settle(frame, request, true, HTW__REQUEST_PENDING, &reason))
            continue;
        completed += reason == HTW_REASON_COMPLETED;
        if (completed == max)
            htw__walk_stop(&walk);
        htw__request_end(frame, request, reason);
        if (completed == max)
            break;
    }
    return (int64_t)completed;
}

int htw__key_refusal(const struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    return key_size > UINT32_MAX || (key == NULL && key_size > 0) ? -EINVAL : 0;
}

int64_t htw_purgatory_check_at_most(struct htw_purgatory *purgatory, const void *key,
                                    size_t key_size, uint64_t max) {
    int refusal = htw__key_refusal(purgatory, key, key_size);
    if (refusal != 0)
        return refusal;
    struct htw__frame frame = { 0 };
    uint64_t hash = htw__key_hash(key, key_size, purgatory->seed);
    htw__purgatory_shard_prefetch(purgatory, hash);
    htw__frame_push(&frame, purgatory);
    int64_t completed = htw__check(&frame, hash, key, key_size, max);
    htw__frame_pop(&frame);
    return completed;
}

int64_t htw_purgatory_check(struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    return htw_purgatory_check_at_most(purgatory, key, key_size, UINT64_MAX);
}

int64_t htw_purgatory_cancel_key(struct htw_purgatory *purgatory, const void *key, size_t key_size,
                                 htw_request_visitor *visitor, void *context) {
    int refusal = htw__key_refusal(purgatory, key, key_size);
    if (refusal != 0)
        return refusal;
    uint64_t hash = htw__key_hash(key, key_size, purgatory->seed);
    struct htw__walk walk = { .shard = htw__purgatory_shard_of(purgatory, hash),
                              .mark = HTW__REQUEST_CANCEL };
    struct htw__frame frame = { .visitor = visitor, .visitor_context = context };
    int64_t cancelled = 0;
    htw__frame_push(&frame, purgatory);
    for (struct htw_request *request = htw__walk_begin(&walk, hash, key, key_size); request != NULL;
         request = htw__walk_next(&walk)) {
        htw__request_end(&frame, request, HTW_REASON_CANCELLED);
        cancelled++;
    }
    htw__frame_pop(&frame);
    return cancelled;
}

int64_t htw_purgatory_count_key(struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    int refusal = htw__key_refusal(purgatory, key, key_size);
    if (refusal != 0)
        return refusal;
    uint64_t hash = htw__key_hash(key, key_size, purgatory->seed);
    struct htw__walk walk = { .shard = htw__purgatory_shard_of(purgatory, hash) };
    return (int64_t)htw__walk_count(&walk, hash, key, key_size);
}

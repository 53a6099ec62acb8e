/* SPDX-License-Identifier: MIT */
#include "check.h"

#include "request.h"
#include "walk.h"

#include <errno.h>

/* Asks those that were taken, and gives the others up again before a hook of one that has ended
   is called; returns how many have been completed. */
static uint64_t visit(struct htw__frame *frame, struct htw__walk *walk, uint32_t count) {
    enum htw_reason reasons[HTW__WALK_BATCH];
    uint32_t ended = 0;
    uint64_t completed = 0;
    for (uint32_t i = 0; i < count; i++) {
        walk->taken[ended] = walk->taken[i];
        if (htw__request_settle(frame, walk->taken[i], true, HTW__REQUEST_PENDING, &reasons[ended]))
            ended++;
    }
    for (uint32_t i = 0; i < ended; i++) {
        completed += reasons[i] == HTW_REASON_COMPLETED;
        htw__request_end(frame, walk->taken[i], reasons[i]);
    }
    return completed;
}

int64_t htw__check(struct htw__frame *frame, uint64_t hash, const void *key, size_t size,
                   uint64_t max) {
    struct htw__walk walk;
    walk.shard = htw__purgatory_shard_of(frame->purgatory, hash);
    walk.mark = 0;
    uint64_t left = max;
    uint32_t count = max == 0 ? 0 : htw__walk_begin(&walk, hash, key, size, left);
    while (count > 0) {
        left -= visit(frame, &walk, count);
        if (left == 0)
            htw__walk_stop(&walk);
        count = left == 0 ? 0 : htw__walk_next(&walk, left);
    }
    return (int64_t)(max - left);
}

static int refuse_key(const struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    return key_size > UINT32_MAX || (key == NULL && key_size > 0) ? -EINVAL : 0;
}

int64_t htw_purgatory_check_at_most(struct htw_purgatory *purgatory, const void *key,
                                    size_t key_size, uint64_t max) {
    int refusal = refuse_key(purgatory, key, key_size);
    if (refusal != 0)
        return refusal;
    struct htw__frame frame = { 0 };
    htw__frame_push(&frame, purgatory);
    int64_t completed =
        htw__check(&frame, htw__key_hash(key, key_size, purgatory->seed), key, key_size, max);
    htw__frame_pop(&frame);
    return completed;
}

int64_t htw_purgatory_check(struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    return htw_purgatory_check_at_most(purgatory, key, key_size, UINT64_MAX);
}

int64_t htw_purgatory_cancel_key(struct htw_purgatory *purgatory, const void *key, size_t key_size,
                                 htw_request_visitor *visitor, void *context) {
    int refusal = refuse_key(purgatory, key, key_size);
    if (refusal != 0)
        return refusal;
    uint64_t hash = htw__key_hash(key, key_size, purgatory->seed);
    struct htw__walk walk = { .shard = htw__purgatory_shard_of(purgatory, hash),
                              .mark = HTW__REQUEST_CANCEL };
    struct htw__frame frame = { .visitor = visitor, .visitor_context = context };
    int64_t cancelled = 0;
    htw__frame_push(&frame, purgatory);
    for (uint32_t count = htw__walk_begin(&walk, hash, key, key_size, 1); count > 0;
         count = htw__walk_next(&walk, 1)) {
        htw__request_end(&frame, walk.taken[0], HTW_REASON_CANCELLED);
        cancelled++;
    }
    htw__frame_pop(&frame);
    return cancelled;
}

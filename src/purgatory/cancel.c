/* SPDX-License-Identifier: MIT */
/* cancel.c - cancels all requests that wait on a key. */
#include "end.h"
#include "keys.h"
#include "owner.h"
#include "walk.h"

int64_t htw_purgatory_cancel_key(struct htw_purgatory *purgatory, const void *key, size_t key_size,
                                 htw_request_visitor *visitor, void *context) {
    int refusal = htw__key_refusal(purgatory, key, key_size);
    if (refusal != 0)
        return refusal;
    uint64_t hash = htw__key_hash(key, key_size, purgatory->seed);
    struct htw__walk walk = { .purgatory = purgatory,
                              .shard = htw__purgatory_shard_of(purgatory, hash),
                              .mark = HTW__REQUEST_CANCEL };
    struct htw__frame frame = { .visitor = visitor, .visitor_context = context };
    int64_t cancelled = 0;
    htw__frame_push(&frame, purgatory);
    for (struct htw_request *request = htw__walk_begin(&walk, hash, key, key_size); request != NULL;
         request = htw__walk_next(&walk)) {
        htw__request_end_walked(&frame, &walk, request, HTW_REASON_CANCELLED);
        cancelled++;
    }
    htw__frame_pop(&frame);
    return cancelled + walk.marked;
}

/* SPDX-License-Identifier: MIT */
/* check.c - an event on a key: asks the requests that wait on it. */
#include "check.h"

#include "request.h"
#include "walk.h"

#include <errno.h>
#include <string.h>

/* Goes along the key once. Each request that it visits adds `one` to `asked`; `unasked` is left
   alone. */
static void make_round(struct htw__frame *frame, struct htw__check *check, uint64_t one,
                       const struct htw_request *unasked) {
    struct htw__walk walk;
    walk.shard = htw__purgatory_shard_of(frame->purgatory, check->hash);
    walk.mark = 0;
    for (struct htw_request *request = htw__walk_begin(&walk, check->hash, check->key, check->size);
         request != NULL; request = htw__walk_next(&walk)) {
        enum htw_reason reason;
        check->asked += one;
        if (!htw__request_settle(frame, request, request != unasked, HTW__REQUEST_PENDING, &reason))
            continue;
        if (reason == HTW_REASON_COMPLETED)
            check->completed++;
        bool is_last = check->completed == check->max;
        if (is_last)
            htw__walk_stop(&walk);
        htw__request_end(frame, request, reason);
        if (is_last)
            break;
    }
}

void htw__check(struct htw__frame *frame, struct htw__check *check) {
    const struct htw_request *unasked = NULL;
    uint64_t one = 1; /* 0 from the second round on */
    frame->check = check;
    for (;;) {
        make_round(frame, check, one, unasked);
        if (!check->again || check->completed == check->max ||
            htw__purgatory_is_child(frame->purgatory))
            break;
        unasked = check->author == check->once ? check->author : NULL;
        one = 0;
        check->once = check->author;
        check->again = false;
    }
    frame->check = NULL;
}

/* The check of this key that this thread is making; NULL: there is none. */
static struct htw__check *find_outer(const struct htw_purgatory *purgatory, uint64_t hash,
                                     const void *key, size_t size) {
    for (struct htw__frame *frame = htw__innermost_frame; frame != NULL; frame = frame->outer) {
        struct htw__check *check = frame->check;
        if (check != NULL && frame->purgatory == purgatory && check->hash == hash &&
            check->size == size && (size == 0 || memcmp(check->key, key, size) == 0))
            return check;
    }
    return NULL;
}

/* Where this thread is checking the key already, has that make another round, in which `max` more
   requests may end. False: it is not. */
static __attribute__((noinline)) bool make_again(const struct htw_purgatory *purgatory,
                                                 uint64_t hash, const void *key, size_t size,
                                                 uint64_t max) {
    struct htw__check *outer = find_outer(purgatory, hash, key, size);
    if (outer == NULL)
        return false;
    if (outer->again || outer->heard < outer->asked + HTW__CHECK_SLACK) {
        const struct htw_request *author = htw__innermost_frame->request;
        outer->author = !outer->again || outer->author == author ? author : NULL;
        outer->heard++;
        outer->max = max > UINT64_MAX - outer->max ? UINT64_MAX : outer->max + max;
        outer->again = true;
    }
    return true;
}

static bool is_in_try_complete(void) {
    return htw__innermost_frame != NULL && htw__innermost_frame->request != NULL;
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
    if (max == 0)
        return 0;
    uint64_t hash = htw__key_hash(key, key_size, purgatory->seed);
    htw__purgatory_shard_prefetch(purgatory, hash);
    if (is_in_try_complete() && make_again(purgatory, hash, key, key_size, max))
        return 0;
    struct htw__check check = { hash, key, key_size, max, .again = false };
    struct htw__frame frame = { 0 };
    htw__frame_push(&frame, purgatory);
    htw__check(&frame, &check);
    htw__frame_pop(&frame);
    return htw__purgatory_answer(purgatory, (int64_t)check.completed);
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
    return htw__purgatory_answer(purgatory, cancelled + walk.marked);
}

int64_t htw_purgatory_count_key(struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    int refusal = htw__key_refusal(purgatory, key, key_size);
    if (refusal != 0)
        return refusal;
    uint64_t hash = htw__key_hash(key, key_size, purgatory->seed);
    struct htw__walk walk = { .shard = htw__purgatory_shard_of(purgatory, hash) };
    return (int64_t)htw__walk_count(&walk, hash, key, key_size);
}

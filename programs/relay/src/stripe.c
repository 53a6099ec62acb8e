/* SPDX-License-Identifier: MIT */
/* stripe.c - the buckets of a stripe, and its clock. */
#include "stripe.h"

#include "../../../src/base/clock.h"
#include "memory.h"

struct htw__stripe *htw__stripe_create(uint32_t index, const struct htw__levels *levels) {
    size_t count = (size_t)levels->count * levels->size;
    struct htw__stripe *stripe =
        htw__memory(sizeof(*stripe) + count * sizeof(struct htw__relay_bucket));
    stripe->index = index;
    stripe->levels = *levels;
    for (size_t i = 0; i < count; i++)
        stripe->buckets[i] =
            (struct htw__relay_bucket) { .stripe = stripe, .progress = HTW__PROGRESS_NONE(0) };
    return stripe;
}

struct htw__relay_bucket *htw__stripe_bucket(struct htw__stripe *self, uint32_t level,
                                             uint32_t slot) {
    return &self->buckets[(size_t)level * self->levels.size + slot];
}

struct htw__source htw__bucket_source(const struct htw__relay_bucket *bucket) {
    uint32_t number = (uint32_t)(bucket - bucket->stripe->buckets);
    uint32_t size = bucket->stripe->levels.size;
    return (struct htw__source) { bucket->stripe->index, number / size, number % size };
}

bool htw__bucket_is_occupied(const struct htw__relay_bucket *bucket) {
    return bucket->end > bucket->position || bucket->in_flight > 0 || bucket->is_dirty;
}

struct htw__relay_bucket *htw__stripe_next(struct htw__stripe *self, uint32_t level,
                                           int64_t after) {
    int64_t first = htw__levels_number(&self->levels, level, self->clock_ms);
    for (int64_t number = after < first ? first : after + 1; number < first + self->levels.size;
         number++) {
        struct htw__relay_bucket *bucket =
            htw__stripe_bucket(self, level, htw__levels_slot(&self->levels, number));
        if (htw__bucket_is_occupied(bucket))
            return bucket;
    }
    return NULL;
}

static int64_t limit_of(struct htw__stripe *self, uint32_t level) {
    struct htw__relay_bucket *first = htw__stripe_next(self, level, -1);
    return first == NULL ? INT64_MAX
                         : htw__levels_limit(&self->levels,
                                             (struct htw__relay_place) { level, first->number });
}

int64_t htw__stripe_limit(struct htw__stripe *self) {
    int64_t limit_ms = INT64_MAX;
    for (uint32_t level = 1; level < self->levels.count; level++)
        limit_ms = htw__clock_earlier(limit_ms, limit_of(self, level));
    return limit_ms;
}

void htw__stripe_advance(struct htw__stripe *self, int64_t now_ms) {
    int64_t limit_ms = htw__clock_earlier(limit_of(self, 0), htw__stripe_limit(self));
    int64_t clock_ms = htw__clock_earlier(htw__levels_round(&self->levels, now_ms), limit_ms);
    if (clock_ms <= self->clock_ms)
        return;
    self->clock_ms = clock_ms;
    self->clock_is_dirty = true;
}

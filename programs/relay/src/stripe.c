/* SPDX-License-Identifier: MIT */
/* stripe.c - the buckets of a stripe, and its clock. */
#include "stripe.h"

#include "../../../src/base/clock.h"

#include <stdlib.h>

struct htw__stripe *htw__stripe_create(uint32_t index, const struct htw__levels *levels) {
    size_t count = (size_t)levels->count * levels->size;
    struct htw__stripe *stripe =
        calloc(1, sizeof(*stripe) + count * sizeof(struct htw__relay_bucket));
    if (stripe == NULL)
        return NULL;
    stripe->index = index;
    stripe->levels = *levels;
    for (size_t i = 0; i < count; i++)
        stripe->buckets[i].progress = HTW__PROGRESS_NONE(0);
    return stripe;
}

void htw__stripe_destroy(struct htw__stripe *stripe) {
    free(stripe);
}

struct htw__relay_bucket *htw__stripe_bucket(struct htw__stripe *self, uint32_t level,
                                             uint32_t slot) {
    return &self->buckets[(size_t)level * self->levels.size + slot];
}

bool htw__bucket_is_occupied(const struct htw__relay_bucket *bucket) {
    return bucket->end > bucket->position || bucket->in_flight > 0 || bucket->is_dirty;
}

struct htw__relay_bucket *htw__stripe_next(struct htw__stripe *self, uint32_t level, int64_t after,
                                           uint32_t *ret_slot) {
    int64_t first = htw__levels_number(&self->levels, level, self->clock_ms);
    for (int64_t number = after < first ? first : after + 1; number < first + self->levels.size;
         number++) {
        *ret_slot = htw__levels_slot(&self->levels, number);
        struct htw__relay_bucket *bucket = htw__stripe_bucket(self, level, *ret_slot);
        if (htw__bucket_is_occupied(bucket))
            return bucket;
    }
    return NULL;
}

struct htw__relay_bucket *htw__stripe_first(struct htw__stripe *self, uint32_t level,
                                            uint32_t *ret_slot) {
    return htw__stripe_next(self, level, -1, ret_slot);
}

static int64_t limit_of(struct htw__stripe *self, uint32_t level) {
    uint32_t slot;
    struct htw__relay_bucket *first = htw__stripe_first(self, level, &slot);
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
    int64_t clock_ms =
        htw__clock_earlier(htw__levels_round(&self->levels, now_ms),
                           htw__clock_earlier(limit_of(self, 0), htw__stripe_limit(self)));
    if (clock_ms <= self->clock_ms)
        return;
    self->clock_ms = clock_ms;
    self->clock_is_dirty = true;
}

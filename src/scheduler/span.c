/* SPDX-License-Identifier: MIT */
/* span.c - the classes of timers of a group whose deadlines move with its scale. */
#include "span.h"

/* Down to two significant decimal digits. */
static uint64_t round_down(uint64_t ticks) {
    uint64_t digits = ticks, unit = 1;
    while (digits >= 100) {
        digits /= 10;
        unit *= 10;
    }
    return digits * unit;
}

/* The rest of the span, to the nearest tick; exact at 0 and 1. */
static uint64_t lead_at(double scale, uint64_t span_tick) {
    uint64_t kept = (uint64_t)(scale * (double)span_tick + 0.5);
    return scale < 1 && kept < span_tick ? span_tick - kept : 0;
}

static struct htw__span_class *create_class(struct htw__spans *spans, struct htw__shard *shard,
                                            struct htw__clockwork *parent, uint64_t span_tick) {
    const struct htw_allocator *allocator = &shard->scheduler->allocator;
    struct htw__span_class *created = htw__allocate(allocator, sizeof(*created));
    if (created == NULL)
        return NULL;
    created->span_tick = span_tick;
    if (htw__leading_init(&created->leading, parent) != 0) {
        htw__release(allocator, created, sizeof(*created));
        return NULL;
    }
    unsigned wake = 0; /* it has no timer yet */
    htw__leading_set(&created->leading, lead_at(spans->scale, span_tick), &wake);
    htw__counter_add(&shard->attributes_bytes, sizeof(*created));
    created->next = spans->classes;
    spans->classes = created;
    return created;
}

struct htw__span_class *htw__spans_class(struct htw__spans *spans, struct htw__shard *shard,
                                         struct htw__clockwork *parent, int64_t span_ns) {
    uint64_t exact = htw__tick_at(shard->scheduler, span_ns), rounded = round_down(exact);
    struct htw__span_class *near = NULL;
    unsigned count = 0;
    for (struct htw__span_class *class = spans->classes; class != NULL; class = class->next) {
        count++;
        if (class->leading.parent != parent)
            continue;
        if (class->span_tick == exact)
            return class;
        if (class->span_tick == rounded)
            near = class;
    }
    if (count < HTW__SPANS_EXACT)
        return create_class(spans, shard, parent, exact);
    return near != NULL ? near : create_class(spans, shard, parent, rounded);
}

/* A slice at a time. Meanwhile classes may be added in front, with the new scale. If another thread
   sets the scale, too, both apply the one that was set last. */
void htw__spans_set_scale(struct htw__spans *spans, struct htw__shard *shard, double scale) {
    unsigned wake = 0;
    htw__lock_acquire(&shard->lock);
    spans->scale = scale;
    struct htw__span_class *class = spans->classes;
    for (unsigned n = 1; class != NULL && !shard->closed; n++, class = class->next) {
        htw__leading_set(&class->leading, lead_at(spans->scale, class->span_tick), &wake);
        if (n % HTW__SLICE == 0) {
            htw__lock_release(&shard->lock);
            htw__lock_acquire(&shard->lock);
        }
    }
    htw__lock_release(&shard->lock);
    htw__shard_wake(shard, wake);
}

void htw__spans_fini(struct htw__spans *spans, struct htw__shard *shard) {
    struct htw__span_class *class = spans->classes;
    while (class != NULL) {
        struct htw__span_class *next = class->next;
        htw__counter_add(&shard->attributes_bytes, 0 - (uint64_t)sizeof(*class));
        htw__leading_fini(&class->leading);
        htw__release(&shard->scheduler->allocator, class, sizeof(*class));
        class = next;
    }
    spans->classes = NULL;
}

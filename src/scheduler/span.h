/* SPDX-License-Identifier: MIT */
/*
 * span.h - the timers of a group whose deadlines move with the scale of the group.
 *
 * Such a timer has a least and a greatest delay; the difference is its span. The greatest is its
 * deadline in the wheel, and the clock of that wheel is ahead by a part of the span: by nothing at
 * scale 1, by all of it at 0. So timers with the same span share a clockwork that leads
 * (clockwork.h), and another scale is another lead of it.
 *
 * A CLASS is the timers of a group with one clock and one span, in ticks. There must not be as many as
 * timers: when a group has HTW__SPANS_EXACT of them, new spans are rounded down to two significant
 * decimal digits, which makes at most 90 more for each power of ten and each clock. The lead is never
 * more than the span: no timer is due before its least delay. A class stays until its group is freed.
 *
 * All of this happens under the lock of the shard.
 */
#ifndef HTW_SRC_SCHEDULER_SPAN_H
#define HTW_SRC_SCHEDULER_SPAN_H

#include "shard.h"

#define HTW__SPANS_EXACT 64u

struct htw__span_class {
    struct htw__leading leading;
    uint64_t span_tick;
    struct htw__span_class *next; /* of the group */
};

/* A member of a group. */
struct htw__spans {
    double scale;                    /* from 0 to 1 */
    struct htw__span_class *classes; /* the one that was created last comes first */
};

/* The class of a span by the clock of `parent`, created if there is none; NULL: no memory. */
struct htw__span_class *htw__spans_class(struct htw__spans *spans, struct htw__shard *shard,
                                         struct htw__clockwork *parent, int64_t span_ns);

/* Sets the scale. Not under the lock. */
void htw__spans_set_scale(struct htw__spans *spans, struct htw__shard *shard, double scale);

/* No timer is in a class any more. */
void htw__spans_fini(struct htw__spans *spans, struct htw__shard *shard);

#endif /* HTW_SRC_SCHEDULER_SPAN_H */

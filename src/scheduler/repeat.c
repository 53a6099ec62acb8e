/* SPDX-License-Identifier: MIT */
#include "repeat.h"

uint64_t htw__repeat_plan(struct htw__extra *extra, int64_t *deadline_ns, int64_t now_ns) {
    int64_t period_ns = extra->period_ns;
    int64_t next_ns = htw__after_ns(*deadline_ns, period_ns);
    uint64_t missed = 0;
    if (extra->repeat == HTW_REPEAT_AFTER) {
        next_ns = htw__after_ns(now_ns, period_ns);
    } else if (next_ns <= now_ns && extra->repeat == HTW_REPEAT_DELAY) {
        next_ns = htw__after_ns(now_ns, period_ns);
    } else if (next_ns <= now_ns && extra->repeat == HTW_REPEAT_SKIP) {
        /* The difference of two instants may not fit 63 bits. */
        missed = ((uint64_t)now_ns - (uint64_t)next_ns) / (uint64_t)period_ns + 1;
        next_ns = htw__after_ns((int64_t)((uint64_t)next_ns + (missed - 1) * (uint64_t)period_ns),
                                period_ns);
    }
    *deadline_ns = next_ns;
    extra->missed = missed;
    return missed;
}

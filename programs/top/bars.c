/* SPDX-License-Identifier: MIT */
/* bars.c - the bars of a histogram: what they have counted between two samples. */
#include "bars.h"

#include <string.h>

bool htw__bars_since(const uint64_t *before, const uint64_t *now,
                     uint64_t ret_counts[HTW__TOP_BUCKETS]) {
    uint64_t total = 0;
    for (size_t i = 0; i < HTW__TOP_BUCKETS && before != NULL; i++) {
        /* A counter that has become smaller is that of another object of the same name. */
        ret_counts[i] = now[i] >= before[i] ? now[i] - before[i] : now[i];
        total += ret_counts[i];
    }
    if (total == 0)
        memcpy(ret_counts, now, HTW__TOP_BUCKETS * sizeof(*now));
    return total != 0;
}

uint64_t htw__bars_percentile_ns(const uint64_t counts[HTW__TOP_BUCKETS], uint64_t first_ns,
                                 double part) {
    double total = 0, below = 0;
    for (size_t i = 0; i < HTW__TOP_BUCKETS; i++)
        total += (double)counts[i];
    for (size_t i = 0; i < HTW__TOP_BUCKETS; i++) {
        double count = (double)counts[i];
        if (count > 0 && below + count >= part * total) {
            double end_ns = (double)(first_ns << i), start_ns = i == 0 ? 0 : end_ns / 2;
            return (uint64_t)(start_ns + (end_ns - start_ns) * (part * total - below) / count);
        }
        below += count;
    }
    return 0;
}

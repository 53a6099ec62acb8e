/* SPDX-License-Identifier: MIT */
/* histogram.c - merges histograms, and finds quantiles. */
#include "histogram.h"

#include <math.h>

void histogram_merge(struct histogram *into, const struct histogram *from) {
    into->total += from->total;
    into->early += from->early;
    if (from->max_ns > into->max_ns)
        into->max_ns = from->max_ns;
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->counts[i] += from->counts[i];
}

/* The greatest value that has this index. */
static int64_t highest(int index) {
    int shift = index < HISTOGRAM_HALF ? 0 : index / HISTOGRAM_HALF - 1;
    return ((int64_t)(index - shift * HISTOGRAM_HALF + 1) << shift) - 1;
}

int64_t histogram_quantile_ns(const struct histogram *histogram, double quantile) {
    uint64_t wanted = (uint64_t)ceil(quantile * (double)histogram->total);
    uint64_t seen = 0;
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->counts[i];
        if (seen >= wanted && seen > 0)
            return highest(i) < histogram->max_ns ? highest(i) : histogram->max_ns;
    }
    return 0;
}

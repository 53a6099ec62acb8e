/* SPDX-License-Identifier: MIT */
/*
 * histogram.h - counts durations: exactly below 128 ns, then in 64 buckets an octave. A quantile
 * is at most 1.6 % too high. jvm/Histogram.java is the same.
 *
 * One thread records. Others may read after it has stopped, or after an atomic store of it that
 * they have seen.
 */
#ifndef BENCH_COMMON_HISTOGRAM_H
#define BENCH_COMMON_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BITS 6
#define HISTOGRAM_HALF (1 << HISTOGRAM_BITS)
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS) * HISTOGRAM_HALF)

struct histogram {
    uint64_t total;
    uint64_t early; /* values below zero, which also count as 0 */
    int64_t max_ns;
    uint64_t counts[HISTOGRAM_BUCKETS];
};

static inline void histogram_record(struct histogram *histogram, int64_t ns) {
    histogram->total++;
    if (ns < 0) {
        histogram->early++;
        ns = 0;
    }
    if (ns > histogram->max_ns)
        histogram->max_ns = ns;
    int shift = 63 - HISTOGRAM_BITS - __builtin_clzll((uint64_t)ns | HISTOGRAM_HALF);
    histogram->counts[shift * HISTOGRAM_HALF + (ns >> shift)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from);

int64_t histogram_quantile_ns(const struct histogram *histogram, double quantile);

#endif

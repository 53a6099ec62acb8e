/* SPDX-License-Identifier: MIT */
/*
 * samples.h - the random values of Kafka's own purgatory benchmark: intervals of a Poisson
 * process, and lognormal latencies. They are drawn in advance, because a logarithm costs more than
 * what is measured.
 */
#ifndef BENCH_PURGATORY_SAMPLES_H
#define BENCH_PURGATORY_SAMPLES_H

#include "../common/random.h"

#define SAMPLES_BITS 12
#define SAMPLES (1 << SAMPLES_BITS)
#define SAMPLES_MEDIAN_MS 50.0
#define SAMPLES_THIRD_QUARTILE_MS 75.0
#define SAMPLES_NORMAL_QUARTILE 0.67448975 /* the third, of the standard normal distribution */

struct samples {
    float intervals[SAMPLES];          /* of mean 1 */
    unsigned short latencies[SAMPLES]; /* in whole milliseconds */
};

void samples_init(struct samples *samples);

static inline double samples_interval(const struct samples *samples, uint64_t draw) {
    return (double)samples->intervals[draw % SAMPLES];
}

static inline unsigned samples_latency_ms(const struct samples *samples, uint64_t draw) {
    return samples->latencies[(draw >> SAMPLES_BITS) % SAMPLES];
}

#endif

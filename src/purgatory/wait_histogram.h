/* SPDX-License-Identifier: MIT */
/*
 * wait_histogram.h - how long requests waited: a sampled histogram in each CPU.
 *
 * To read the clock twice for each request would take a seventh of its time. So each CPU measures
 * only about 16 requests in a millisecond; the others cost two comparisons. A request with a
 * timeout has read the clock anyway. One without reads it if it is measured, and otherwise in one
 * case of 16, to notice the next millisecond.
 */
#ifndef HTW_SRC_PURGATORY_WAIT_HISTOGRAM_H
#define HTW_SRC_PURGATORY_WAIT_HISTOGRAM_H

#include <htw/purgatory.h>

#include <stdatomic.h>

struct htw__wait_histogram {
    _Atomic uint32_t begun_ms; /* the last millisecond in which a request began to wait */
    _Atomic uint32_t begun;    /* requests in it; threads may overwrite each other's count */
    uint64_t sum_ms;           /* of all waits measured */
    uint64_t buckets[HTW_PURGATORY_WAIT_BUCKETS];
};

void htw__wait_histogram_init(struct htw__wait_histogram *waits);

/* A request begins to wait at `now_ns` of the steady clock. The owner only. */
void htw__wait_histogram_begin(struct htw__wait_histogram *waits, struct htw_request *request,
                               int64_t now_ns);

/* A request begins to wait, and the clock has not been read. The owner only. */
void htw__wait_histogram_begin_without_clock(struct htw__wait_histogram *waits,
                                             struct htw_request *request);

/* How long a measured request has waited. The owner only. */
uint32_t htw__waited_ms(const struct htw_request *request);

/* Adds a wait to the histogram. Under the lock of the CPU. */
void htw__wait_histogram_add(struct htw__wait_histogram *waits, uint32_t waited_ms);

/* Adds the histogram to the statistics. Under the lock of the CPU. */
void htw__wait_histogram_add_stats(const struct htw__wait_histogram *waits,
                                   struct htw_purgatory_stats *stats);

#endif /* HTW_SRC_PURGATORY_WAIT_HISTOGRAM_H */

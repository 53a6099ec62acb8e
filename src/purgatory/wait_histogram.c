/* SPDX-License-Identifier: MIT */
/* wait_histogram.c - how long requests waited: a sampled histogram. */
#include "wait_histogram.h"

#include "owner.h"
#include "state.h"

/* The requests of a CPU that are measured in a millisecond. */
#define MEASURED_A_MS 16u

void htw__wait_histogram_init(struct htw__wait_histogram *waits) {
    *waits = (struct htw__wait_histogram) { 0 };
    HTW__ANNOTATE_ATOMIC(&waits->begun_ms, sizeof(waits->begun_ms));
    HTW__ANNOTATE_ATOMIC(&waits->begun, sizeof(waits->begun));
}

static uint32_t to_ms(int64_t time_ns) {
    return (uint32_t)(time_ns / HTW_MILLISECOND);
}

/* Two threads may count as one here; then some more requests are measured. */
static void count_begun(struct htw__wait_histogram *waits, uint32_t begun) {
    atomic_store_explicit(&waits->begun, begun + 1, memory_order_relaxed);
}

void htw__wait_histogram_begin(struct htw__wait_histogram *waits, struct htw_request *request,
                               int64_t now_ns) {
    uint32_t now_ms = to_ms(now_ns);
    uint32_t begun = atomic_load_explicit(&waits->begun, memory_order_relaxed);
    if (atomic_load_explicit(&waits->begun_ms, memory_order_relaxed) != now_ms) {
        atomic_store_explicit(&waits->begun_ms, now_ms, memory_order_relaxed);
        begun = 0;
    }
    count_begun(waits, begun);
    if (begun >= MEASURED_A_MS)
        return;
    request->_since_ms = now_ms;
    request->_flags |= HTW__REQUEST_MEASURED;
}

void htw__wait_histogram_begin_without_clock(struct htw__wait_histogram *waits,
                                             struct htw_request *request) {
    uint32_t begun = atomic_load_explicit(&waits->begun, memory_order_relaxed);
    if (begun >= MEASURED_A_MS && begun % MEASURED_A_MS != 0)
        count_begun(waits, begun);
    else
        htw__wait_histogram_begin(waits, request,
                                  htw__steady_now_ns(request->_purgatory->scheduler));
}

uint32_t htw__waited_ms(const struct htw_request *request) {
    const struct htw_scheduler *scheduler = request->_purgatory->scheduler;
    uint32_t waited_ms = to_ms(htw__steady_now_ns(scheduler)) - request->_since_ms;
    if (waited_ms > INT32_MAX && htw__steady_is_manual(scheduler))
        return 0; /* the clock was set back */
    return waited_ms;
}

void htw__wait_histogram_add(struct htw__wait_histogram *waits, uint32_t waited_ms) {
    unsigned bucket = waited_ms == 0 ? 0 : 32u - (unsigned)__builtin_clz(waited_ms);
    if (bucket >= HTW_PURGATORY_WAIT_BUCKETS)
        bucket = HTW_PURGATORY_WAIT_BUCKETS - 1;
    waits->sum_ms += waited_ms;
    waits->buckets[bucket]++;
}

void htw__wait_histogram_add_stats(const struct htw__wait_histogram *waits,
                                   struct htw_purgatory_stats *stats) {
    stats->waited_ms += waits->sum_ms;
    for (unsigned i = 0; i < HTW_PURGATORY_WAIT_BUCKETS; i++)
        stats->waits[i] += waits->buckets[i];
}

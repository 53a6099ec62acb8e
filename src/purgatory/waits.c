/* SPDX-License-Identifier: MIT */
/* waits.c - how long requests waited: a sampled histogram. */
#include "waits.h"

/* How many requests of a CPU are measured in a millisecond. */
#define MEASURED_A_MS 16u

static uint32_t to_ms(int64_t time_ns) {
    return (uint32_t)(time_ns / HTW_MILLISECOND);
}

/* Two threads may count as one here: then some more are measured. */
static void count_begun(struct htw__waits *waits, uint32_t begun) {
    atomic_store_explicit(&waits->begun, begun + 1, memory_order_relaxed);
}

void htw__wait_begin(struct htw__cpu *cpu, struct htw_request *request, int64_t now_ns) {
    struct htw__waits *waits = &cpu->waits;
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

void htw__wait_begin_without_clock(struct htw_request *request) {
    struct htw_purgatory *purgatory = request->_purgatory;
    struct htw__cpu *cpu = htw__cpu_here(purgatory);
    uint32_t begun = atomic_load_explicit(&cpu->waits.begun, memory_order_relaxed);
    if (begun >= MEASURED_A_MS && begun % MEASURED_A_MS != 0)
        count_begun(&cpu->waits, begun);
    else
        htw__wait_begin(cpu, request, htw__steady_now_ns(purgatory->scheduler));
}

void htw__wait_end(struct htw_request *request) {
    struct htw_purgatory *purgatory = request->_purgatory;
    uint32_t waited_ms = to_ms(htw__steady_now_ns(purgatory->scheduler)) - request->_since_ms;
    if (waited_ms > INT32_MAX && htw__steady_is_manual(purgatory->scheduler))
        waited_ms = 0; /* the clock was set back */
    unsigned bucket = waited_ms == 0 ? 0 : 32u - (unsigned)__builtin_clz(waited_ms);
    if (bucket >= HTW_PURGATORY_WAIT_BUCKETS)
        bucket = HTW_PURGATORY_WAIT_BUCKETS - 1;
    struct htw__cpu *cpu = htw__cpu_here(purgatory);
    htw__lock_acquire(&cpu->lock);
    cpu->waits.sum_ms += waited_ms;
    cpu->waits.buckets[bucket]++;
    htw__lock_release(&cpu->lock);
}

void htw__waits_add(const struct htw__waits *waits, struct htw_purgatory_stats *stats) {
    stats->waited_ms += waits->sum_ms;
    for (unsigned i = 0; i < HTW_PURGATORY_WAIT_BUCKETS; i++)
        stats->waits[i] += waits->buckets[i];
}

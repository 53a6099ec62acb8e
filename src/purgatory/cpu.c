/* SPDX-License-Identifier: MIT */
/* cpu.c - the data of a purgatory for each CPU: counts, and waits. */
#include "cpu.h"

#include "owner.h"

#include <htw/wheel_inspect.h>

/* The requests of a CPU that are measured in a millisecond. */
#define MEASURED_A_MS 16u

/* ---- counts */

void htw__counts_begin(struct htw__counts *counts, struct htw_request *request) {
    request->_flags |= HTW__REQUEST_COUNTED;
    counts->submitted++;
    counts->delayed += (request->_flags & HTW__REQUEST_DELAYED) != 0;
    counts->watched += request->_count;
    if ((request->_flags & HTW__REQUEST_MANY) != 0)
        counts->bytes += request->_place._many._bytes;
}

/* ---- how long requests waited */

/* The bits of an instant that a request has room for: it comes again after 278 years. */
#define MS_MASK ((UINT64_C(1) << 43) - 1)

static uint64_t to_ms(int64_t time_ns) {
    return (uint64_t)(time_ns / HTW_MILLISECOND) & MS_MASK;
}

/* Two threads may count as one here; then some more requests are measured. */
static void count_begun(struct htw__wait_histogram *waits, uint32_t begun) {
    /* order: An estimate of how many requests are measured. */
    atomic_store_explicit(&waits->begun, begun + 1, memory_order_relaxed);
}

void htw__wait_begin(struct htw__cpu *cpu, struct htw_request *request, int64_t now_ns) {
    struct htw__wait_histogram *waits = &cpu->waits;
    uint64_t now_ms = to_ms(now_ns);
    uint32_t low_ms = (uint32_t)now_ms;
    /* order: An estimate of how many requests are measured. */
    uint32_t begun = atomic_load_explicit(&waits->begun, memory_order_relaxed);
    if (atomic_load_explicit(&waits->begun_ms, memory_order_relaxed) != low_ms) {
        atomic_store_explicit(&waits->begun_ms, low_ms, memory_order_relaxed);
        begun = 0;
    }
    count_begun(waits, begun);
    if (begun >= MEASURED_A_MS)
        return;
    request->_since_ms = low_ms;
    request->_flags |=
        (uint16_t)(HTW__REQUEST_MEASURED | (now_ms >> 32 << HTW__REQUEST_SINCE_SHIFT));
}

void htw__wait_begin_without_clock(struct htw__cpu *cpu, struct htw_request *request) {
    /* order: An estimate of how many requests are measured. */
    uint32_t begun = atomic_load_explicit(&cpu->waits.begun, memory_order_relaxed);
    if (begun >= MEASURED_A_MS && begun % MEASURED_A_MS != 0)
        count_begun(&cpu->waits, begun);
    else
        htw__wait_begin(cpu, request, htw__cpu_steady_now_ns(cpu));
}

/* Apart, since few are measured. Under the lock. */
static __attribute__((noinline)) void count_wait(struct htw__cpu *cpu,
                                                 const struct htw_request *request) {
    uint64_t since_ms =
        (uint64_t)(request->_flags >> HTW__REQUEST_SINCE_SHIFT) << 32 | request->_since_ms;
    uint64_t waited_ms = (to_ms(htw__cpu_steady_now_ns(cpu)) - since_ms) & MS_MASK;
    if (waited_ms > MS_MASK / 2 && htw__steady_is_manual(cpu->purgatory->scheduler))
        waited_ms = 0; /* the clock was set back */
    unsigned bucket = waited_ms == 0 ? 0 : 64u - (unsigned)__builtin_clzll(waited_ms);
    if (bucket >= HTW_PURGATORY_WAIT_BUCKETS)
        bucket = HTW_PURGATORY_WAIT_BUCKETS - 1;
    cpu->waits.sum_ms += waited_ms;
    cpu->waits.buckets[bucket]++;
}

/* ---- the end of a request */

void htw__counts_end(struct htw__cpu *cpu, const struct htw_request *request,
                     enum htw_reason reason) {
    struct htw__counts *counts = &cpu->counts;
    counts->ended[reason]++;
    if ((request->_flags & HTW__REQUEST_COUNTED) == 0) {
        counts->submitted++;
        return;
    }
    counts->delayed -= (request->_flags & HTW__REQUEST_DELAYED) != 0;
    counts->watched -= request->_count;
    if ((request->_flags & HTW__REQUEST_MANY) != 0)
        counts->bytes -= request->_place._many._bytes;
    if ((request->_flags & HTW__REQUEST_MEASURED) != 0)
        count_wait(cpu, request);
}

/* ---- all of it */

void htw__cpu_init(struct htw__cpu *cpu, struct htw_purgatory *purgatory) {
    *cpu = (struct htw__cpu) { .alarm_tick = HTW_NEVER_TICK, .purgatory = purgatory };
    htw__lock_init(&cpu->lock, HTW__RANK_PURGATORY_CPU);
    htw__cell_pool_init(&cpu->cells, &purgatory->allocator);
    for (unsigned i = 0; i < HTW__ALARMS; i++)
        cpu->alarms[i].cpu = cpu;
}

void htw__cpu_add_stats(struct htw__cpu *cpu, struct htw_purgatory_stats *stats) {
    struct htw_wheel_stats own = HTW_WHEEL_STATS_INIT;
    htw__lock_acquire(&cpu->lock);
    htw_wheel_get_stats(cpu->wheel, &own);
    stats->memory_bytes += sizeof(*cpu) + own.memory_bytes + cpu->counts.bytes;
    stats->submitted += cpu->counts.submitted;
    stats->completed += cpu->counts.ended[HTW_REASON_COMPLETED];
    stats->expired += cpu->counts.ended[HTW_REASON_EXPIRED];
    stats->cancelled += cpu->counts.ended[HTW_REASON_CANCELLED];
    stats->closed += cpu->counts.ended[HTW_REASON_CLOSED];
    stats->delayed += cpu->counts.delayed;
    stats->watched += cpu->counts.watched;
    stats->waited_ms += cpu->waits.sum_ms;
    for (unsigned i = 0; i < HTW_PURGATORY_WAIT_BUCKETS; i++)
        stats->waits[i] += cpu->waits.buckets[i];
    for (unsigned i = 0; i < HTW__ALARMS; i++)
        stats->alarms += htw_is_pending(cpu->purgatory->scheduler, cpu->alarms[i].handle);
    htw__lock_release(&cpu->lock);
    stats->memory_bytes += htw__cell_pool_memory(&cpu->cells);
}

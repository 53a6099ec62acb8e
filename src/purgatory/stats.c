/* SPDX-License-Identifier: MIT */
/* stats.c - the statistics of a purgatory, as a struct and in the text format of Prometheus. */
#include "../observe/metrics.h"
#include "../observe/prometheus.h"
#include "cpu.h"
#include "walk.h"

static void gather(struct htw_purgatory *purgatory, struct htw_purgatory_stats *stats) {
    *stats = (struct htw_purgatory_stats)HTW_PURGATORY_STATS_INIT;
    for (uint32_t i = 0; i < purgatory->shard_count; i++)
        htw__purgatory_shard_add_stats(&purgatory->shards[i], stats);
    for (uint32_t i = 0; i < purgatory->cpu_count; i++)
        htw__cpu_add_stats(&purgatory->cpus[i], stats);
    htw__lock_acquire(&purgatory->lock);
    stats->memory_bytes += sizeof(*purgatory) + purgatory->condition_bytes;
    htw__lock_release(&purgatory->lock);
    stats->pending =
        stats->submitted - stats->completed - stats->expired - stats->cancelled - stats->closed;
}

void htw_purgatory_stats_init(struct htw_purgatory_stats *stats) {
    static const struct htw_purgatory_stats initial = HTW_PURGATORY_STATS_INIT;
    if (stats != NULL)
        *stats = initial;
}

int htw_purgatory_get_stats(struct htw_purgatory *purgatory, struct htw_purgatory_stats *stats) {
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    if (stats == NULL || stats->struct_size != sizeof(*stats))
        return -EINVAL;
    gather(purgatory, stats);
    return 0;
}

int64_t htw_purgatory_count_key(struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    struct htw__key hashed;
    int refusal = htw__key_of_call(purgatory, key, key_size, &hashed);
    if (refusal != 0)
        return refusal;
    struct htw__walk walk = { .purgatory = purgatory };
    return (int64_t)htw__walk_count(&walk, &hashed);
}

/* ---- Prometheus */

#define NAME "htw_purgatory_"

static const struct htw__metric metrics[] = {
#define METRIC(name, member, help) { name, help, offsetof(struct htw_purgatory_stats, member) },
#define ENDED(member)
    HTW__PURGATORY_METRICS(METRIC, ENDED)
#undef METRIC
#undef ENDED
};

static void write_ended(FILE *stream, const char *reason, uint64_t value) {
    fprintf(stream, NAME "ended_total{reason=\"%s\"} %llu\n", reason, (unsigned long long)value);
}

static uint64_t count_measured(const struct htw_purgatory_stats *stats) {
    uint64_t count = 0;
    for (unsigned i = 0; i < HTW_PURGATORY_WAIT_BUCKETS; i++)
        count += stats->waits[i];
    return count;
}

static void write_waits(FILE *stream, const struct htw_purgatory_stats *stats) {
    uint64_t below = 0;
    htw__prometheus_describe(stream, NAME "wait_seconds", "histogram",
                             "How long requests waited; under load, of a sample.");
    for (unsigned i = 0; i < HTW_PURGATORY_WAIT_BUCKETS - 1; i++) {
        char limit[16];
        unsigned limit_ms = 1u << i;
        snprintf(limit, sizeof(limit), "%u.%03u", limit_ms / 1000, limit_ms % 1000);
        below += stats->waits[i];
        htw__prometheus_bucket(stream, NAME "wait_seconds", limit, below);
    }
    htw__prometheus_end(stream, NAME "wait_seconds", stats->waited_ms, 3, count_measured(stats));
}

int htw_purgatory_prometheus(struct htw_purgatory *purgatory, FILE *stream) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    int error = htw_purgatory_get_stats(purgatory, &stats);
    if (error != 0)
        return error;
    if (stream == NULL)
        return -EINVAL;
    htw__prometheus_values(stream, metrics, sizeof(metrics) / sizeof(metrics[0]), &stats);
    htw__prometheus_describe(stream, NAME "ended_total", "counter", "Requests that have ended.");
    write_ended(stream, "completed", stats.completed);
    write_ended(stream, "expired", stats.expired);
    write_ended(stream, "cancelled", stats.cancelled);
    write_ended(stream, "closed", stats.closed);
    write_waits(stream, &stats);
    return ferror(stream) != 0 || fflush(stream) != 0 ? -EIO : 0;
}

/* SPDX-License-Identifier: MIT */
/* stats.c - the statistics, as a struct and for Prometheus. */
#include "timeout.h"
#include "request.h"
#include "threshold.h"

#include <errno.h>

#define NAME "htw_purgatory_"

static void add_shard(struct htw__purgatory_shard *shard, struct htw_purgatory_stats *stats) {
    htw__lock_acquire(&shard->lock);
    stats->submitted += shard->submitted;
    stats->expired += shard->ended[HTW_REASON_EXPIRED];
    stats->cancelled += shard->ended[HTW_REASON_CANCELLED];
    stats->closed += shard->ended[HTW_REASON_CLOSED];
    stats->pending += shard->pending;
    stats->delayed += shard->delayed;
    stats->watched += shard->watched;
    stats->keys += htw__purgatory_shard_keys(shard);
    stats->memory_bytes += sizeof(*shard) + htw__key_table_memory(&shard->table) + shard->bytes;
    htw__lock_release(&shard->lock);
}

static void gather(struct htw_purgatory *purgatory, struct htw_purgatory_stats *stats) {
    *stats = (struct htw_purgatory_stats)HTW_PURGATORY_STATS_INIT;
    for (uint32_t i = 0; i < purgatory->shard_count; i++)
        add_shard(&purgatory->shards[i], stats);
    for (uint32_t i = 0; i < purgatory->cpu_count; i++)
        htw__timeouts_add(&purgatory->cpus[i], stats);
    stats->memory_bytes += sizeof(*purgatory) + htw__threshold_bytes(purgatory);
    stats->completed =
        stats->submitted - stats->expired - stats->cancelled - stats->closed - stats->pending;
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

uint64_t htw_purgatory_watched(struct htw_purgatory *purgatory) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    return htw_purgatory_get_stats(purgatory, &stats) == 0 ? stats.watched : 0;
}

uint64_t htw_purgatory_delayed(struct htw_purgatory *purgatory) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    return htw_purgatory_get_stats(purgatory, &stats) == 0 ? stats.delayed : 0;
}

static void write_ended(FILE *stream, const char *reason, uint64_t value) {
    fprintf(stream, NAME "ended_total{reason=\"%s\"} %llu\n", reason, (unsigned long long)value);
}

static void write_value(FILE *stream, const char *name, const char *type, const char *help,
                        uint64_t value) {
    fprintf(stream, "# HELP " NAME "%s %s\n# TYPE " NAME "%s %s\n" NAME "%s %llu\n", name, help,
            name, type, name, (unsigned long long)value);
}

static uint64_t count_measured(const struct htw_purgatory_stats *stats) {
    uint64_t count = 0;
    for (unsigned i = 0; i < HTW_PURGATORY_WAIT_BUCKETS; i++)
        count += stats->waits[i];
    return count;
}

/* Seconds, not as a floating-point number, whose point depends on the locale. */
static void write_seconds(FILE *stream, uint64_t ms) {
    fprintf(stream, "%llu.%03u", (unsigned long long)(ms / 1000), (unsigned)(ms % 1000));
}

static void write_waits(FILE *stream, const struct htw_purgatory_stats *stats) {
    uint64_t below = 0, all = count_measured(stats);
    fputs("# HELP " NAME "wait_seconds How long requests waited; under load, of a sample.\n"
          "# TYPE " NAME "wait_seconds histogram\n",
          stream);
    for (unsigned i = 0; i < HTW_PURGATORY_WAIT_BUCKETS - 1; i++) {
        below += stats->waits[i];
        fputs(NAME "wait_seconds_bucket{le=\"", stream);
        write_seconds(stream, UINT64_C(1) << i);
        fprintf(stream, "\"} %llu\n", (unsigned long long)below);
    }
    fprintf(stream, NAME "wait_seconds_bucket{le=\"+Inf\"} %llu\n" NAME "wait_seconds_sum ",
            (unsigned long long)all);
    write_seconds(stream, stats->waited_ms);
    fprintf(stream, "\n" NAME "wait_seconds_count %llu\n", (unsigned long long)all);
}

int htw_purgatory_prometheus(struct htw_purgatory *purgatory, FILE *stream) {
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    if (stream == NULL)
        return -EINVAL;
    struct htw_purgatory_stats stats;
    gather(purgatory, &stats);
    write_value(stream, "submitted_total", "counter", "Requests submitted.", stats.submitted);
    fputs("# HELP " NAME "ended_total Requests that have ended.\n# TYPE " NAME
          "ended_total counter\n",
          stream);
    write_ended(stream, "completed", stats.completed);
    write_ended(stream, "expired", stats.expired);
    write_ended(stream, "cancelled", stats.cancelled);
    write_ended(stream, "closed", stats.closed);
    write_value(stream, "pending", "gauge", "Requests that wait.", stats.pending);
    write_value(stream, "delayed", "gauge", "Of these, with a timeout.", stats.delayed);
    write_value(stream, "watched", "gauge", "Requests on keys, once for each key.", stats.watched);
    write_value(stream, "keys", "gauge", "Keys on which somebody waits.", stats.keys);
    write_value(stream, "alarms", "gauge", "Timers of the scheduler that stand for the timeouts.",
                stats.alarms);
    write_value(stream, "memory_bytes", "gauge", "Memory that the purgatory holds.",
                stats.memory_bytes);
    write_waits(stream, &stats);
    return ferror(stream) != 0 || fflush(stream) != 0 ? -EIO : 0;
}

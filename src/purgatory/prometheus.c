/* SPDX-License-Identifier: MIT */
/* prometheus.c - writes the statistics in the text format of Prometheus. */
#include "../base/prometheus.h"

#include <htw/purgatory.h>

#include <errno.h>

#define NAME "htw_purgatory_"

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
    htw__prometheus_counter(stream, NAME "submitted_total", "Requests submitted.", stats.submitted);
    htw__prometheus_describe(stream, NAME "ended_total", "counter", "Requests that have ended.");
    write_ended(stream, "completed", stats.completed);
    write_ended(stream, "expired", stats.expired);
    write_ended(stream, "cancelled", stats.cancelled);
    write_ended(stream, "closed", stats.closed);
    htw__prometheus_gauge(stream, NAME "pending", "Requests that wait.", stats.pending);
    htw__prometheus_gauge(stream, NAME "delayed", "Of these, with a timeout.", stats.delayed);
    htw__prometheus_gauge(stream, NAME "watched", "Requests on keys, once for each key.",
                          stats.watched);
    htw__prometheus_gauge(stream, NAME "keys", "Keys on which requests wait.", stats.keys);
    htw__prometheus_gauge(stream, NAME "alarms", "Timers of the scheduler that the purgatory uses.",
                          stats.alarms);
    htw__prometheus_gauge(stream, NAME "memory_bytes", "Memory that the purgatory holds.",
                          stats.memory_bytes);
    write_waits(stream, &stats);
    return ferror(stream) != 0 || fflush(stream) != 0 ? -EIO : 0;
}

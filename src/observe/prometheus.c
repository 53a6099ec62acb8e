/* SPDX-License-Identifier: MIT */
/* prometheus.c - the statistics of a scheduler and of a purgatory in the text format of Prometheus. */
#include "metrics.h"
#include "stats.h"

#include <htw/purgatory.h>

#include <errno.h>

static const struct htw__metric scheduler_metrics[] = {
#define METRIC(name, member, help) { name, help, offsetof(struct htw_scheduler_stats, member) },
    HTW__SCHEDULER_METRICS(METRIC)
#undef METRIC
};

int htw_scheduler_prometheus(struct htw_scheduler *scheduler, FILE *stream) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (stream == NULL)
        return -EINVAL;
    struct htw__histogram *histograms =
        htw__allocate(&scheduler->allocator, 2 * sizeof(*histograms));
    if (histograms == NULL)
        return -ENOMEM;
    struct htw_scheduler_stats stats;
    htw__stats_gather(scheduler, &stats, &histograms[0], &histograms[1]);
    htw__prometheus_values(stream, scheduler_metrics,
                           sizeof(scheduler_metrics) / sizeof(scheduler_metrics[0]), &stats);
    htw__prometheus_histogram(stream, "htw_lateness_seconds",
                              "From the deadline to the callback's start.", &histograms[0]);
    htw__prometheus_histogram(stream, "htw_callback_seconds", "How long callbacks took.",
                              &histograms[1]);
    htw__release(&scheduler->allocator, histograms, 2 * sizeof(*histograms));
    return ferror(stream) != 0 || fflush(stream) != 0 ? -EIO : 0;
}

/* ---- purgatory */

#define NAME "htw_purgatory_"

static const struct htw__metric purgatory_metrics[] = {
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
    htw__prometheus_values(stream, purgatory_metrics,
                           sizeof(purgatory_metrics) / sizeof(purgatory_metrics[0]), &stats);
    htw__prometheus_describe(stream, NAME "ended_total", "counter", "Requests that have ended.");
    write_ended(stream, "completed", stats.completed);
    write_ended(stream, "expired", stats.expired);
    write_ended(stream, "cancelled", stats.cancelled);
    write_ended(stream, "closed", stats.closed);
    write_waits(stream, &stats);
    return ferror(stream) != 0 || fflush(stream) != 0 ? -EIO : 0;
}

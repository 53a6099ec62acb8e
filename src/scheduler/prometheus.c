/* SPDX-License-Identifier: MIT */
/* prometheus.c - the statistics in the text format of Prometheus, version 0.0.4. */
#include "../base/prometheus.h"
#include "stats.h"

#include <errno.h>

/* How many values were at most `limit`, which is the upper end of a bucket or near it. */
static uint64_t count_up_to(const struct htw__histogram *histogram, uint64_t limit) {
    struct htw__histogram_bucket bucket;
    size_t cursor = 0;
    uint64_t count = 0;
    while (htw__histogram_next(histogram, &cursor, &bucket) && bucket.high <= limit)
        count += bucket.count;
    return count;
}

static void write_histogram(FILE *stream, const char *name, const char *help,
                            const struct htw__histogram *histogram) {
    static const struct {
        const char *text;
        uint64_t ns;
    } limits[] = {
        { "1e-06", 1000 },     { "1e-05", 10000 },
        { "0.0001", 100000 },  { "0.00025", 250000 },
        { "0.0005", 500000 },  { "0.001", 1000000 },
        { "0.0025", 2500000 }, { "0.005", 5000000 },
        { "0.01", 10000000 },  { "0.025", 25000000 },
        { "0.05", 50000000 },  { "0.1", 100000000 },
        { "0.25", 250000000 }, { "0.5", 500000000 },
        { "1", 1000000000 },   { "10", UINT64_C(10000000000) },
    };
    htw__prometheus_describe(stream, name, "histogram", help);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        htw__prometheus_bucket(stream, name, limits[i].text, count_up_to(histogram, limits[i].ns));
    htw__prometheus_end(stream, name, htw__histogram_sum(histogram), 9,
                        htw__histogram_count(histogram));
}

static void write_all(FILE *stream, const struct htw_scheduler_stats *stats,
                      const struct htw__histogram *lateness,
                      const struct htw__histogram *duration) {
    htw__prometheus_counter(stream, "htw_scheduled_total", "Timers scheduled.", stats->scheduled);
    htw__prometheus_counter(stream, "htw_fired_total", "Timers that ended with a run.",
                            stats->fired);
    htw__prometheus_counter(stream, "htw_cancelled_total", "Timers cancelled before a run.",
                            stats->cancelled);
    htw__prometheus_counter(stream, "htw_handed_back_total", "Timers handed back by stop.",
                            stats->handed_back);
    htw__prometheus_counter(stream, "htw_runs_total", "Callbacks started.", stats->runs);
    htw__prometheus_counter(stream, "htw_late_total", "Callbacks started later than the threshold.",
                            stats->late);
    htw__prometheus_counter(stream, "htw_missed_periods_total",
                            "Periods left out by repeating timers.", stats->missed);
    htw__prometheus_counter(stream, "htw_refused_total", "Timers refused for max_pending.",
                            stats->refused);
    htw__prometheus_counter(stream, "htw_moved_total", "Timers given a new deadline.",
                            stats->moved);
    htw__prometheus_counter(stream, "htw_demoted_total", "Demotions of timers in the wheels.",
                            stats->demoted);
    htw__prometheus_counter(stream, "htw_wakeups_total", "Times an expirer woke up.",
                            stats->wakeups);
    htw__prometheus_counter(stream, "htw_empty_wakeups_total", "Times it did so with nothing due.",
                            stats->empty_wakeups);
    htw__prometheus_gauge(stream, "htw_pending", "Timers pending.", stats->pending);
    htw__prometheus_gauge(stream, "htw_running", "Callbacks running.", stats->running);
    htw__prometheus_gauge(stream, "htw_memory_bytes", "Memory that the scheduler holds.",
                          stats->memory_bytes);
    write_histogram(stream, "htw_lateness_seconds", "From the deadline to the callback's start.",
                    lateness);
    write_histogram(stream, "htw_callback_seconds", "How long callbacks took.", duration);
}

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
    write_all(stream, &stats, &histograms[0], &histograms[1]);
    htw__release(&scheduler->allocator, histograms, 2 * sizeof(*histograms));
    return ferror(stream) != 0 || fflush(stream) != 0 ? -EIO : 0;
}

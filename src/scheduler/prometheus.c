/* SPDX-License-Identifier: MIT */
/* prometheus.c - the statistics in the text format of Prometheus, version 0.0.4. */
#include "../base/prometheus.h"
#include "stats.h"

#include <errno.h>

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
    htw__prometheus_histogram(stream, "htw_lateness_seconds",
                              "From the deadline to the callback's start.", lateness);
    htw__prometheus_histogram(stream, "htw_callback_seconds", "How long callbacks took.", duration);
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

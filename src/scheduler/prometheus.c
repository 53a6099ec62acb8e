/* SPDX-License-Identifier: MIT */
/* prometheus.c - the statistics in the text format of Prometheus, version 0.0.4. */
#include "../base/prometheus.h"
#include "stats.h"

#include <errno.h>

static const struct htw__metric metrics[] = {
#define METRIC(name, member, help) \
    { "htw_" name, help, offsetof(struct htw_scheduler_stats, member) }
    METRIC("scheduled_total", scheduled, "Timers scheduled."),
    METRIC("fired_total", fired, "Timers that ended with a run."),
    METRIC("cancelled_total", cancelled, "Timers cancelled before a run."),
    METRIC("handed_back_total", handed_back, "Timers handed back by stop."),
    METRIC("runs_total", runs, "Callbacks started."),
    METRIC("late_total", late, "Callbacks started later than the threshold."),
    METRIC("missed_periods_total", missed, "Periods left out by repeating timers."),
    METRIC("refused_total", refused, "Timers refused for max_pending."),
    METRIC("moved_total", moved, "Timers given a new deadline."),
    METRIC("demoted_total", demoted, "Demotions of timers in the wheels."),
    METRIC("wakeups_total", wakeups, "Times an expirer woke up."),
    METRIC("empty_wakeups_total", empty_wakeups, "Times it did so with nothing due."),
    METRIC("pending", pending, "Timers pending."),
    METRIC("running", running, "Callbacks running."),
    METRIC("memory_bytes", memory_bytes, "Memory that the scheduler holds."),
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
    htw__prometheus_values(stream, metrics, sizeof(metrics) / sizeof(metrics[0]), &stats);
    htw__prometheus_histogram(stream, "htw_lateness_seconds",
                              "From the deadline to the callback's start.", &histograms[0]);
    htw__prometheus_histogram(stream, "htw_callback_seconds", "How long callbacks took.",
                              &histograms[1]);
    htw__release(&scheduler->allocator, histograms, 2 * sizeof(*histograms));
    return ferror(stream) != 0 || fflush(stream) != 0 ? -EIO : 0;
}

/* SPDX-License-Identifier: MIT */
/* prometheus.c - the statistics of a scheduler and of a purgatory in the text format of Prometheus. */
#include "metrics.h"
#include "stats.h"

#include <htw/purgatory.h>
#include <htw/purgatory_inspect.h>

#include <errno.h>

const struct htw__metric htw__scheduler_metrics[] = {
#define METRIC(name, member, help) HTW__METRIC(struct htw_scheduler_stats, name, member, help)
    METRIC("htw_scheduled_total", scheduled, "Timers scheduled."),
    METRIC("htw_fired_total", fired, "Timers that ended with a run."),
    METRIC("htw_cancelled_total", cancelled, "Timers cancelled before a run."),
    METRIC("htw_handed_back_total", handed_back, "Timers handed back by stop."),
    METRIC("htw_runs_total", runs, "Callbacks started."),
    METRIC("htw_late_total", late, "Callbacks started later than the threshold."),
    METRIC("htw_missed_periods_total", missed, "Periods left out by repeating timers."),
    METRIC("htw_refused_total", refused, "Timers refused for max_pending."),
    METRIC("htw_moved_total", moved, "Timers given a new deadline."),
    METRIC("htw_demoted_total", demoted, "Demotions of timers in the wheels."),
    METRIC("htw_wakeups_total", wakeups, "Times an expirer woke up."),
    METRIC("htw_empty_wakeups_total", empty_wakeups, "Times it did so with nothing due."),
    METRIC("htw_pending", pending, "Timers pending."),
    METRIC("htw_running", running, "Callbacks running."),
    METRIC("htw_memory_bytes", memory_bytes, "Memory that the scheduler holds."),
    HTW__METRICS_END,
#undef METRIC
};

const struct htw__metric htw__purgatory_metrics[] = {
#define METRIC(name, member, help) HTW__METRIC(struct htw_purgatory_stats, name, member, help)
#define ENDED(member)                                                                              \
    HTW__LABELED_METRIC(struct htw_purgatory_stats, "reason", "htw_purgatory_ended_total", member, \
                        "Requests that have ended.")
    METRIC("htw_purgatory_submitted_total", submitted, "Requests submitted."),
    ENDED(completed),
    ENDED(expired),
    ENDED(cancelled),
    ENDED(closed),
    METRIC("htw_purgatory_pending", pending, "Requests that wait."),
    METRIC("htw_purgatory_delayed", delayed, "Of these, with a timeout."),
    METRIC("htw_purgatory_watched", watched, "Requests on keys, once for each key."),
    METRIC("htw_purgatory_keys", keys, "Keys on which requests wait."),
    METRIC("htw_purgatory_alarms", alarms, "Timers of the scheduler that the purgatory uses."),
    METRIC("htw_purgatory_memory_bytes", memory_bytes, "Memory that the purgatory holds."),
    METRIC(NULL, waited_ms, NULL),
    HTW__METRICS_END,
#undef METRIC
#undef ENDED
};

/* ---- scheduler */

int htw_scheduler_prometheus(struct htw_scheduler *scheduler, FILE *stream) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (stream == NULL)
        return -EINVAL;
    struct htw__gathered *gathered = htw__stats_gather(scheduler);
    if (gathered == NULL)
        return -ENOMEM;
    htw__prometheus_values(stream, htw__scheduler_metrics, &gathered->stats);
    htw__prometheus_histogram(stream, HTW__METRIC_LATENESS, &gathered->lateness);
    htw__prometheus_histogram(stream, HTW__METRIC_CALLBACK, &gathered->callback);
    htw__release(&scheduler->allocator, gathered, sizeof(*gathered));
    return ferror(stream) != 0 || fflush(stream) != 0 ? -EIO : 0;
}

/* ---- purgatory */

#define NAME "htw_purgatory_"

static void write_waits(FILE *stream, const struct htw_purgatory_stats *stats) {
    uint64_t count = stats->waits[0];
    htw__prometheus_describe(stream, NAME "wait_seconds", "histogram",
                             "How long requests waited; under load, of a sample.");
    for (unsigned i = 1; i < HTW_PURGATORY_WAIT_BUCKETS; i++) {
        char limit[16];
        unsigned limit_ms = 1u << (i - 1);
        snprintf(limit, sizeof(limit), "%u.%03u", limit_ms / 1000, limit_ms % 1000);
        htw__prometheus_bucket(stream, NAME "wait_seconds", limit, count);
        count += stats->waits[i];
    }
    htw__prometheus_end(stream, NAME "wait_seconds", stats->waited_ms, 3, count);
}

int htw_purgatory_prometheus(struct htw_purgatory *purgatory, FILE *stream) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    int error = htw_purgatory_get_stats(purgatory, &stats);
    if (error != 0)
        return error;
    if (stream == NULL)
        return -EINVAL;
    htw__prometheus_values(stream, htw__purgatory_metrics, &stats);
    write_waits(stream, &stats);
    return ferror(stream) != 0 || fflush(stream) != 0 ? -EIO : 0;
}

/* SPDX-License-Identifier: MIT */
/* prometheus.c - the statistics of a scheduler and of a purgatory in the text format of Prometheus. */
#include "metrics.h"

#include <htw/purgatory.h>
#include <htw/purgatory_inspect.h>

#include <errno.h>

const struct htw__metric htw__scheduler_metrics[] = {
#define METRIC(name, member, help) HTW__METRIC(struct htw_scheduler_stats, name, member, help)
#define HISTOGRAM(name, member, help)                                             \
    HTW__HISTOGRAM_METRIC(struct htw__scheduler_numbers, name, histograms.member, \
                          stats.member.sum_ns, help, 6, 9)
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
    HISTOGRAM("htw_lateness_seconds", lateness, "From the deadline to the callback's start."),
    HISTOGRAM("htw_callback_seconds", callback, "How long callbacks took."),
    HTW__METRICS_END,
#undef METRIC
};
HTW__METRICS_COMPLETE(htw__scheduler_metrics, htw_scheduler_stats, 2,
                      2 * sizeof(struct htw_distribution));

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
    HTW__HISTOGRAM_METRIC(struct htw_purgatory_stats, "htw_purgatory_wait_seconds", waits,
                          waited_ms, "How long requests waited; under load, of a sample.", 3, 3),
    HTW__METRICS_END,
};
HTW__METRICS_COMPLETE(htw__purgatory_metrics, htw_purgatory_stats, 1,
                      HTW_PURGATORY_WAIT_BUCKETS * sizeof(uint64_t));

/* Of a struct that could be read; `error`: otherwise. */
static int write_all(int error, const struct htw__metric *metrics, const void *stats,
                     FILE *stream) {
    if (error != 0 || stream == NULL)
        return error != 0 ? error : -EINVAL;
    htw__prometheus_values(stream, metrics, stats);
    return ferror(stream) != 0 || fflush(stream) != 0 ? -EIO : 0;
}

int htw_scheduler_prometheus(struct htw_scheduler *scheduler, FILE *stream) {
    struct htw__scheduler_numbers numbers = { HTW_SCHEDULER_STATS_INIT,
                                              HTW_SCHEDULER_HISTOGRAMS_INIT };
    int error = htw_scheduler_get_histograms(scheduler, &numbers.stats, &numbers.histograms);
    return write_all(error, htw__scheduler_metrics, &numbers, stream);
}

int htw_purgatory_prometheus(struct htw_purgatory *purgatory, FILE *stream) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    int error = htw_purgatory_get_stats(purgatory, &stats);
    return write_all(error, htw__purgatory_metrics, &stats, stream);
}

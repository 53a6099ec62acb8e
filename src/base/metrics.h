/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - the numbers of schedulers and purgatories, as libhtw writes them for one object, and
 * libhtw-monitor for each of its sources.
 *
 * METRIC(name, member, help): what Prometheus knows it by, the member of the struct of statistics that
 * has its value, and its text. PART(member): a number of a metric that has more than one.
 */
#ifndef HTW_SRC_BASE_METRICS_H
#define HTW_SRC_BASE_METRICS_H

/* Of struct htw_scheduler_stats. */
#define HTW__SCHEDULER_METRICS(METRIC)                                                    \
    METRIC("htw_scheduled_total", scheduled, "Timers scheduled.")                         \
    METRIC("htw_fired_total", fired, "Timers that ended with a run.")                     \
    METRIC("htw_cancelled_total", cancelled, "Timers cancelled before a run.")            \
    METRIC("htw_handed_back_total", handed_back, "Timers handed back by stop.")           \
    METRIC("htw_runs_total", runs, "Callbacks started.")                                  \
    METRIC("htw_late_total", late, "Callbacks started later than the threshold.")         \
    METRIC("htw_missed_periods_total", missed, "Periods left out by repeating timers.")   \
    METRIC("htw_refused_total", refused, "Timers refused for max_pending.")               \
    METRIC("htw_moved_total", moved, "Timers given a new deadline.")                      \
    METRIC("htw_demoted_total", demoted, "Demotions of timers in the wheels.")            \
    METRIC("htw_wakeups_total", wakeups, "Times an expirer woke up.")                     \
    METRIC("htw_empty_wakeups_total", empty_wakeups, "Times it did so with nothing due.") \
    METRIC("htw_pending", pending, "Timers pending.")                                     \
    METRIC("htw_running", running, "Callbacks running.")                                  \
    METRIC("htw_memory_bytes", memory_bytes, "Memory that the scheduler holds.")

/* Of struct htw_purgatory_stats. */
#define HTW__PURGATORY_METRICS(METRIC, PART)                                                   \
    METRIC("htw_purgatory_submitted_total", submitted, "Requests submitted.")                  \
    PART(completed) /* these four are one metric */                                            \
    PART(expired)                                                                              \
    PART(cancelled)                                                                            \
    PART(closed)                                                                               \
    METRIC("htw_purgatory_pending", pending, "Requests that wait.")                            \
    METRIC("htw_purgatory_delayed", delayed, "Of these, with a timeout.")                      \
    METRIC("htw_purgatory_watched", watched, "Requests on keys, once for each key.")           \
    METRIC("htw_purgatory_keys", keys, "Keys on which requests wait.")                         \
    METRIC("htw_purgatory_alarms", alarms, "Timers of the scheduler that the purgatory uses.") \
    METRIC("htw_purgatory_memory_bytes", memory_bytes, "Memory that the purgatory holds.")     \
    PART(waited_ms) /* of the histogram */

#endif /* HTW_SRC_BASE_METRICS_H */

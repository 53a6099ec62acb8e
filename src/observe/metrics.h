/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - the numbers of schedulers, purgatories and journals, as their library writes them for one object, and
 * libhtw-monitor for each of its sources.
 *
 * METRIC(name, member, help): what Prometheus knows it by, the member of the struct of statistics that
 * has its value, and its text. ENDED(member): a number of the one metric of how requests have ended.
 */
#ifndef HTW_SRC_OBSERVE_METRICS_H
#define HTW_SRC_OBSERVE_METRICS_H

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
#define HTW__PURGATORY_METRICS(METRIC, ENDED)                                                  \
    METRIC("htw_purgatory_submitted_total", submitted, "Requests submitted.")                  \
    ENDED(completed)                                                                           \
    ENDED(expired)                                                                             \
    ENDED(cancelled)                                                                           \
    ENDED(closed)                                                                              \
    METRIC("htw_purgatory_pending", pending, "Requests that wait.")                            \
    METRIC("htw_purgatory_delayed", delayed, "Of these, with a timeout.")                      \
    METRIC("htw_purgatory_watched", watched, "Requests on keys, once for each key.")           \
    METRIC("htw_purgatory_keys", keys, "Keys on which requests wait.")                         \
    METRIC("htw_purgatory_alarms", alarms, "Timers of the scheduler that the purgatory uses.") \
    METRIC("htw_purgatory_memory_bytes", memory_bytes, "Memory that the purgatory holds.")

/* Of struct htw_journal_stats. */
#define HTW__JOURNAL_METRICS(METRIC)                                                          \
    METRIC("htw_journal_put_total", put, "Jobs put.")                                         \
    METRIC("htw_journal_done_total", done, "Jobs ended by done.")                             \
    METRIC("htw_journal_cancelled_total", cancelled, "Jobs cancelled.")                       \
    METRIC("htw_journal_replaced_total", replaced, "Jobs replaced under their key.")          \
    METRIC("htw_journal_delivered_total", delivered, "Jobs handed out.")                      \
    METRIC("htw_journal_refused_total", refused, "Calls refused for max_jobs or max_memory.") \
    METRIC("htw_journal_failed_total", failed,                                                \
           "Changes that failed: no space, no memory, or the disk.")                          \
    METRIC("htw_journal_commits_total", commits, "Transactions.")                             \
    METRIC("htw_journal_checkpoints_total", checkpoints,                                      \
           "Times that the log was copied into the file.")                                    \
    METRIC("htw_journal_found", found, "Jobs in the file when it was opened.")                \
    METRIC("htw_journal_jobs", jobs, "Jobs in the file.")                                     \
    METRIC("htw_journal_in_flight", in_flight, "Jobs delivered and not done.")                \
    METRIC("htw_journal_in_memory", in_memory, "Jobs of the near future in memory.")          \
    METRIC("htw_journal_queued", queued, "Changes that wait to be written.")                  \
    METRIC("htw_journal_memory_bytes", memory_bytes,                                          \
           "Memory that the journal holds, without SQLite's.")                                \
    METRIC("htw_journal_log_bytes", log_bytes, "Size of SQLite's log.")                       \
    METRIC("htw_journal_oldest_seconds", oldest_ns,                                           \
           "For how long the oldest job in memory has been due.")                             \
    METRIC("htw_journal_delayed", delayed, "Jobs DELAYED.")                                   \
    METRIC("htw_journal_ready", ready, "Jobs READY.")                                         \
    METRIC("htw_journal_leased", leased, "Jobs LEASED, or in flight.")                        \
    METRIC("htw_journal_buried", buried, "Jobs BURIED.")                                      \
    METRIC("htw_journal_kept", kept, "Jobs DONE that are kept.")                              \
    METRIC("htw_journal_queues", queues, "Queues.")                                           \
    METRIC("htw_journal_requests", requests, "Requests for jobs that wait.")                  \
    METRIC("htw_journal_stopped", stopped, "1 if the journal has stopped by itself.")

#endif /* HTW_SRC_OBSERVE_METRICS_H */

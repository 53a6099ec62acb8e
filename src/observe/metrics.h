/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - the table of statistics, and how they are written in the text format of Prometheus, version 0.0.4.
 *
 * The table has the numbers of schedulers, purgatories and journals, which their libraries write for one object, and
 * libhtw-monitor for each of its sources.
 *
 * Names are complete ("htw_pending"). Errors of the stream are for the caller to check at the end.
 */
#ifndef HTW_SRC_OBSERVE_METRICS_H
#define HTW_SRC_OBSERVE_METRICS_H

#include "distribution.h"

#include <htw/observe.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- the table */

/* A uint64_t in a struct of statistics; or a histogram of durations: an array of uint64_t, of which [i] counts what is less than
   2^i units, the last one all that is more, and their sum. */
struct htw__metric {
    const char *member; /* in JSON; NULL: there are no more */
    const char *name,
        *help; /* of Prometheus; those that follow each other may have one name; NULL: none */
    const char *label; /* whose value is the member; NULL: none */
    size_t offset;
    /* Of a histogram: */
    size_t sum;                      /* the offset */
    unsigned buckets;                /* 0: it is none */
    unsigned decimals, sum_decimals; /* a unit, and that of the sum, is 10^-decimals seconds */
};

#define HTW__LABELED_METRIC(type, label, name, member, help) \
    { #member, (name), (help), (label), offsetof(type, member), 0, 0, 0, 0 }
#define HTW__METRIC(type, name, member, help) HTW__LABELED_METRIC(type, NULL, name, member, help)
#define HTW__METRICS_END \
    { .member = NULL }

/* Behind a table: each uint64_t of the struct has a row. Beside these there are rows of histograms, and `others`: bytes of the
   struct. */
#define HTW__METRICS_COMPLETE(table, type, histograms, others)                               \
    _Static_assert(sizeof(table) / sizeof(*(table)) - 1 - (histograms) ==                    \
                       (sizeof(struct type) - sizeof(size_t) - (others)) / sizeof(uint64_t), \
                   "a member of struct " #type " has no row")

#define HTW__HISTOGRAM_METRIC(type, name, counts_, sum_, help, decimals, sum_decimals)     \
    {                                                                                      \
#counts_, (name), (help), NULL, offsetof(type, counts_), offsetof(type, sum_),     \
            sizeof(((type *)NULL)->counts_) / sizeof(uint64_t), (decimals), (sum_decimals) \
    }

static inline uint64_t htw__metric_value(const struct htw__metric *metric, const void *stats) {
    return *(const uint64_t *)(const void *)((const char *)stats + metric->offset);
}

/* Of struct htw__scheduler_numbers and struct htw_purgatory_stats. */
HTW__SHARED extern const struct htw__metric htw__scheduler_metrics[], htw__purgatory_metrics[];

struct htw__scheduler_numbers {
    struct htw_scheduler_stats stats;
    struct htw_scheduler_histograms histograms;
};

/* Of struct htw_journal_stats: METRIC(name, member, help). A macro, because neither libhtw-journal nor libhtw-monitor
   needs the other. */
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
    METRIC("htw_journal_queues", queues, "Queues.")                                           \
    METRIC("htw_journal_requests", requests, "Requests for jobs that wait.")                  \
    METRIC("htw_journal_stopped", stopped, "1 if the journal has stopped by itself.")

/* Of each queue, in a struct with these members; and of the queues that a list has no room for. By libhtw-monitor and by
   htw serve. */
#define HTW__QUEUE_METRICS(type)                                                                 \
    HTW__QUEUE_JOBS(type, delayed), HTW__QUEUE_JOBS(type, ready), HTW__QUEUE_JOBS(type, leased), \
        HTW__QUEUE_JOBS(type, buried),                                                           \
        HTW__METRIC(type, "htw_journal_queue_waiting", waiting,                                  \
                    "Requests that wait for a job of a queue.")
#define HTW__QUEUE_JOBS(type, member) \
    HTW__LABELED_METRIC(type, "state", "htw_journal_queue_jobs", member, "Jobs of a queue now.")
#define HTW__QUEUES_LEFT_OUT(type, member)                   \
    HTW__METRIC(type, "htw_journal_queues_left_out", member, \
                "Queues that the metrics of each queue leave out: those with the fewest jobs.")

/* ---- writing */

/* The HELP and TYPE lines of a metric whose samples the caller writes. */
void htw__prometheus_describe(FILE *stream, const char *name, const char *help, const char *type);

/* The same of a metric of a table, unless the one before has its name. It has a name. */
HTW__SHARED void htw__metric_describe(FILE *stream, const struct htw__metric *metric,
                                      const struct htw__metric *table);

/* A sample of it, or a whole histogram. `labels` are such as `scheduler="main"`; "": none. */
HTW__SHARED void htw__metric_write(FILE *stream, const struct htw__metric *metric,
                                   const char *labels, const void *stats);

/* All metrics of a struct of statistics. */
HTW__SHARED void htw__prometheus_values(FILE *stream, const struct htw__metric *metrics,
                                        const void *stats);

/* A whole metric of durations, whose unit is 10^-`decimals` seconds. Another thread may record meanwhile. */
HTW__SHARED void htw__prometheus_histogram(FILE *stream, const char *name, const char *help,
                                           const struct htw__histogram *histogram,
                                           unsigned decimals);

#endif /* HTW_SRC_OBSERVE_METRICS_H */

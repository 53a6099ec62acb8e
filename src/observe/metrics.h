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

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- the table */

/* A uint64_t in a struct of statistics. */
struct htw__metric {
    const char *member; /* in JSON; NULL: there are no more */
    const char *name,
        *help; /* of Prometheus; those that follow each other may have one name; NULL: none */
    const char *label; /* whose value is the member; NULL: none */
    size_t offset;
};

#define HTW__LABELED_METRIC(type, label, name, member, help) \
    { #member, (name), (help), (label), offsetof(type, member) }
#define HTW__METRIC(type, name, member, help) HTW__LABELED_METRIC(type, NULL, name, member, help)
#define HTW__METRICS_END \
    { .member = NULL }

static inline uint64_t htw__metric_value(const struct htw__metric *metric, const void *stats) {
    return *(const uint64_t *)(const void *)((const char *)stats + metric->offset);
}

/* Whether it is the first one of its name in its table. It has a name. */
static inline bool htw__metric_is_first(const struct htw__metric *metric,
                                        const struct htw__metric *table) {
    return metric == table || metric[-1].name == NULL || strcmp(metric->name, metric[-1].name) != 0;
}

/* Of struct htw_scheduler_stats and struct htw_purgatory_stats. */
HTW__SHARED extern const struct htw__metric htw__scheduler_metrics[], htw__purgatory_metrics[];

/* Histograms of schedulers and purgatories: their names and what they are. */
#define HTW__METRIC_LATENESS "htw_lateness_seconds", "From the deadline to the callback's start."
#define HTW__METRIC_CALLBACK "htw_callback_seconds", "How long callbacks took."
#define HTW__METRIC_WAIT \
    "htw_purgatory_wait_seconds", "How long requests waited; under load, of a sample."

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

/* ---- writing */

/* The HELP and TYPE lines of a metric whose samples the caller writes. */
void htw__prometheus_describe(FILE *stream, const char *name, const char *type, const char *help);

/* The type of a metric of single values: what has "_total" in its name is a counter. */
static inline const char *htw__metric_type(const char *name) {
    return strstr(name, "_total") != NULL ? "counter" : "gauge";
}

/* The value of such a metric: what has "_seconds" in its name is in nanoseconds. Not printed as a floating-point number,
   whose decimal point would depend on the locale. Returns `text`. */
#define HTW__METRIC_TEXT 32
static inline char *htw__metric_text(const char *name, uint64_t value,
                                     char text[HTW__METRIC_TEXT]) {
    if (strstr(name, "_seconds") != NULL)
        snprintf(text, HTW__METRIC_TEXT, "%" PRIu64 ".%09" PRIu64, value / 1000000000,
                 value % 1000000000);
    else
        snprintf(text, HTW__METRIC_TEXT, "%" PRIu64, value);
    return text;
}

/* A whole metric of one sample. */
void htw__prometheus_value(FILE *stream, const char *name, const char *help, uint64_t value);

/* All metrics of a struct of statistics. */
HTW__SHARED void htw__prometheus_values(FILE *stream, const struct htw__metric *metrics,
                                        const void *stats);

/*
 * A histogram of durations: describe() with the type "histogram"; then bucket() for each limit in
 * ascending order, with the number of values up to that limit; then end(). `limit` is in seconds.
 * `sum` is in units of 10^-`decimals` seconds; `count` includes the values above the last limit.
 */
void htw__prometheus_bucket(FILE *stream, const char *name, const char *limit, uint64_t count);
void htw__prometheus_end(FILE *stream, const char *name, uint64_t sum, int decimals,
                         uint64_t count);

/* A whole metric of durations in nanoseconds. No thread records meanwhile. */
HTW__SHARED void htw__prometheus_histogram(FILE *stream, const char *name, const char *help,
                                           const struct htw__histogram *histogram);

#endif /* HTW_SRC_OBSERVE_METRICS_H */

/* SPDX-License-Identifier: MIT */
/* prometheus.c - writes the statistics in the text format of Prometheus. */
#include "../base/prometheus.h"

#include "state.h"

#include <errno.h>

#define NAME "htw_journal_"

static void write_counters(FILE *stream, const struct htw_journal_stats *stats) {
    htw__prometheus_counter(stream, NAME "put_total", "Jobs put.", stats->put);
    htw__prometheus_counter(stream, NAME "done_total", "Jobs ended by done.", stats->done);
    htw__prometheus_counter(stream, NAME "cancelled_total", "Jobs cancelled.", stats->cancelled);
    htw__prometheus_counter(stream, NAME "replaced_total", "Jobs replaced under their key.",
                            stats->replaced);
    htw__prometheus_counter(stream, NAME "delivered_total", "Jobs handed out.", stats->delivered);
    htw__prometheus_counter(stream, NAME "refused_total",
                            "Calls refused for max_jobs or max_memory.", stats->refused);
    htw__prometheus_counter(stream, NAME "failed_total",
                            "Changes that failed: no space, no memory, or the disk.",
                            stats->failed);
    htw__prometheus_counter(stream, NAME "commits_total", "Transactions.", stats->commits);
    htw__prometheus_counter(stream, NAME "checkpoints_total",
                            "Times that the log was copied into the file.", stats->checkpoints);
}

static void write_gauges(FILE *stream, const struct htw_journal_stats *stats, bool has_stopped) {
    htw__prometheus_gauge(stream, NAME "found", "Jobs in the file when it was opened.",
                          stats->found);
    htw__prometheus_gauge(stream, NAME "jobs", "Jobs in the file.", stats->jobs);
    htw__prometheus_gauge(stream, NAME "in_flight", "Jobs delivered and not done.",
                          stats->in_flight);
    htw__prometheus_gauge(stream, NAME "in_memory", "Jobs of the near future in memory.",
                          stats->in_memory);
    htw__prometheus_gauge(stream, NAME "queued", "Changes that wait to be written.", stats->queued);
    htw__prometheus_gauge(stream, NAME "memory_bytes",
                          "Memory that the journal holds, without SQLite's.", stats->memory_bytes);
    htw__prometheus_gauge(stream, NAME "log_bytes", "Size of SQLite's log.", stats->log_bytes);
    htw__prometheus_gauge(stream, NAME "stopped", "1 if the journal has stopped by itself.",
                          has_stopped);
}

/* By a copy in `copy`: the writer may be recording. */
static void write_histogram(FILE *stream, const char *name, const char *help,
                            const struct htw__histogram *histogram, struct htw__histogram *copy) {
    htw__histogram_init(copy);
    htw__histogram_merge(copy, histogram);
    htw__prometheus_histogram(stream, name, help, copy);
}

int htw_journal_prometheus(struct htw_journal *journal, FILE *stream) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    int error = htw_journal_get_stats(journal, &stats);
    if (error != 0)
        return error;
    if (stream == NULL)
        return htw__journal_fail_as(-EINVAL, "the stream is NULL");
    struct htw__histogram *copy = htw__journal_allocate(journal, sizeof(*copy));
    if (copy == NULL)
        return htw__journal_fail_as(-ENOMEM, "no memory for the statistics");
    htw__mutex_lock(&journal->mutex);
    bool has_stopped = journal->has_failed;
    htw__mutex_unlock(&journal->mutex);
    write_counters(stream, &stats);
    write_gauges(stream, &stats, has_stopped);
    write_histogram(stream, NAME "commit_seconds", "How long transactions took.",
                    &journal->commit_ns, copy);
    write_histogram(stream, NAME "durable_seconds", "From the call of a change to its commit.",
                    &journal->durable_ns, copy);
    write_histogram(stream, NAME "lateness_seconds", "From the deadline to the delivery.",
                    &journal->lateness_ns, copy);
    htw__journal_release(journal, copy, sizeof(*copy));
    if (ferror(stream) != 0 || fflush(stream) != 0)
        return htw__journal_fail_as(-EIO, "writing the statistics failed");
    return 0;
}

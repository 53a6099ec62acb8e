/* SPDX-License-Identifier: MIT */
/* stats.c - the statistics of a journal, as a struct and in the text format of Prometheus, and those of its queues. */
#include "../base/prometheus.h"
#include "state.h"

#include <errno.h>

void htw_journal_stats_init(struct htw_journal_stats *stats) {
    static const struct htw_journal_stats initial = HTW_JOURNAL_STATS_INIT;
    if (stats != NULL)
        *stats = initial;
}

static uint64_t memory_of(const struct htw_journal *journal) {
    const struct htw__jobs *jobs = &journal->jobs;
    return sizeof(*journal) + journal->queued_bytes + jobs->waiting_bytes + jobs->ready_bytes +
           jobs->in_flight_bytes + htw__key_table_memory(&jobs->by_id) +
           htw__heap_memory(&jobs->waiting) + htw__heap_memory(&jobs->leases) +
           journal->reader.capacity * sizeof(*journal->reader.rows) +
           journal->slot_count * sizeof(*journal->slots);
}

int htw_journal_get_stats(struct htw_journal *journal, struct htw_journal_stats *stats) {
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    if (stats == NULL || stats->struct_size != sizeof(*stats))
        return htw__journal_fail_as(-EINVAL, "the statistics are NULL or of an unknown size");
    uint64_t log_bytes = htw__log_bytes(journal->path.name);
    htw__mutex_lock(&journal->mutex);
    *stats = (struct htw_journal_stats) {
        .struct_size = sizeof(*stats),
        .found = journal->found,
        .put = journal->put,
        .done = journal->done,
        .cancelled = journal->cancelled,
        .replaced = journal->replaced,
        .delivered = journal->delivered_count,
        .refused = journal->refused,
        .failed = journal->failed,
        .commits = journal->commits,
        .checkpoints = journal->checkpoints,
        .jobs = journal->jobs_in_file,
        .in_flight = journal->jobs.in_flight,
        .in_memory = journal->jobs.waiting.count,
        .queued = journal->queued,
        .memory_bytes = memory_of(journal),
        .log_bytes = log_bytes,
        .lateness = htw__histogram_distribution(&journal->lateness_ns),
    };
    htw__mutex_unlock(&journal->mutex);
    stats->commit = htw__histogram_distribution(&journal->commit_ns);
    stats->durable = htw__histogram_distribution(&journal->durable_ns);
    return 0;
}

/* ---- Prometheus */

#define NAME "htw_journal_"

static const struct htw__metric metrics[] = {
#define METRIC(name, member, help) \
    { NAME name, help, offsetof(struct htw_journal_stats, member) }
    METRIC("put_total", put, "Jobs put."),
    METRIC("done_total", done, "Jobs ended by done."),
    METRIC("cancelled_total", cancelled, "Jobs cancelled."),
    METRIC("replaced_total", replaced, "Jobs replaced under their key."),
    METRIC("delivered_total", delivered, "Jobs handed out."),
    METRIC("refused_total", refused, "Calls refused for max_jobs or max_memory."),
    METRIC("failed_total", failed, "Changes that failed: no space, no memory, or the disk."),
    METRIC("commits_total", commits, "Transactions."),
    METRIC("checkpoints_total", checkpoints, "Times that the log was copied into the file."),
    METRIC("found", found, "Jobs in the file when it was opened."),
    METRIC("jobs", jobs, "Jobs in the file."),
    METRIC("in_flight", in_flight, "Jobs delivered and not done."),
    METRIC("in_memory", in_memory, "Jobs of the near future in memory."),
    METRIC("queued", queued, "Changes that wait to be written."),
    METRIC("memory_bytes", memory_bytes, "Memory that the journal holds, without SQLite's."),
    METRIC("log_bytes", log_bytes, "Size of SQLite's log."),
#undef METRIC
};

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
    htw__prometheus_values(stream, metrics, sizeof(metrics) / sizeof(metrics[0]), &stats);
    htw__prometheus_value(stream, NAME "stopped", "1 if the journal has stopped by itself.",
                          has_stopped);
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

/* ---- queues */

void htw_queue_stats_init(struct htw_queue_stats *stats) {
    static const struct htw_queue_stats initial = HTW_QUEUE_STATS_INIT;
    if (stats != NULL)
        *stats = initial;
}

int htw_journal_get_queue(struct htw_journal *journal, const char *name,
                          struct htw_queue_stats *stats) {
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    if (stats == NULL || stats->struct_size != sizeof(*stats) || !htw__queue_name_is_valid(name))
        return htw__journal_fail_as(-EINVAL,
                                    "the numbers of a queue are NULL or of an unknown size");
    htw__mutex_lock(&journal->mutex);
    const struct htw__queue *queue = htw__queues_find(&journal->queues, name);
    if (queue != NULL)
        htw__queue_stats(&journal->queues, queue, &journal->jobs, journal->jobs_in_file, stats);
    htw__mutex_unlock(&journal->mutex);
    if (queue == NULL)
        return htw__journal_fail(-ENOENT, "%s: there is no such queue", journal->path.name);
    stats->name = NULL;
    return 0;
}

int htw_journal_list_queues(struct htw_journal *journal, htw_queue_visit *visit, void *context) {
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    if (visit == NULL)
        return htw__journal_fail_as(-EINVAL, "the visit is NULL");
    htw__mutex_lock(&journal->mutex);
    const struct htw__queue *queue = NULL;
    struct htw_queue_stats stats;
    do {
        queue = htw__queues_next(&journal->queues, queue);
        if (queue != NULL)
            htw__queue_stats(&journal->queues, queue, &journal->jobs, journal->jobs_in_file,
                             &stats);
    } while (queue != NULL && visit(context, &stats));
    htw__mutex_unlock(&journal->mutex);
    return 0;
}

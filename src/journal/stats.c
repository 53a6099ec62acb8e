/* SPDX-License-Identifier: MIT */
/* stats.c - the statistics of a journal, as a struct and in the text format of Prometheus, and those of its queues. */
#include "../observe/metrics.h"
#include "../base/user_code.h"
#include "state.h"

#include <errno.h>
#include <time.h>

#define QUEUES_AT_ONCE 128

/* ---- statistics */

static uint64_t memory_of(const struct htw_journal *journal) {
    const struct htw__jobs *jobs = &journal->jobs;
    return sizeof(*journal) + journal->queued_bytes + jobs->waiting_bytes + jobs->ready_bytes +
           jobs->in_flight_bytes + htw__key_table_memory(&jobs->by_id) +
           htw__heap_memory(&jobs->deliveries) + htw__heap_memory(&jobs->delays) +
           htw__heap_memory(&jobs->leases) + journal->slot_count * sizeof(*journal->slots);
}

int htw_journal_get_stats(struct htw_journal *journal, struct htw_journal_stats *stats) {
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    if (stats == NULL || stats->struct_size != sizeof(*stats))
        return htw__journal_fail_as(-EINVAL, "the statistics are NULL or of an unknown size");
    uint64_t log_bytes = journal->path.is_in_memory ? 0 : htw__log_bytes(journal->path.name);
    int64_t now = htw__journal_now(journal), oldest_ns = 0;
    htw__mutex_lock(&journal->mutex);
    struct htw__queue_counts counts =
        htw__queues_count(&journal->queues, &journal->jobs, journal->stats.jobs);
    if (__builtin_sub_overflow(now, htw__jobs_oldest_ns(&journal->jobs), &oldest_ns))
        oldest_ns = INT64_MAX;
    *stats = journal->stats;
    stats->struct_size = sizeof(*stats);
    stats->in_flight = journal->jobs.in_flight;
    stats->in_memory = htw__jobs_waiting(&journal->jobs);
    stats->queued = journal->queued;
    stats->memory_bytes = memory_of(journal);
    stats->log_bytes = log_bytes;
    stats->delayed = (uint64_t)counts.of[HTW_JOB_DELAYED];
    stats->ready = (uint64_t)counts.of[HTW_JOB_READY];
    stats->leased = (uint64_t)counts.of[HTW_JOB_LEASED];
    stats->buried = (uint64_t)counts.of[HTW_JOB_BURIED];
    stats->queues = htw__key_table_count(&journal->queues.by_name) + 1;
    stats->requests = htw__key_table_count(&journal->leases.by_number);
    stats->oldest_ns = oldest_ns < 0 ? 0 : (uint64_t)oldest_ns;
    stats->stopped = journal->has_failed;
    stats->lateness = htw__histogram_distribution(&journal->lateness_ns);
    htw__mutex_unlock(&journal->mutex);
    stats->commit = htw__histogram_distribution(&journal->commit_ns);
    stats->durable = htw__histogram_distribution(&journal->durable_ns);
    return 0;
}

/* ---- Prometheus */

#define NAME "htw_journal_"

static const struct htw__metric metrics[] = {
#define METRIC(name, member, help) HTW__METRIC(struct htw_journal_stats, name, member, help),
    HTW__JOURNAL_METRICS(METRIC) HTW__METRICS_END,
#undef METRIC
};

int htw_journal_prometheus(struct htw_journal *journal, FILE *stream) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    int error = htw_journal_get_stats(journal, &stats);
    if (error != 0)
        return error;
    if (stream == NULL)
        return htw__journal_fail_as(-EINVAL, "the stream is NULL");
    htw__prometheus_values(stream, metrics, &stats);
    htw__prometheus_histogram(stream, NAME "commit_seconds", "How long transactions took.",
                              &journal->commit_ns, 9);
    htw__prometheus_histogram(stream, NAME "durable_seconds",
                              "From the call of a change to its commit.", &journal->durable_ns, 9);
    htw__prometheus_histogram(stream, NAME "lateness_seconds", "From the deadline to the delivery.",
                              &journal->lateness_ns, 9);
    if (ferror(stream) != 0 || fflush(stream) != 0)
        return htw__journal_fail_as(-EIO, "writing the statistics failed");
    return 0;
}

/* ---- queues */

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
        htw__queue_stats(&journal->queues, queue, &journal->jobs, journal->stats.jobs, stats);
    htw__mutex_unlock(&journal->mutex);
    if (queue == NULL)
        return htw__journal_fail(-ENOENT, "%s: there is no such queue", journal->path.name);
    stats->name = NULL;
    return 0;
}

/* Lets those who wait for the lock have it, which they would not before this thread takes it again. The queue stays. */
static struct htw__queue *pause_at(struct htw_journal *journal, struct htw__queue *queue) {
    const struct timespec pause = { 0, 1 };
    queue->users++;
    htw__mutex_unlock(&journal->mutex);
    nanosleep(&pause, NULL);
    htw__mutex_lock(&journal->mutex);
    queue->users--;
    struct htw__queue *next = htw__queues_next(&journal->queues, queue);
    htw__queues_drop(&journal->queues, queue);
    return next;
}

int htw_journal_list_queues(struct htw_journal *journal, htw_queue_visit *visit, void *context) {
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    if (visit == NULL)
        return htw__journal_fail_as(-EINVAL, "the visit is NULL");
    htw__mutex_lock(&journal->mutex);
    struct htw__queue *queue = htw__queues_next(&journal->queues, NULL);
    struct htw_queue_stats stats;
    bool goes_on = true;
    for (uint32_t shown = 1; queue != NULL; shown++) {
        htw__queue_stats(&journal->queues, queue, &journal->jobs, journal->stats.jobs, &stats);
        HTW__CALL_USER("a visit", journal, visit, goes_on = visit(context, &stats));
        if (!goes_on)
            break;
        queue = shown % QUEUES_AT_ONCE == 0 ? pause_at(journal, queue)
                                            : htw__queues_next(&journal->queues, queue);
    }
    htw__mutex_unlock(&journal->mutex);
    return 0;
}

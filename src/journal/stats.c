/* SPDX-License-Identifier: MIT */
/* stats.c - the statistics of a journal. */
#include "state.h"

#include <errno.h>

void htw_journal_stats_init(struct htw_journal_stats *stats) {
    static const struct htw_journal_stats initial = HTW_JOURNAL_STATS_INIT;
    if (stats != NULL)
        *stats = initial;
}

static uint64_t memory_of(const struct htw_journal *journal) {
    const struct htw__jobs *jobs = &journal->jobs;
    return sizeof(*journal) + journal->queued_bytes + jobs->waiting_bytes + jobs->in_flight_bytes +
           htw__key_table_memory(&jobs->by_id) + htw__heap_memory(&jobs->waiting) +
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

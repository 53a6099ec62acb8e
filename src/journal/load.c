/* SPDX-License-Identifier: MIT */
/* load.c - jobs of the file as jobs of memory, and back. */
#include "load.h"

#include <errno.h>
#include <string.h>

/* ---- states */

enum htw_job_state htw__filed_state(const struct htw__whereabouts *where) {
    return htw__place_state(htw__place_class_of(where->place), where->is_leased, INT64_MAX,
                            INT64_MIN);
}

enum htw_job_state htw__state_in_file(const struct htw_journal *journal,
                                      const struct htw__whereabouts *where) {
    return htw__place_state(htw__place_class_of(where->place), where->is_leased, where->deadline_ns,
                            htw__journal_now(journal));
}

/* ---- from the file */

static bool is_zero(const struct htw__counters *counters) {
    static const struct htw__counters zero;
    return memcmp(counters, &zero, sizeof(zero)) == 0;
}

/* Adds the job to its queue, and reserves a place for it among those that wait. */
static int attach(struct htw_journal *journal, struct htw__job *job, uint32_t number) {
    htw__mutex_lock(&journal->mutex);
    int error = htw__jobs_reserve(&journal->jobs, 1);
    if (error == 0 && job->queued != NULL) {
        job->queued->queue = htw__queues_find_number(&journal->queues, number);
        error = job->queued->queue == NULL ? -EBADMSG : htw__jobs_attach(&journal->jobs, job);
        if (error != 0)
            htw__jobs_unreserve(&journal->jobs, 1);
    }
    htw__mutex_unlock(&journal->mutex);
    return error == -EBADMSG
               ? htw__journal_fail(error, "%s: job %llu is in no queue", journal->path.name,
                                   (unsigned long long)job->position.id)
           : error != 0 ? htw__journal_fail_as(error, "no memory for a job")
                        : 0;
}

int htw__job_load(struct htw_journal *journal, uint64_t id, const struct htw__job_row *row,
                  const struct htw__whereabouts *where, struct htw__job **ret_job) {
    bool is_plain = journal->deliver != NULL && row->queue == HTW__QUEUE_DEFAULT &&
                    where->priority == 0 && row->put_us == 0 && is_zero(&where->counters);
    const struct htw__queued queued = {
        .put_us = row->put_us,
        .lease_ns = row->lease_ns,
        .lease_end_ns = where->deadline_ns,
        .priority = where->priority,
        .counters = where->counters,
        .filed = htw__filed_state(where),
        .is_durable = where->is_leased,
    };
    struct htw__job *job =
        htw__job_create(&journal->allocator, where->deadline_ns, row->key, row->key_size,
                        row->payload, row->payload_size, is_plain ? NULL : &queued);
    if (job == NULL)
        return htw__journal_fail_as(-ENOMEM, "no memory for a job");
    job->position.id = id;
    int error = attach(journal, job, row->queue);
    if (error != 0) {
        htw__job_destroy(&journal->allocator, job);
        return error;
    }
    *ret_job = job;
    return 0;
}

int htw__job_read(struct htw_journal *journal, uint64_t id, struct htw__job **ret_job,
                  struct htw__whereabouts *ret_where) {
    struct htw__job_row row;
    struct htw__whereabouts where;
    int error = htw__database_fetch(&journal->database, id, &row, &where);
    if (error != 0)
        return error;
    error = htw__job_load(journal, id, &row, &where, ret_job);
    htw__database_fetch_end(&journal->database);
    *ret_where = where;
    return error;
}

/* ---- to the file */

struct htw__job_row htw__job_row_of(const struct htw__job *job) {
    struct htw__job_row row = { .deadline_ns = job->position.deadline_ns,
                                .key = job->has_key ? job->bytes : NULL,
                                .key_size = job->key_size,
                                .payload = job->bytes + job->key_size,
                                .payload_size = job->payload_size };
    if (job->queued != NULL) {
        row.queue = (uint32_t)job->queued->queue->number;
        row.priority = job->queued->priority;
        row.put_us = job->queued->put_us;
        row.lease_ns = job->queued->lease_ns;
    }
    return row;
}

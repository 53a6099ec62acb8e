/* SPDX-License-Identifier: MIT */
/* load.c - jobs of the file as jobs of memory, and back. */
#include "load.h"

#include <errno.h>
#include <string.h>

/* ---- states */

enum htw_job_state htw__filed_state(const struct htw__whereabouts *where) {
    static const enum htw_job_state states[] = { HTW_JOB_DELAYED, HTW_JOB_READY, HTW_JOB_BURIED };
    return where->is_leased ? HTW_JOB_LEASED : states[htw__place_class_of(where->place)];
}

enum htw_job_state htw__state_in_file(const struct htw_journal *journal,
                                      const struct htw__whereabouts *where) {
    bool is_due = htw__place_class_of(where->place) == HTW__PLACE_DELAYED &&
                  where->deadline_ns <= htw__journal_now(journal);
    return is_due ? HTW_JOB_READY : htw__filed_state(where);
}

enum htw_job_state htw__state_of_job(const struct htw_journal *journal,
                                     const struct htw__job *job) {
    if (job->state == HTW__JOB_WAITING)
        return job->position.deadline_ns <= htw__journal_now(journal) ? HTW_JOB_READY
                                                                      : HTW_JOB_DELAYED;
    return job->state == HTW__JOB_READY ? HTW_JOB_READY : HTW_JOB_LEASED;
}

enum htw__job_state htw__state_in_memory(const struct htw__whereabouts *where) {
    static const enum htw__job_state states[] = { HTW__JOB_WAITING, HTW__JOB_READY, HTW__JOB_LEASED,
                                                  HTW__JOB_QUEUED };
    return states[htw__filed_state(where)];
}

/* ---- from the file */

/* The queue of the file, which then counts the job. */
static int attach(struct htw_journal *journal, struct htw__job *job, uint32_t number) {
    htw__mutex_lock(&journal->mutex);
    struct htw__queue *queue = htw__queues_find_number(&journal->queues, number);
    int error = queue == NULL ? -EBADMSG : htw__jobs_attach(&journal->jobs, job, queue);
    htw__mutex_unlock(&journal->mutex);
    return error == -EBADMSG
               ? htw__journal_fail(error, "%s: job %llu is in no queue", journal->path.name,
                                   (unsigned long long)job->position.id)
           : error != 0 ? htw__journal_fail_as(error, "no memory for a job")
                        : 0;
}

int htw__job_load(struct htw_journal *journal, uint64_t id, const struct htw__job_row *row,
                  const struct htw__whereabouts *where, struct htw__job **ret_job) {
    struct htw__job *job = htw__job_create(&journal->allocator, row);
    if (job == NULL)
        return htw__journal_fail_as(-ENOMEM, "no memory for a job");
    job->position = (struct htw__position) { where->deadline_ns, id };
    job->lease_end_ns = where->deadline_ns;
    job->priority = where->priority;
    job->counters = where->counters;
    job->filed = htw__filed_state(where);
    job->is_durable = where->is_leased;
    int error = attach(journal, job, row->queue);
    if (error != 0) {
        htw__job_destroy(&journal->allocator, job);
        return error;
    }
    *ret_job = job;
    return 0;
}

int64_t htw__jobs_scan(struct htw_journal *journal, struct htw__scan *scan) {
    htw__mutex_unlock(&journal->mutex);
    int64_t count =
        htw__database_scan(&journal->database, scan, journal->scan_rows, HTW__READ_STEP);
    htw__mutex_lock(&journal->mutex);
    return count;
}

int htw__job_take(struct htw_journal *journal, uint64_t id) {
    struct htw__job *job = NULL;
    struct htw__job_row row;
    struct htw__whereabouts where;
    if (htw__jobs_find(&journal->jobs, id) != NULL)
        return 0;
    htw__mutex_unlock(&journal->mutex);
    int error = htw__database_fetch(&journal->database, id, &row, &where);
    if (error == 0) {
        error = htw__job_load(journal, id, &row, &where, &job);
        htw__database_fetch_end(&journal->database);
    }
    htw__mutex_lock(&journal->mutex);
    if (error != 0)
        return error;
    enum htw__job_state state = htw__state_in_memory(&where);
    if (state == HTW__JOB_QUEUED) /* a damaged file */
        htw__jobs_discard(&journal->jobs, job);
    else
        htw__jobs_add(&journal->jobs, job, state);
    return 0;
}

/* ---- to the file */

void htw__count_job(struct htw_journal *journal, uint32_t number, enum htw_job_state state,
                    int by) {
    htw__mutex_lock(&journal->mutex);
    struct htw__queue *queue = htw__queues_find_number(&journal->queues, number);
    htw__mutex_unlock(&journal->mutex);
    if (queue != NULL)
        htw__queue_count(&journal->changed, queue, state, by);
}

struct htw__job_row htw__job_row_of(const struct htw__job *job) {
    struct htw__job_row row = { .deadline_ns = job->position.deadline_ns,
                                .key = job->has_key ? job->bytes : NULL,
                                .key_size = job->key_size,
                                .payload = job->bytes + job->key_size,
                                .payload_size = job->payload_size,
                                .queue = (uint32_t)job->queue->number,
                                .priority = job->priority,
                                .put_us = job->put_us,
                                .is_to_come = job->is_to_come,
                                .lease_ns = job->lease_ns };
    return row;
}

/* ---- to a caller */

struct htw_delivery htw__job_delivery(struct htw_journal *journal, const struct htw__job *job,
                                      int64_t now) {
    bool is_leased = job->state == HTW__JOB_LEASED;
    /* The file has the end of a durable lease instead. */
    int64_t due_ns = is_leased && job->filed == HTW_JOB_LEASED ? now : job->position.deadline_ns;
    int64_t late_ns;
    if (__builtin_sub_overflow(now, due_ns, &late_ns))
        late_ns = INT64_MAX;
    struct htw_delivery delivery = {
        .journal = journal,
        .id = job->position.id,
        .deadline_ns = due_ns,
        .late_ns = late_ns > 0 ? late_ns : 0,
        .payload = job->bytes + job->key_size,
        .payload_size = job->payload_size,
        .key = job->has_key ? job->bytes : NULL,
        .key_size = job->key_size,
        .priority = job->priority,
        .attempt = job->counters.attempts,
        .lease_end_ns = HTW_NEVER_NS,
    };
    if (is_leased) {
        delivery.queue = job->queue->number == HTW__QUEUE_DEFAULT ? NULL : job->queue->name;
        delivery.lease_end_ns = job->lease_end_ns;
        delivery.lease_ns = job->lease_ns;
    }
    return delivery;
}

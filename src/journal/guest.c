/* SPDX-License-Identifier: MIT */
/* guest.c - the inbox of a guest: putting into it, and taking in what is there. */
#include "load.h"
#include "reader.h"
#include "step.h"

#include <htw/journal_guest.h>

#include <errno.h>

/* ---- putting: in a transaction of the caller */

int htw_journal_put_in(struct sqlite3 *connection, struct htw_job *job) {
    if (connection == NULL || job == NULL)
        return htw__journal_fail_as(-EINVAL, "an argument of htw_journal_put_in() is NULL");
    int error = htw__change_validate_job(job);
    return error == 0 ? htw__inbox_put(connection, job) : error;
}

int htw_journal_wake(struct htw_journal *journal) {
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    if (!journal->database.is_guest)
        return htw__journal_fail(-EINVAL, "%s: the journal is no guest", journal->path.name);
    htw__mutex_lock(&journal->mutex);
    journal->guest.look_ns = 0;
    pthread_cond_signal(&journal->work);
    htw__mutex_unlock(&journal->mutex);
    return 0;
}

/* ---- taking in */

/* Of a transaction: no more jobs, and no more than one job above so many bytes. */
#define SOME_JOBS 128u
#define SOME_BYTES (4u << 20)

struct intake {
    struct htw__change *change;
    struct htw__job **last; /* of its jobs */
    uint64_t after;
    size_t bytes;
};

/* A row of the inbox as a job of memory; NULL: there is no memory, or no queue for it now (*ret_error is 0). */
static struct htw__job *job_of(struct htw_journal *journal, uint64_t id,
                               const struct htw__job_row *row, const char *name, int *ret_error) {
    struct htw__queue *queue;
    struct htw__job *job = htw__job_create(&journal->allocator, row);
    *ret_error = -ENOMEM;
    if (job == NULL)
        return NULL;
    job->position.id = id;
    htw__mutex_lock(&journal->mutex);
    int error = htw__queues_get(&journal->queues, name, &queue);
    if (error == 0 && (error = htw__jobs_attach(&journal->jobs, job, queue)) != 0)
        htw__queues_drop(&journal->queues, queue);
    if (error == 0 && !htw__journal_is_plain(journal, name != NULL, row->priority, row->lease_ns))
        htw__journal_note_put(journal, job);
    journal->queued_jobs += error == 0;
    htw__mutex_unlock(&journal->mutex);
    *ret_error = error == -EAGAIN ? 0 : error;
    if (error == 0)
        return job;
    htw__job_destroy(&journal->allocator, job);
    return NULL;
}

/* The next row, unless it has to stay. -ENOENT: there is none. */
static int take_row(struct htw_journal *journal, struct intake *intake) {
    struct htw__job_row row;
    struct htw__job *job = NULL;
    const char *name;
    int error = htw__inbox_next(&journal->database, intake->after, &row, &intake->after, &name);
    if (error != 0)
        return error;
    if (row.key_size + row.payload_size <= HTW_JOURNAL_JOB_MAX)
        job = job_of(journal, intake->after, &row, name, &error);
    htw__inbox_next_end(&journal->database);
    if (job == NULL)
        return error == 0 ? 0 : htw__journal_fail_as(error, "no memory for a job");
    *intake->last = job;
    intake->last = &job->next;
    intake->change->job_count++;
    intake->bytes += htw__job_memory(job);
    return htw__inbox_leave(&journal->database, intake->after);
}

int htw__guest_take_in(struct htw_journal *journal, struct htw__change *change) {
    struct intake intake = { change, &change->jobs, journal->guest.after, 0 };
    int error = 0;
    for (unsigned i = 0; i < SOME_JOBS && intake.bytes < SOME_BYTES && error == 0; i++)
        error = take_row(journal, &intake);
    journal->guest.after = error == 0 ? intake.after : 0;
    return error == -ENOENT ? 0 : error;
}

void htw__guest_end_taking(struct htw_journal *journal, int result) {
    if (result != 0)
        journal->guest.after = 0;
    if (journal->guest.after != 0)
        journal->guest.look_ns = 0;
}

/* ---- looking */

int64_t htw__guest_due_ns(const struct htw_journal *journal) {
    return journal->has_failed || journal->is_stopping ? HTW_NEVER_NS : journal->guest.look_ns;
}

void htw__guest_look(struct htw_journal *journal) {
    struct htw__guest *guest = &journal->guest;
    struct htw__job_row row;
    const char *name;
    uint64_t id;
    if (__builtin_add_overflow(htw__clock_monotonic_ns(), guest->interval_ns, &guest->look_ns))
        guest->look_ns = HTW_NEVER_NS;
    journal->is_in_use = true;
    htw__mutex_unlock(&journal->mutex);
    int error = htw__inbox_next(&journal->database, guest->after, &row, &id, &name);
    htw__inbox_next_end(&journal->database);
    if (error != 0 && error != -ENOENT && !journal->database.is_distrusted) /* that stops it */
        htw__journal_report(journal, HTW_LOG_WARNING, htw_journal_error());
    htw__mutex_lock(&journal->mutex);
    htw__journal_release_database(journal);
    if (error != 0 && journal->database.is_distrusted)
        htw__journal_stop(journal);
    if (error != 0)
        guest->after = 0;
    else if (htw__submit_own(journal, HTW__OWN_TAKE_IN, NULL, 0) == 0)
        journal->is_urgent = true;
}

/* SPDX-License-Identifier: MIT */
/* admit.c - whether a change is taken: limits, the ids of its jobs, and their queues. */
#include "load.h"
#include "recurring.h"

#include <errno.h>
#include <pthread.h>

static int refuse(struct htw_journal *journal, int error, const char *sentence) {
    if (error == -EAGAIN)
        journal->refused++;
    return htw__journal_fail(error, "%s: %s", journal->path.name, sentence);
}

static bool has_reserved(const struct htw_journal *journal, const struct htw__change *change) {
    return htw__ids_have(journal->ids.next_block, journal->ids.reserved, change->job_count);
}

/*
 * Callers know ids before they are durable, or where a put fails. If more are wanted than the last commit has reserved,
 * this waits for one that reserves them. Under the lock, which it releases meanwhile.
 */
static int reserve_ids(struct htw_journal *journal, const struct htw__change *change) {
    struct htw__ids *ids = &journal->ids;
    bool is_inside = htw__journal_is_inside(journal, false);
    if (change->work != NULL || has_reserved(journal, change))
        return 0;
    journal->ids_wait++;
    while (!is_inside && journal->is_in_use && !has_reserved(journal, change))
        htw__mutex_wait(&journal->mutex, &journal->idle);
    journal->ids_wait--;
    if (journal->has_failed || has_reserved(journal, change))
        return 0;
    uint64_t wanted = ids->next_block + (uint64_t)change->job_count * HTW__BLOCK_IDS;
    journal->is_in_use = true;
    htw__mutex_unlock(&journal->mutex);
    int error = htw__database_settle(&journal->database, wanted < ids->end ? wanted : ids->end);
    htw__mutex_lock(&journal->mutex);
    htw__journal_follow(journal);
    if (!is_inside)
        htw__journal_release_database(journal);
    if (journal->database.is_distrusted)
        htw__journal_stop(journal);
    return error;
}

/* Under the lock. 0, or why the change is not accepted. */
static int reserve(struct htw_journal *journal, const struct htw__change *change) {
    if (journal->has_failed)
        return htw__journal_fail_as(-EIO, journal->failure);
    if (journal->is_stopping)
        return refuse(journal, -ESHUTDOWN, "the journal is being closed");
    uint64_t jobs = journal->jobs_in_file + journal->queued_jobs;
    if (change->job_count > 0 && journal->max_jobs > 0 &&
        (jobs >= journal->max_jobs || change->job_count > journal->max_jobs - jobs))
        return refuse(journal, -EAGAIN, "max_jobs is reached");
    /* To end jobs is always possible. */
    if (change->job_count > 0 && journal->queued_bytes > 0 &&
        (journal->queued_bytes >= journal->queued_max ||
         change->bytes > journal->queued_max - journal->queued_bytes))
        return refuse(journal, -EAGAIN, "max_memory is reached");
    if (!htw__ids_have(journal->ids.next_block, journal->ids.end, change->job_count))
        return refuse(journal, -ENOSPC, "all ids of the file have been given");
    if (htw__jobs_reserve(&journal->jobs, change->job_count) != 0)
        return refuse(journal, -ENOMEM, "no memory for a job");
    return 0;
}

/* Adds the jobs to their queues. */
static int attach(struct htw_journal *journal, const struct htw__change *change,
                  const struct htw_journal_change *wanted) {
    size_t i = 0;
    for (struct htw__job *job = change->jobs; job != NULL; job = job->next, i++) {
        if (job->queued == NULL)
            continue;
        struct htw__queue *queue;
        int error = htw__queues_get(&journal->queues, wanted->jobs[i].queue, &queue);
        if (error == 0) {
            job->queued->queue = queue;
            error = htw__jobs_attach(&journal->jobs, job);
            if (error != 0)
                htw__queues_drop(&journal->queues, queue);
        }
        if (error != 0)
            return refuse(journal, error,
                          error == -EAGAIN ? "there are too many queues" : "no memory for a job");
    }
    return 0;
}

static void give_ids(struct htw_journal *journal, struct htw__change *change,
                     const struct htw_journal_change *wanted) {
    size_t i = 0;
    for (struct htw__job *job = change->jobs; job != NULL; job = job->next, i++) {
        if (job->queued != NULL)
            job->queued->put_us = htw__journal_put_time(journal, job->position.deadline_ns);
        const struct htw__job_row row = htw__job_row_of(job);
        job->position.id = htw__ids_give(&journal->ids, htw__database_where_put(&row).place);
        wanted->jobs[i].id = job->position.id;
    }
}

/* The queue of what is not in struct htw_journal_change. A queue that is not there has nothing to be kicked. */
static int find_queue(struct htw_journal *journal, struct htw__change *change,
                      const struct htw__special *special) {
    int error = 0;
    change->kick_count = special->kick_count;
    change->policy = special->policy;
    change->recurring = special->recurring;
    if (special->policy == NULL)
        change->queue = htw__queues_find(&journal->queues, special->queue);
    else
        error = htw__queues_get(&journal->queues, special->queue, &change->queue);
    if (change->queue != NULL)
        change->queue->users++;
    return error == 0 ? 0 : refuse(journal, error, "there are too many queues, or no memory");
}

int htw__change_admit(struct htw_journal *journal, struct htw__change *change,
                      const struct htw_journal_change *wanted, const struct htw__special *special) {
    if (journal->is_read_only)
        return htw__journal_fail(-EROFS, "%s: the journal is open to be read", journal->path.name);
    int error = reserve_ids(journal, change);
    if (error == 0)
        error = reserve(journal, change);
    if (error != 0)
        return error;
    error =
        special == NULL ? attach(journal, change, wanted) : find_queue(journal, change, special);
    if (error == 0) {
        give_ids(journal, change, wanted);
    } else {
        htw__jobs_unreserve(&journal->jobs, change->job_count);
        htw__change_discard_jobs(journal, change);
    }
    return error;
}

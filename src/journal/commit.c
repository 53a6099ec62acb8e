/* SPDX-License-Identifier: MIT */
/* commit.c - a batch: all changes of the queue, in one transaction. */
#include "commit.h"

#include "../base/clock.h"
#include "../base/user_code.h"
#include "reader.h"
#include "slot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- before: under the lock */

/* A job that is being cancelled is not delivered meanwhile. One that has been delivered is not
   cancelled. */
static void hold(struct htw_journal *journal, struct htw__change *change) {
    struct htw__job *job = htw__jobs_find(&journal->jobs, change->done[0]);
    if (job == NULL || job->state == HTW__JOB_HELD)
        return;
    if (job->state == HTW__JOB_WAITING)
        htw__jobs_hold(&journal->jobs, job);
    else
        change->result = -EALREADY;
}

static struct htw__change *take_queue(struct htw_journal *journal) {
    struct htw__change *batch = journal->first;
    journal->first = NULL;
    journal->last = &journal->first;
    journal->waiting_changes = 0;
    journal->is_urgent = false;
    for (struct htw__change *change = batch; change != NULL; change = change->next)
        if (change->is_cancel)
            hold(journal, change);
    return batch;
}

/* ---- the transaction: without the lock */

/* Concerns one change; the others of the batch can be made. */
static bool is_of_one_change(int error) {
    return error == -ENOENT || error == -EMSGSIZE;
}

static struct htw__job_row row_of(const struct htw__job *job) {
    return (struct htw__job_row) { .deadline_ns = job->position.deadline_ns,
                                   .key = job->has_key ? job->bytes : NULL,
                                   .key_size = job->key_size,
                                   .payload = job->bytes + job->key_size,
                                   .payload_size = job->payload_size };
}

static int write_parts(struct htw__database *database, const struct htw__change *change) {
    int error = 0;
    for (size_t i = 0; i < change->done_count && error == 0; i++)
        error = htw__database_remove(database, change->done[i]);
    for (struct htw__job *job = change->jobs; job != NULL && error == 0; job = job->next) {
        const char *key = job->has_key ? job->bytes : NULL;
        if (key != NULL)
            error = htw__database_take_key(database, key, job->key_size, job->position.id,
                                           &job->replaced);
        if (error == 0) {
            const struct htw__job_row row = row_of(job);
            error = htw__database_insert(database, job->position.id, &row);
        }
    }
    if (change->mark != NULL && error == 0)
        error = htw__database_set_mark(database, change->mark, change->mark_size);
    return error;
}

/* Writes a change wholly or not at all. 0, also if the change is not possible; otherwise the whole
   batch has failed. */
static int write_change(struct htw__database *database, struct htw__change *change) {
    size_t parts = change->done_count + change->job_count + (change->mark != NULL);
    bool has_key = change->jobs != NULL && change->jobs->has_key;
    bool needs_savepoint = parts > 1 || has_key;
    int error = needs_savepoint ? htw__database_savepoint(database) : 0;
    if (error != 0)
        return error;
    error = write_parts(database, change);
    if (error != 0 && !is_of_one_change(error))
        return error;
    change->result = error;
    return needs_savepoint ? htw__database_savepoint_end(database, error == 0) : 0;
}

static bool is_empty(const struct htw__change *change) {
    return change->done_count == 0 && change->job_count == 0 && change->mark == NULL;
}

/* 0: what has a `result` of 0 is durable. Otherwise nothing has changed, or the database is
   distrusted. `ret_commits` says whether there was a transaction. */
static int write_batch(struct htw_journal *journal, struct htw__change *batch, uint64_t next_id,
                       bool *ret_commits) {
    struct htw__database *database = &journal->database;
    bool has_begun = false;
    int error = 0;
    for (struct htw__change *change = batch; change != NULL && error == 0; change = change->next) {
        if (change->result != 0 || is_empty(change))
            continue;
        if (!has_begun)
            error = htw__database_begin(database);
        has_begun = true;
        if (error == 0)
            error = write_change(database, change);
    }
    *ret_commits = has_begun && error == 0;
    if (!has_begun)
        return 0;
    if (error != 0) {
        htw__database_rollback(database);
        return error;
    }
    error = htw__database_commit(database, next_id);
    if (error == 0)
        return 0;
    *ret_commits = false;
    char sentence[HTW__JOURNAL_SENTENCE];
    snprintf(sentence, sizeof(sentence), "%s", htw_journal_error());
    htw__database_rollback(database);
    /*
     * A complete copy of the transaction may be in the log, and come back after a crash, unless it is
     * written over. Only where space was lacking for the transaction there is no complete copy: the
     * log is allocated in order.
     */
    int settled = database->is_distrusted ? 0 : htw__database_settle(database, next_id);
    if (settled != 0 && !(settled == -ENOSPC && error == -ENOSPC))
        database->is_distrusted = true;
    return htw__journal_fail_as(error, sentence);
}

/* ---- after: under the lock */

static void end_in_memory(struct htw_journal *journal, uint64_t id) {
    struct htw__job *job = htw__jobs_find(&journal->jobs, id);
    if (job != NULL)
        htw__jobs_end(&journal->jobs, job);
}

static void keep_jobs(struct htw_journal *journal, struct htw__change *change) {
    struct htw__job *next;
    for (struct htw__job *job = change->jobs; job != NULL; job = next) {
        next = job->next;
        if (job->replaced != 0) {
            end_in_memory(journal, job->replaced);
            journal->replaced++;
        }
        const struct htw__job_row row = row_of(job);
        const struct htw__whereabouts where = htw__database_where_put(&row);
        if (htw__reader_covers(journal, job->position, &where, false)) {
            htw__jobs_add(&journal->jobs, job);
        } else {
            htw__jobs_unreserve(&journal->jobs, 1);
            htw__job_destroy(&journal->allocator, job);
        }
    }
    journal->put += change->job_count;
    change->jobs = NULL;
}

static void finish(struct htw_journal *journal, struct htw__change *change, int error) {
    if (error != 0 && change->result == 0)
        change->result = error;
    journal->queued--;
    journal->queued_jobs -= change->job_count;
    journal->queued_bytes -= change->bytes;
    if (change->result == 0) {
        for (size_t i = 0; i < change->done_count; i++)
            end_in_memory(journal, change->done[i]);
        *(change->is_cancel ? &journal->cancelled : &journal->done) += change->done_count;
        keep_jobs(journal, change);
        if (!is_empty(change))
            htw__histogram_record(&journal->durable_ns,
                                  (uint64_t)(htw__clock_monotonic_ns() - change->queued_ns));
        if (change->mark != NULL) {
            memcpy(journal->mark, change->mark, change->mark_size);
            journal->mark_size = change->mark_size;
        }
        return;
    }
    htw__jobs_unreserve(&journal->jobs, change->job_count);
    if (change->is_cancel)
        htw__reader_unhold(journal, change->done[0]);
    if (!is_of_one_change(change->result) && change->result != -EALREADY)
        journal->failed++;
    /* Such a result is an answer, not a failure. */
    if (!change->is_waited_for && change->durable == NULL && change->result != -ENOENT &&
        change->result != -EALREADY && journal->unreported == 0) {
        journal->unreported = htw__change_report(journal, change);
        snprintf(journal->unreported_sentence, sizeof(journal->unreported_sentence), "%s",
                 htw_journal_error());
    }
}

/* What remains to be done of a batch when the lock is free: in their order. */
struct rest {
    struct htw__change *callers;
    struct htw__change *notices; /* changes for which no thread waits */
    struct htw__change *syncs;   /* callers that also wait for the notices */
};

static void append(struct htw__change ***last, struct htw__change *change) {
    **last = change;
    *last = &change->next;
}

/* They return, and their changes are gone. */
static void wake(struct htw__change *callers) {
    struct htw__change *next;
    for (struct htw__change *change = callers; change != NULL; change = next) {
        next = change->next;
        sem_post(change->finished);
    }
}

static struct rest finish_all(struct htw_journal *journal, struct htw__change *batch, int error) {
    struct rest rest = { NULL, NULL, NULL };
    struct htw__change **last_caller = &rest.callers, **last_notice = &rest.notices,
                       **last_sync = &rest.syncs, *next;
    journal->last_callers = 0;
    for (struct htw__change *change = batch; change != NULL; change = next) {
        next = change->next;
        finish(journal, change, error);
        if (!change->is_waited_for) {
            append(&last_notice, change);
        } else if (is_empty(change)) {
            append(&last_sync, change);
        } else {
            append(&last_caller, change);
            journal->last_callers++;
        }
    }
    *last_caller = *last_notice = *last_sync = NULL;
    return rest;
}

/* In the thread that writes. */
static void give_notice(struct htw_journal *journal, struct htw__change *change) {
    struct htw__journal_frame frame = { .journal = journal, .is_notice = true };
    if (change->result != 0) {
        htw__mutex_lock(&journal->mutex);
        htw__change_report(journal, change);
        htw__mutex_unlock(&journal->mutex);
    }
    htw__journal_frame_push(&frame);
    HTW__CALL_USER("a notice", journal, change->durable,
                   change->durable(change->arg, change->result));
    htw__journal_frame_pop(&frame);
}

/*
 * With several callers the writer is better: while it commits, the others come together for the next
 * batch. A caller that commits by itself as soon as it can commits alone.
 */
bool htw__commit_is_idle(const struct htw_journal *journal) {
    return journal->first == NULL && journal->last_callers <= 1 && !journal->is_in_use &&
           !journal->writer_waits && !htw__log_is_long(&journal->database.log) &&
           !htw__reader_has_work(journal);
}

void htw__commit_queue(struct htw_journal *journal) {
    journal->is_in_use = true;
    struct htw__change *batch = take_queue(journal);
    uint64_t next_id = journal->ids.next_block;
    bool has_failed = journal->has_failed, lacks_ids = journal->lacks_ids, commits = false;
    htw__mutex_unlock(&journal->mutex);
    int64_t begin_ns = htw__clock_monotonic_ns();
    int error = 0;
    if (has_failed)
        error = htw__journal_fail_as(-EIO, journal->failure);
    else if (lacks_ids || !htw__database_has_reserved(&journal->database, next_id))
        error = htw__database_settle(&journal->database, next_id);
    if (error == 0)
        error = write_batch(journal, batch, next_id, &commits);
    if (commits)
        htw__histogram_record(&journal->commit_ns,
                              (uint64_t)(htw__clock_monotonic_ns() - begin_ns));
    htw__mutex_lock(&journal->mutex);
    if (journal->database.is_distrusted && !has_failed)
        htw__journal_stop(journal);
    if (error != 0) {
        if (journal->has_failed)
            error = htw__journal_fail_as(-EIO, journal->failure);
        snprintf(journal->sentence, sizeof(journal->sentence), "%s", htw_journal_error());
    }
    journal->commits += commits;
    journal->jobs_in_file = journal->database.jobs;
    journal->lacks_ids = !htw__database_has_reserved(&journal->database, next_id);
    struct rest rest = finish_all(journal, batch, error);
    struct htw__change *next;
    htw__reader_evict(journal);
    htw__slots_arm(journal);
    htw__mutex_unlock(&journal->mutex);
    wake(rest.callers);
    for (struct htw__change *change = rest.notices; change != NULL; change = next) {
        next = change->next;
        if (change->durable != NULL)
            give_notice(journal, change);
        htw__change_destroy(journal, change);
    }
    wake(rest.syncs);
    htw__mutex_lock(&journal->mutex);
    journal->is_in_use = false;
    if (journal->writer_waits || htw__log_is_long(&journal->database.log) ||
        journal->database.lacks_space)
        pthread_cond_signal(&journal->work);
}

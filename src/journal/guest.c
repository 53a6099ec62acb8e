/* SPDX-License-Identifier: MIT */
/* guest.c - the inbox of a guest: putting into it, and taking in what is there. */
#include "load.h"
#include "reader.h"
#include "step.h"

#include <errno.h>

/* ---- putting: in a transaction of the caller */

/* To prepare it is most of the cost, so it is as short as it can be. */
#define INTO_INBOX \
    "INSERT OR REPLACE INTO main.htw_inbox (deadline, key, payload, queue, priority, lease) "
#define PUT INTO_INBOX "VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
#define PUT_IF_ABSENT                                                            \
    INTO_INBOX "SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE NOT EXISTS (SELECT 1 FROM "  \
               "main.htw_job_key WHERE key = ?2) AND NOT EXISTS (SELECT 1 FROM " \
               "main.htw_inbox WHERE key = ?2)"

static int fail_put(struct sqlite3 *connection, int result) {
    int error = htw__journal_errno(connection, result);
    return htw__journal_fail(error == -EBADMSG ? -EINVAL : error, "%s",
                             htw__journal_why(connection, result, error));
}

static void bind_job(struct sqlite3_stmt *statement, const struct htw_job *job) {
    sqlite3_bind_int64(statement, 1, job->deadline_ns);
    if (job->key != NULL)
        htw__statement_bind_blob(statement, 2, job->key, job->key_size);
    htw__statement_bind_blob(statement, 3, job->payload, job->payload_size);
    sqlite3_bind_text(statement, 4, job->queue, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 5, job->priority);
    sqlite3_bind_int64(statement, 6, job->lease_ns);
}

int htw_journal_put_in(struct sqlite3 *connection, struct htw_job *job) {
    struct sqlite3_stmt *statement;
    if (connection == NULL || job == NULL)
        return htw__journal_fail_as(-EINVAL, "an argument of htw_journal_put_in() is NULL");
    int error = htw__change_validate_job(job);
    if (error != 0)
        return error;
    errno = 0; /* htw__journal_errno() */
    bool is_if_absent = job->key != NULL && (job->flags & HTW_JOB_IF_ABSENT) != 0;
    int result =
        sqlite3_prepare_v2(connection, is_if_absent ? PUT_IF_ABSENT : PUT, -1, &statement, NULL);
    if (result != SQLITE_OK)
        return fail_put(connection, result);
    bind_job(statement, job);
    (void)sqlite3_step(statement);
    result = sqlite3_finalize(statement);
    if (result != SQLITE_OK)
        return fail_put(connection, result);
    if (sqlite3_changes(connection) == 0)
        return htw__journal_fail_as(-EEXIST, "another job has the key");
    job->id = (uint64_t)sqlite3_last_insert_rowid(connection);
    return 0;
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

/* The queue, which stays as long as `users` counts this. */
static int enter_queue(struct htw_journal *journal, const char *name, struct htw__job_row *row,
                       struct htw__queue **ret_queue) {
    htw__mutex_lock(&journal->mutex);
    int error = htw__queues_get(&journal->queues, name, ret_queue);
    if (error == 0) {
        (*ret_queue)->users++;
        row->queue = (uint32_t)(*ret_queue)->number;
        if (!htw__journal_is_plain(journal, name != NULL, row->priority, row->lease_ns))
            row->put_us = htw__journal_put_time(journal, row->deadline_ns);
    }
    htw__mutex_unlock(&journal->mutex);
    return error;
}

static int take_row(struct htw_journal *journal, struct htw__step *step,
                    const struct htw__job_row *row, struct htw__queue *queue) {
    step->to = htw__database_where_put(row);
    int error = htw__database_insert_moved(&journal->database, step->id, row, &step->to);
    if (error == 0 && row->key != NULL)
        error = htw__step_take_key(journal, row, step->id, false, &step->replaced);
    if (error == 0)
        error = htw__job_load(journal, step->id, row, &step->to, &step->job);
    if (error == 0)
        htw__queue_count(&journal->changed, queue, htw__filed_state(&step->to), 1);
    htw__mutex_lock(&journal->mutex);
    queue->users--;
    if (error != 0)
        htw__queues_drop(&journal->queues, queue);
    htw__mutex_unlock(&journal->mutex);
    return error;
}

/* What is gone meanwhile, or for which there is no queue now, is left to the next look. */
static int take_in(struct htw_journal *journal, struct htw__step *step) {
    struct htw__job_row row;
    struct htw__queue *queue;
    const char *name = NULL;
    int error = htw__inbox_fetch(&journal->database, step->id, &row, &name);
    if (error == 0) {
        error = enter_queue(journal, name, &row, &queue);
        if (error == 0)
            error = take_row(journal, step, &row, queue);
        htw__inbox_fetch_end(&journal->database);
    }
    if (error == -ENOENT || error == -EAGAIN || error == -EMSGSIZE) {
        step->kind = HTW__STEP_NONE;
        return 0;
    }
    return error == 0 ? htw__inbox_remove(&journal->database, step->id) : error;
}

static void end_taking(struct htw_journal *journal, int result) {
    if (result != 0)
        journal->guest.after = 0;
    if (journal->guest.after != 0)
        journal->guest.look_ns = 0;
}

static const struct htw__work taking_in = { HTW__OWN_TAKE_IN, take_in, end_taking };

/* ---- looking */

int64_t htw__guest_due_ns(const struct htw_journal *journal) {
    return !journal->database.is_guest || journal->under_way[HTW__OWN_TAKE_IN] > 0 ||
                   journal->has_failed || journal->is_stopping
               ? HTW_NEVER_NS
               : journal->guest.look_ns;
}

/* The change that takes them in. Under the lock. */
static int submit(struct htw_journal *journal, const uint64_t *ids, size_t count) {
    struct htw__step steps[HTW__INBOX_SOME];
    for (size_t i = 0; i < count; i++)
        steps[i] = (struct htw__step) { .id = ids[i], .kind = HTW__STEP_TAKE_IN };
    return htw__submit_steps(journal, &taking_in, steps, count);
}

void htw__guest_look(struct htw_journal *journal) {
    struct htw__guest *guest = &journal->guest;
    uint64_t ids[HTW__INBOX_SOME], after = guest->after;
    if (__builtin_add_overflow(htw__clock_monotonic_ns(), guest->interval_ns, &guest->look_ns))
        guest->look_ns = HTW_NEVER_NS;
    journal->is_in_use = true;
    htw__mutex_unlock(&journal->mutex);
    int64_t count = htw__inbox_list(&journal->database, &after, ids);
    htw__mutex_lock(&journal->mutex);
    htw__journal_release_database(journal);
    if (count < 0 && journal->database.is_distrusted)
        htw__journal_stop(journal);
    guest->after = count < 0 ? 0 : after;
    if (count <= 0 || submit(journal, ids, (size_t)count) != 0)
        return;
    journal->is_urgent = true;
}

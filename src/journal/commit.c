/* SPDX-License-Identifier: MIT */
/* commit.c - a batch: all changes of the queue, in one transaction. */
#include "writer.h"

#include "../base/clock.h"
#include "../base/probe.h"
#include "../base/user_code.h"
#include "load.h"
#include "reader.h"
#include "select.h"
#include "slot.h"
#include "step.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- before: under the lock */

/* Whether another change of the batch has a job of this one, whose steps then depend on that: of a kick any that has steps,
   since it is not yet known which jobs it kicks. */
static bool must_wait(const struct htw_journal *journal, const struct htw__change *change,
                      bool has_steps) {
    if (has_steps && change->special.kick_count > 0)
        return true;
    for (size_t i = 0; i < change->step_count; i++)
        if (htw__step_waits(journal, &change->steps[i]))
            return true;
    return false;
}

static void hold(struct htw_journal *journal, struct htw__change *change) {
    for (size_t i = 0; i < change->step_count && change->result == 0; i++)
        change->result = htw__step_hold(journal, &change->steps[i]);
    change->is_refused = change->result != 0;
}

/* Up to a change that must wait. */
static struct htw__change *take_queue(struct htw_journal *journal) {
    struct htw__change *batch = journal->first, **last = &batch;
    uint64_t taken = 0;
    bool has_steps = false;
    for (; *last != NULL && !must_wait(journal, *last, has_steps); last = &(*last)->next, taken++) {
        hold(journal, *last);
        has_steps = has_steps || (*last)->step_count > 0;
    }
    journal->first = *last;
    *last = NULL;
    if (journal->first == NULL)
        journal->last = &journal->first;
    journal->waiting_changes -= taken;
    journal->is_urgent = journal->first != NULL;
    return batch;
}

/* ---- the transaction: without the lock */

/* An answer, not a failure. */
static bool is_answer(int error) {
    return error == -ENOENT || error == -EALREADY || error == -ESTALE || error == -EEXIST;
}

/* Concerns one change; the others of the batch can be made. */
static bool is_of_one_change(int error) {
    return is_answer(error) || error == -EMSGSIZE;
}

static int put(struct htw_journal *journal, struct htw__job *job) {
    const struct htw__job_row row = htw__job_row_of(job);
    int error = 0;
    if (row.key != NULL)
        error = htw__inbox_take_key(&journal->database, row.key, row.key_size, job->is_if_absent);
    if (error == 0 && row.key != NULL)
        error = htw__step_free_key(journal, &row, job->is_if_absent, &job->replaced);
    if (error == 0)
        error = htw__database_insert(&journal->database, job->position.id, &row);
    if (error == 0) {
        const struct htw__whereabouts where = htw__database_where_put(&row);
        htw__queue_count(&journal->changed, job->queue, htw__filed_state(&where), 1);
    }
    return error;
}

static int write_parts(struct htw_journal *journal, struct htw__change *change) {
    bool chooses = change->special.kick_count > 0 && change->queue != NULL && //
                   change->step_count == 0;
    int error = chooses                           ? htw__kick(journal, change)
                : change->own == HTW__OWN_TAKE_IN ? htw__guest_take_in(journal, change)
                                                  : 0;
    for (size_t i = 0; i < change->step_count && error == 0 && !chooses; i++)
        error = htw__step_write(journal, &change->steps[i]);
    for (struct htw__job *job = change->jobs; job != NULL && error == 0; job = job->next)
        error = put(journal, job);
    if (change->special.policy != NULL && error == 0)
        htw__queue_set_policy(&journal->changed, change->queue, change->special.policy);
    return error;
}

static size_t parts_of(const struct htw__change *change) {
    return change->job_count + change->step_count + change->special.kick_count +
           (change->special.policy != NULL) + (change->own == HTW__OWN_TAKE_IN);
}

/* Whether all that it has are steps that leave the file as it is. */
static bool is_in_memory_only(const struct htw__change *change) {
    for (size_t i = 0; i < change->step_count; i++)
        if (!change->steps[i].is_in_memory_only)
            return false;
    return change->step_count > 0 && change->step_count == parts_of(change);
}

/* Whether it puts nothing, and may use the room that is kept for what ends, buries, releases or leases jobs. */
static bool frees(const struct htw__change *batch) {
    while (batch != NULL && batch->job_count == 0 && batch->special.policy == NULL)
        batch = batch->next;
    return batch == NULL;
}

/* 0, also if the change is not possible and nothing of it was written; otherwise the whole transaction has failed. */
static int write_change(struct htw_journal *journal, struct htw__change *change) {
    int before = htw__database_changes(&journal->database);
    int error = write_parts(journal, change);
    if (is_of_one_change(error))
        change->result = error;
    return change->result != 0 && htw__database_changes(&journal->database) == before ? 0 : error;
}

/* 0: what has a `result` of 0 is durable. Otherwise nothing has changed, or the database is distrusted. `ret_is_half_made`:
   a change turned out not to be possible when a part of it was written. */
static int write_batch(struct htw_journal *journal, struct htw__change *batch, uint64_t next_id,
                       bool *ret_is_half_made) {
    struct htw__database *database = &journal->database;
    bool has_begun = false;
    int error = 0;
    for (struct htw__change *change = batch; change != NULL && error == 0; change = change->next) {
        if (change->result != 0 || parts_of(change) == 0 || is_in_memory_only(change))
            continue;
        if (!has_begun)
            error = htw__database_begin(database);
        has_begun = true;
        if (error == 0)
            error = write_change(journal, change);
        if (error != 0 && change->result != 0)
            *ret_is_half_made = true;
    }
    if (!has_begun)
        return 0;
    if (error == 0)
        error = htw__queues_write(&journal->changed, database);
    if (error != 0) {
        htw__database_rollback(database);
        return error;
    }
    error = htw__database_commit(database, next_id, frees(batch));
    if (error == 0)
        return 0;
    char sentence[HTW__JOURNAL_SENTENCE];
    snprintf(sentence, sizeof(sentence), "%s", htw_journal_error());
    htw__database_rollback(database);
    if (error == -EBUSY) /* readers have kept it from the file: of a guest without a log */
        return htw__journal_fail_as(error, sentence);
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

/* What a transaction that was undone has left in the changes. */
static void forget_try(struct htw_journal *journal, struct htw__change *batch) {
    htw__mutex_lock(&journal->mutex);
    htw__queues_end_transaction(&journal->queues, &journal->changed, false);
    for (struct htw__change *change = batch; change != NULL; change = change->next) {
        if (!change->is_refused)
            change->result = 0;
        for (size_t i = 0; i < change->step_count; i++)
            htw__step_forget(journal, &change->steps[i]);
        if (change->own != HTW__OWN_TAKE_IN)
            continue;
        htw__change_discard_jobs(journal, change);
        journal->queued_jobs -= change->job_count;
        change->job_count = 0;
        journal->guest.after = 0;
    }
    htw__mutex_unlock(&journal->mutex);
}

/* Where there is no space, once more when the log was copied and begins again. */
static int write_twice(struct htw_journal *journal, struct htw__change *batch, uint64_t next_id,
                       bool *ret_is_half_made) {
    int error = write_batch(journal, batch, next_id, ret_is_half_made);
    if (error != -ENOSPC || !htw__room_regain(&journal->database))
        return error;
    forget_try(journal, batch);
    return write_batch(journal, batch, next_id, ret_is_half_made);
}

/* ---- after: under the lock */

static void keep_jobs(struct htw_journal *journal, struct htw__change *change) {
    struct htw__job *next;
    for (struct htw__job *job = change->jobs; job != NULL; job = next) {
        next = job->next;
        htw__step_replace(journal, job->replaced);
        const struct htw__job_row row = htw__job_row_of(job);
        const struct htw__whereabouts where = htw__database_where_put(&row);
        htw__job_place(journal, job, &where);
    }
    journal->stats.put += change->job_count;
    change->jobs = NULL;
}

/* So that a change has released what it had in memory before its queue is dropped. */
static void release_queue(struct htw_journal *journal, struct htw__change *change) {
    if (change->queue == NULL)
        return;
    change->queue->users--;
    htw__queues_drop(&journal->queues, change->queue);
    change->queue = NULL;
}

static void count_steps(struct htw_journal *journal, struct htw__change *change) {
    for (size_t i = 0; i < change->step_count; i++) {
        journal->stats.done += change->steps[i].kind == HTW_JOB_END;
        journal->stats.cancelled += change->steps[i].kind == HTW_JOB_CANCEL;
        change->kicked += change->special.kick_count > 0 && change->steps[i].kind == HTW_JOB_KICK;
    }
}

static void finish_steps(struct htw_journal *journal, struct htw__change *change) {
    for (size_t i = 0; i < change->step_count; i++)
        htw__step_finish(journal, &change->steps[i], change->result);
    journal->under_way[change->own]--;
    if (change->own == HTW__OWN_STAGE && change->result != 0) /* a full disk: not at once again */
        journal->stage_ns = htw__clock_monotonic_ns() + HTW_SECOND;
    if (change->own == HTW__OWN_TAKE_IN)
        htw__guest_end_taking(journal, change->result);
    if (change->own != HTW__OWN_NONE)
        pthread_cond_broadcast(&journal->read);
}

/* A change of one part that found nothing to do: the job had ended or was delivered, or the key is taken. */
static bool is_idle(const struct htw__change *change) {
    bool ends = change->step_count > 0 && htw__step_ends(&change->steps[0]);
    bool is_if_absent = change->jobs != NULL && change->jobs->is_if_absent;
    return parts_of(change) == 1 && is_answer(change->result) && (ends || is_if_absent);
}

/* For htw_journal_sync(), as no other call is told. */
static void keep_error(struct htw_journal *journal, const struct htw__change *change) {
    journal->unreported = htw__change_report(journal, change);
    snprintf(journal->unreported_sentence, sizeof(journal->unreported_sentence), "%s",
             htw_journal_error());
}

static void finish(struct htw_journal *journal, struct htw__change *change, int64_t now,
                   int error) {
    if (error != 0 && !change->is_refused)
        change->result = error;
    journal->queued--;
    journal->queued_jobs -= change->job_count;
    journal->queued_bytes -= change->bytes;
    finish_steps(journal, change);
    release_queue(journal, change);
    if (change->result == 0) {
        count_steps(journal, change);
        keep_jobs(journal, change);
        if (parts_of(change) > 0)
            htw__histogram_record(&journal->durable_ns, (uint64_t)(now - change->queued_ns));
        return;
    }
    if (change->finished == NULL && change->own == HTW__OWN_NONE && change->durable == NULL &&
        journal->unreported == 0 && !is_idle(change))
        keep_error(journal, change);
    htw__change_discard_jobs(journal, change);
    if (!is_of_one_change(change->result) && change->result != -EINVAL && parts_of(change) > 0)
        journal->stats.failed++;
}

/* In the thread that writes. */
static void give_notice(struct htw_journal *journal, struct htw__change *change) {
    if (change->durable == NULL)
        return;
    struct htw__journal_frame frame = { .journal = journal, .is_notice = true };
    if (change->result != 0) {
        htw__mutex_lock(&journal->mutex);
        htw__change_report(journal, change);
        htw__mutex_unlock(&journal->mutex);
    }
    htw__journal_frame_push(&frame);
    HTW__CALL_USER(
        "a notice", journal, change->durable,
        change->durable(change->arg, change->result == 0 ? (int)change->kicked : change->result));
    htw__journal_frame_pop(&frame);
}

/* What became of the changes, and their callers are told. `commits`: there was a transaction. */
static void settle_batch(struct htw_journal *journal, struct htw__change *batch, int64_t begin_ns,
                         bool commits, int error) {
    struct htw__change *next;
    int64_t now = htw__clock_monotonic_ns(), took_ns = now - begin_ns;
    if (commits)
        htw__histogram_record(&journal->commit_ns, (uint64_t)took_ns);
    HTW__PROBE4(journal_commit, journal, commits, begin_ns, error);
    htw__mutex_lock(&journal->mutex);
    /* A second is forgotten, below a millisecond, after 52 short ones. */
    int64_t calm_ns = journal->lately_ns - journal->lately_ns / 8;
    if (commits || error != 0)
        journal->lately_ns = took_ns > calm_ns ? took_ns : calm_ns;
    const char *news = NULL; /* for the function of htw_set_log() */
    int unreported = journal->unreported;
    if (journal->database.is_distrusted)
        htw__journal_stop(journal);
    journal->stats.commits += commits;
    if (error != 0) {
        if (journal->has_failed)
            error = htw__journal_fail_as(-EIO, journal->failure);
        snprintf(journal->sentence, sizeof(journal->sentence), "%s", htw_journal_error());
        journal->sentence_error = error;
    }
    htw__journal_follow(journal); /* and so does the rest of memory, before the lock is released */
    journal->stats.put += journal->database.from_inbox;
    journal->database.from_inbox = 0;
    journal->last_callers = 0;
    for (struct htw__change *change = batch; change != NULL; change = change->next) {
        finish(journal, change, now, error);
        journal->last_callers += change->finished != NULL;
    }
    htw__queues_end_transaction(&journal->queues, &journal->changed, error == 0);
    journal->stats.jobs = journal->database.jobs;
    htw__reader_evict(journal);
    htw__slots_arm(journal);
    if (unreported == 0 && journal->unreported != 0)
        news = journal->unreported_sentence;
    if (error != 0 && !is_of_one_change(error))
        news = journal->has_failed ? NULL : journal->sentence;
    htw__mutex_unlock(&journal->mutex);
    for (struct htw__change *change = batch; change != NULL; change = next) {
        next = change->next;
        if (change->finished != NULL) {
            sem_post(change->finished); /* it returns, and the change is gone */
            continue;
        }
        give_notice(journal, change);
        htw__change_destroy(journal, change);
    }
    if (news != NULL)
        htw__journal_report(journal, HTW_LOG_WARNING, news);
}

/* The list ends in its middle. Returns the rest. */
static struct htw__change *split(struct htw__change *batch) {
    struct htw__change *last = batch;
    for (const struct htw__change *end = batch->next->next; end != NULL && end->next != NULL;
         end = end->next->next)
        last = last->next;
    struct htw__change *rest = last->next;
    last->next = NULL;
    return rest;
}

/*
 * In one transaction. Where there is no space, or a change turned out not to be possible when a part of it was written, each
 * half in one of its own, so that in the end that change fails alone. Without the lock.
 */
static void commit_batch(struct htw_journal *journal, struct htw__change *batch, uint64_t next_id,
                         bool has_failed) {
    struct htw__change *rest;
    for (; batch != NULL; batch = rest) {
        const struct htw__database *database = &journal->database;
        bool is_half_made = false;
        int64_t begin_ns = htw__clock_monotonic_ns();
        uint64_t before = database->generation;
        int error = has_failed ? htw__journal_fail_as(-EIO, journal->failure)
                               : write_twice(journal, batch, next_id, &is_half_made);
        bool can_split = is_half_made || (error == -ENOSPC && !database->is_guest);
        rest = NULL;
        if (batch->next != NULL && can_split && !database->is_distrusted) {
            forget_try(journal, batch);
            rest = split(batch);
            commit_batch(journal, batch, next_id, false);
            has_failed = database->is_distrusted;
            continue;
        }
        settle_batch(journal, batch, begin_ns, error == 0 && database->generation != before, error);
    }
}

void htw__commit_queue(struct htw_journal *journal) {
    journal->is_in_use = true;
    struct htw__change *batch = take_queue(journal);
    uint64_t next_id = journal->ids.next_block;
    /* What is taken in may make the first queue. */
    journal->counts_queues = journal->database.is_guest || htw__queues_are_used(&journal->queues);
    bool has_failed = journal->has_failed;
    htw__mutex_unlock(&journal->mutex);
    commit_batch(journal, batch, next_id, has_failed);
    htw__mutex_lock(&journal->mutex);
    htw__journal_release_database(journal);
}

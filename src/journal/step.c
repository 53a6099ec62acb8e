/* SPDX-License-Identifier: MIT */
/* step.c - what a change does to a job that exists. */
#include "step.h"

#include "lease.h"
#include "load.h"
#include "reader.h"

#include <errno.h>
#include <string.h>

/* ---- in memory */

void htw__job_place(struct htw_journal *journal, struct htw__job *job,
                    const struct htw__whereabouts *where) {
    struct htw__queue *queue = job->queue;
    enum htw__job_state state = htw__state_in_memory(where);
    bool belongs = journal->slot_count > 0 && state == HTW__JOB_LEASED;
    if (state == HTW__JOB_WAITING)
        belongs = htw__reader_covers(journal, job->position);
    if (state == HTW__JOB_READY) {
        job->filed = HTW_JOB_READY;
        belongs = journal->slot_count > 0 && htw__queue_covers(queue, htw__turn_of(job));
    }
    if (belongs)
        htw__jobs_add(&journal->jobs, job, state);
    else
        htw__jobs_discard(&journal->jobs, job);
    if (state == HTW__JOB_READY)
        htw__leases_serve(journal, queue);
}

/* ---- before */

bool htw__step_waits(const struct htw_journal *journal, const struct htw__step *step) {
    const struct htw__job *job = htw__jobs_find(&journal->jobs, step->id);
    return step->key == NULL && job != NULL && job->is_held && !job->is_granted;
}

/* Whether the step can be made from this state. */
static int check(const struct htw__step *step) {
    bool is_leased = step->from == HTW_JOB_LEASED, is_wrong = false;
    if (step->attempt != 0 && (!is_leased || step->counters.attempts != step->attempt))
        return -ESTALE;
    switch (step->kind) {
    case HTW_JOB_CANCEL:
    case HTW_JOB_MOVE:
        is_wrong = is_leased;
        break;
    case HTW_JOB_RELEASE:
    case HTW_JOB_EXTEND:
        is_wrong = !is_leased;
        break;
    case HTW_JOB_KICK:
        is_wrong = is_leased || step->from == HTW_JOB_READY;
        break;
    case HTW__STEP_LEASE:
        is_wrong = step->request->id != 0 ? is_leased : step->from != HTW_JOB_READY;
        break;
    case HTW__STEP_STAGE:
        is_wrong = step->from != HTW_JOB_READY;
        break;
    default:
        break;
    }
    return is_wrong ? -EALREADY : 0;
}

int htw__step_hold(struct htw_journal *journal, struct htw__step *step) {
    struct htw__job *job = htw__jobs_find(&journal->jobs, step->id);
    if (job == NULL || step->key != NULL)
        return 0;
    if (job->is_held && !job->is_granted) /* by another step of the change */
        return -EINVAL;
    step->from = htw__state_of_job(journal, job);
    step->counters = job->counters;
    step->queue = job->queue;
    step->filed = job->filed;
    /* The change of its end is under way. */
    if (job->state == HTW__JOB_LEASED && job->lease_end_ns == INT64_MIN &&
        step->kind != HTW__STEP_EXPIRE)
        step->from = HTW_JOB_READY;
    int error = check(step);
    if (error != 0 && step->is_optional) {
        step->kind = HTW__STEP_NONE;
        step->is_in_memory_only = true;
        return 0;
    }
    if (error != 0)
        return error;
    bool is_delivered = job->state == HTW__JOB_DELIVERING || job->state == HTW__JOB_IN_FLIGHT;
    step->is_in_memory_only = (step->kind == HTW_JOB_EXTEND && !job->is_durable) ||
                              (step->kind == HTW__STEP_LEASE && !step->request->is_durable &&
                               job->state == HTW__JOB_READY);
    if (step->kind == HTW_JOB_EXTEND && is_delivered)
        return -EALREADY; /* `deliver` has it, without a lease */
    step->is_held = true;
    if (!job->is_granted)
        htw__jobs_hold(&journal->jobs, job);
    job->is_granted = false;
    job->holder = step;
    return 0;
}

/* ---- in the transaction */

static void make_ready(const struct htw_journal *journal, const struct htw__job_row *row,
                       struct htw__whereabouts *to) {
    bool is_delivered = row->queue == HTW__QUEUE_DEFAULT && htw__journal_may_deliver(journal);
    to->place = is_delivered ? htw__place_delayed(to->deadline_ns, row->queue)
                             : htw__place_ready(row->queue, to->priority);
}

static void make_due(const struct htw_journal *journal, const struct htw__job_row *row,
                     struct htw__whereabouts *to, int64_t deadline_ns) {
    int64_t now = htw__journal_now(journal);
    to->deadline_ns = deadline_ns;
    if (deadline_ns > now) {
        to->place = htw__place_delayed(deadline_ns, row->queue);
        return;
    }
    to->deadline_ns = now;
    make_ready(journal, row, to);
}

static void bury(struct htw_journal *journal, const struct htw__job_row *row,
                 struct htw__whereabouts *to) {
    to->counters.buries++;
    to->place = htw__place_buried(row->queue);
    htw__mutex_lock(&journal->mutex);
    to->rank = htw__journal_next_put(journal, htw__journal_now(journal));
    htw__mutex_unlock(&journal->mutex);
}

/* An attempt has failed. */
static void fail(struct htw_journal *journal, const struct htw__step *step,
                 const struct htw__job_row *row, struct htw__whereabouts *to) {
    htw__mutex_lock(&journal->mutex);
    const struct htw__queue *queue = htw__queues_find_number(&journal->queues, row->queue);
    uint32_t attempts_max = queue == NULL ? 0 : queue->policy.attempts_max;
    int64_t delay_ns =
        queue == NULL ? 0 : htw__policy_backoff(&queue->policy, step->id, to->counters.attempts);
    htw__mutex_unlock(&journal->mutex);
    if (attempts_max > 0 && to->counters.attempts >= attempts_max)
        bury(journal, row, to);
    else
        make_due(journal, row, to, htw__journal_now(journal) + delay_ns);
}

/* Where the job is to be. */
static void aim(struct htw_journal *journal, struct htw__step *step, const struct htw__job_row *row,
                struct htw__whereabouts *to) {
    to->counters = step->counters;
    to->is_leased = false;
    to->rank = row->put_us;
    if (step->has_priority)
        to->priority = step->priority;
    switch (step->kind) {
    case HTW_JOB_RELEASE:
        to->counters.releases++;
        if (step->deadline_ns == INT64_MIN)
            fail(journal, step, row, to);
        else
            make_due(journal, row, to, step->deadline_ns);
        break;
    case HTW__STEP_EXPIRE:
        to->counters.timeouts++;
        fail(journal, step, row, to);
        break;
    case HTW_JOB_BURY:
        bury(journal, row, to);
        break;
    case HTW_JOB_KICK:
        to->counters.kicks++;
        make_due(journal, row, to, INT64_MIN);
        break;
    case HTW_JOB_MOVE:
        make_due(journal, row, to, step->deadline_ns);
        break;
    case HTW__STEP_STAGE:
        make_ready(journal, row, to);
        break;
    default: /* LEASE, EXTEND */
        to->counters.attempts += step->kind == HTW__STEP_LEASE;
        if (step->kind == HTW__STEP_LEASE && !step->request->is_durable) {
            make_due(journal, row, to, INT64_MIN);
            break;
        }
        if (step->kind == HTW__STEP_LEASE)
            step->deadline_ns = htw__lease_end(journal, row->lease_ns, step->request->lease_ns,
                                               htw__journal_now(journal));
        to->is_leased = true;
        to->deadline_ns = step->deadline_ns == INT64_MIN ? INT64_MIN + 1 : step->deadline_ns;
        to->place = htw__place_delayed(to->deadline_ns, row->queue);
        break;
    }
}

static void count(struct htw_journal *journal, uint32_t queue, const struct htw__whereabouts *where,
                  int by) {
    htw__count_job(journal, queue, htw__filed_state(where), by);
}

static int count_end(struct htw_journal *journal, uint64_t id) {
    struct htw__job_row row;
    struct htw__whereabouts where;
    int error = htw__database_fetch(&journal->database, id, &row, &where);
    if (error != 0)
        return error;
    htw__database_fetch_end(&journal->database);
    count(journal, row.queue, &where, -1);
    return 0;
}

int htw__step_free_key(struct htw_journal *journal, const struct htw__job_row *row,
                       bool is_if_absent, uint64_t *ret_replaced) {
    struct htw__database *database = &journal->database;
    int error = htw__database_find_key(database, row->key, row->key_size, ret_replaced);
    if (error != 0 || *ret_replaced == 0)
        return error;
    error = is_if_absent ? -EEXIST : journal->counts_queues ? count_end(journal, *ret_replaced) : 0;
    if (error == 0)
        error = htw__database_remove(database, *ret_replaced);
    return error == -ENOENT
               ? htw__database_distrust(database, "the keys of the journal are damaged")
               : error;
}

/* The job is held by another step of the batch. If that is written, the file says how the job is; if not, and where it stays
   as it is in the file, memory does. */
static int check_held(const struct htw_journal *journal, struct htw__step *step) {
    const struct htw__job *job = htw__jobs_find(&journal->jobs, step->id);
    if (job->holder->is_written)
        return 0;
    step->from =
        job->holder->kind == HTW__STEP_LEASE ? HTW_JOB_LEASED : htw__state_of_job(journal, job);
    return check(step);
}

/* The id of a key, and whether the job is in memory in a state that forbids it. */
static int find_by_key(struct htw_journal *journal, struct htw__step *step) {
    uint64_t id = 0;
    int error = htw__database_find_key(&journal->database, step->key, step->key_size, &id);
    if (error != 0)
        return error;
    if (id == 0) {
        error = htw__inbox_find_key(&journal->database, step->key, step->key_size, &step->id);
        return error == 0 ? -ENOENT : error;
    }
    step->id = id;
    step->found_key = step->key;
    step->key = NULL;
    htw__mutex_lock(&journal->mutex);
    error =
        htw__step_waits(journal, step) ? check_held(journal, step) : htw__step_hold(journal, step);
    htw__mutex_unlock(&journal->mutex);
    return error;
}

/* Where the job is to be, and as memory then has it. */
static int move_in_memory(struct htw_journal *journal, struct htw__step *step,
                          const struct htw__job_row *row, struct htw__whereabouts *where) {
    aim(journal, step, row, where);
    step->to = *where;
    return htw__state_in_memory(where) == HTW__JOB_QUEUED
               ? 0
               : htw__job_load(journal, step->id, row, where, &step->job);
}

/* Memory knows what the job counts as. */
static int remove_held(struct htw_journal *journal, const struct htw__step *step) {
    int error = htw__database_remove(&journal->database, step->id);
    if (error == 0 && step->queue != NULL)
        htw__queue_count(&journal->changed, step->queue, step->filed, -1);
    return error;
}

static int write_step(struct htw_journal *journal, struct htw__step *step, bool ends) {
    struct htw__job_row row;
    struct htw__whereabouts where;
    int error = step->key == NULL ? 0 : find_by_key(journal, step);
    if (error != 0 || step->is_in_memory_only)
        return error;
    if (step->kind == HTW__STEP_NONE)
        return 0;
    if (ends && step->is_held)
        return remove_held(journal, step);
    if (ends && step->attempt == 0 && !journal->counts_queues)
        return htw__database_remove(&journal->database, step->id);
    error = htw__database_fetch(&journal->database, step->id, &row, &where);
    if (error != 0)
        return error;
    const struct htw__whereabouts before = where;
    uint32_t queue = row.queue;
    if (!step->is_held) {
        step->from = htw__state_in_file(journal, &where);
        step->counters = where.counters;
        error = check(step);
    }
    if (error == 0 && !ends)
        error = move_in_memory(journal, step, &row, &where);
    htw__database_fetch_end(&journal->database);
    if (error != 0)
        return error;
    error = ends ? htw__database_remove(&journal->database, step->id)
                 : htw__database_move(&journal->database, step->id, &where);
    if (error == 0)
        count(journal, queue, &before, -1);
    if (error == 0 && !ends)
        count(journal, queue, &where, 1);
    return error;
}

int htw__step_write(struct htw_journal *journal, struct htw__step *step) {
    bool ends = htw__step_ends(step);
    int error = write_step(journal, step, ends);
    if (step->is_optional && (error == -ENOENT || error == -EALREADY)) {
        step->kind = HTW__STEP_NONE;
        error = 0;
    }
    step->is_written = error == 0 && !step->is_in_memory_only;
    return error == -ENOENT && ends ? htw__inbox_remove(&journal->database, step->id) : error;
}

/* ---- after */

void htw__step_replace(struct htw_journal *journal, uint64_t replaced) {
    struct htw__job *job = replaced == 0 ? NULL : htw__jobs_find(&journal->jobs, replaced);
    if (job != NULL)
        htw__jobs_end(&journal->jobs, job);
    journal->stats.replaced += replaced != 0;
}

static void finish_in_memory(struct htw_journal *journal, struct htw__step *step,
                             struct htw__job *job) {
    if (step->kind == HTW_JOB_EXTEND) {
        struct htw__queue *queue = job->queue;
        bool is_given_back = step->deadline_ns == INT64_MIN;
        job->lease_end_ns = is_given_back ? INT64_MIN + 1 : step->deadline_ns;
        htw__jobs_unhold(&journal->jobs, job);
        if (is_given_back) {
            htw__jobs_become(&journal->jobs, job, HTW__JOB_READY);
            htw__leases_serve(journal, queue);
        }
        return;
    }
    htw__jobs_unhold(&journal->jobs, job);
    htw__lease_start(journal, step->request, job);
}

void htw__step_forget(struct htw_journal *journal, struct htw__step *step) {
    step->is_written = false;
    if (step->found_key != NULL && !step->is_held) { /* it may be that of another job now */
        step->key = step->found_key;
        step->found_key = NULL;
    }
    if (step->job == NULL)
        return;
    struct htw__queue *queue = step->job->queue;
    htw__jobs_discard(&journal->jobs, step->job);
    htw__queues_drop(&journal->queues, queue);
    step->job = NULL;
}

/* The step was not made: the job is as before. */
static void undo(struct htw_journal *journal, struct htw__step *step, struct htw__job *job) {
    htw__step_forget(journal, step);
    if (job == NULL || !step->is_held)
        return;
    if (step->kind == HTW__STEP_EXPIRE) /* again */
        job->lease_end_ns = htw__journal_now(journal) + HTW_SECOND;
    if (job->state == HTW__JOB_WAITING && !htw__reader_covers(journal, job->position)) {
        htw__jobs_end(&journal->jobs,
                      job); /* others were dropped meanwhile; the reader will find it */
        return;
    }
    struct htw__queue *queue = job->state == HTW__JOB_READY ? job->queue : NULL;
    htw__jobs_unhold(&journal->jobs, job);
    if (queue != NULL)
        htw__leases_serve(journal, queue);
}

void htw__step_finish(struct htw_journal *journal, struct htw__step *step, int result) {
    struct htw__job *job = htw__jobs_find(&journal->jobs, step->id);
    bool is_gone = step->is_in_memory_only && job == NULL; /* ended in the same transaction */
    if (result != 0 || is_gone || step->kind == HTW__STEP_NONE) {
        undo(journal, step, job);
        if (step->request != NULL)
            htw__lease_failed(journal, step->request, is_gone ? -ENOENT : result);
        return;
    }
    if (step->is_in_memory_only) {
        finish_in_memory(journal, step, job);
        return;
    }
    if (job != NULL)
        htw__jobs_end(&journal->jobs, job);
    job = step->job;
    step->job = NULL;
    if (job == NULL)
        return;
    if (step->kind != HTW__STEP_LEASE) {
        htw__job_place(journal, job, &step->to);
        return;
    }
    if (!step->request->is_durable)
        job->lease_end_ns = htw__lease_end(journal, job->lease_ns, step->request->lease_ns,
                                           htw__journal_now(journal));
    htw__jobs_add(&journal->jobs, job, HTW__JOB_LEASED);
    htw__lease_granted(journal, step->request, job);
}

/* SPDX-License-Identifier: MIT */
/* change.c - what a caller wants written: jobs that end or change, and jobs that are put. */
#include "change.h"

#include "../base/clock.h"
#include "load.h"

#include <errno.h>
#include <string.h>

static int refuse(int error, const char *sentence) {
    return htw__journal_fail_as(error, sentence);
}

static int no_memory(void) {
    return refuse(-ENOMEM, "no memory for a change of the journal");
}

/* ---- what a caller describes */

static bool is_update_valid(const struct htw_job_update *update) {
    bool has_key = update->key != NULL;
    return update->struct_size == sizeof(*update) && (unsigned)update->step <= HTW_JOB_EXTEND &&
           (!has_key || (update->step == HTW_JOB_CANCEL && update->id == 0)) &&
           (has_key || update->key_size == 0) && update->key_size <= HTW_JOURNAL_JOB_MAX;
}

int htw__change_validate_job(const struct htw_job *job) {
    if (job->struct_size != sizeof(*job) || (job->payload == NULL && job->payload_size > 0) ||
        (job->key == NULL && job->key_size > 0) || (job->flags & ~HTW_JOB_IF_ABSENT) != 0 ||
        job->lease_ns < 0 || !htw__queue_name_is_valid(job->queue))
        return refuse(-EINVAL, "a job is not valid");
    if (job->payload_size > HTW_JOURNAL_JOB_MAX || job->key_size > HTW_JOURNAL_JOB_MAX ||
        job->payload_size + job->key_size > HTW_JOURNAL_JOB_MAX)
        return refuse(-EMSGSIZE, "a job is too large");
    return 0;
}

static int validate(const struct htw_journal_change *wanted) {
    int error = 0;
    if (wanted == NULL || wanted->struct_size != sizeof(*wanted) ||
        (wanted->done == NULL && wanted->done_count > 0) ||
        (wanted->jobs == NULL && wanted->job_count > 0) ||
        (wanted->updates == NULL && wanted->update_count > 0))
        return refuse(-EINVAL, "a change of the journal is not valid");
    for (size_t i = 0; i < wanted->update_count; i++)
        if (!is_update_valid(&wanted->updates[i]))
            return refuse(-EINVAL, "a step of a job is not valid");
    for (size_t i = 0; i < wanted->job_count && error == 0; i++)
        error = htw__change_validate_job(&wanted->jobs[i]);
    return error;
}

static struct htw__step step_of(const struct htw_job_update *update) {
    return (struct htw__step) {
        .id = update->id,
        .key = update->key,
        .key_size = update->key_size,
        .kind = (int)update->step,
        .attempt = update->attempt,
        .deadline_ns = update->deadline_ns,
        .has_priority = update->has_priority,
        .priority = update->priority,
    };
}

static int create_jobs(struct htw_journal *journal, struct htw__change *change,
                       const struct htw_journal_change *wanted) {
    struct htw__job **last = &change->jobs;
    for (size_t i = 0; i < wanted->job_count; i++) {
        const struct htw_job *job = &wanted->jobs[i];
        const struct htw__job_row row = { .deadline_ns = job->deadline_ns,
                                          .key = job->key,
                                          .key_size = job->key_size,
                                          .payload = job->payload,
                                          .payload_size = job->payload_size,
                                          .priority = job->priority,
                                          .lease_ns = job->lease_ns };
        *last = htw__job_create(&journal->allocator, &row);
        if (*last == NULL)
            return no_memory();
        (*last)->is_if_absent = (job->flags & HTW_JOB_IF_ABSENT) != 0;
        change->bytes += htw__job_memory(*last);
        last = &(*last)->next;
    }
    return 0;
}

/* With room for steps, and more behind them. */
static struct htw__change *allocate(struct htw_journal *journal, size_t step_count, size_t more) {
    size_t size = sizeof(struct htw__change) + step_count * sizeof(struct htw__step) + more;
    struct htw__change *change = htw__journal_allocate(journal, size);
    if (change == NULL)
        return NULL;
    memset(change, 0, sizeof(*change));
    change->size = change->bytes = size;
    change->queued_ns = htw__clock_monotonic_ns();
    change->steps = (struct htw__step *)(change + 1);
    change->step_count = step_count;
    return change;
}

/* What is done is a step that asks for no state. Copies the steps, and their keys to `room`. */
static void copy_steps(struct htw__change *change, const struct htw_journal_change *wanted,
                       char *room) {
    struct htw__step *step = change->steps;
    for (size_t i = 0; i < wanted->done_count; i++)
        *step++ = (struct htw__step) { .id = wanted->done[i], .kind = HTW_JOB_END };
    for (size_t i = 0; i < wanted->update_count; i++, step++) {
        *step = step_of(&wanted->updates[i]);
        if (step->key == NULL)
            continue;
        if (step->key_size > 0)
            memcpy(room, step->key, step->key_size);
        step->key = room;
        room += step->key_size;
    }
}

struct htw__change *htw__change_create(struct htw_journal *journal,
                                       const struct htw_journal_change *wanted,
                                       const struct htw__special *special, int *ret_error) {
    *ret_error = validate(wanted);
    if (*ret_error != 0)
        return NULL;
    const size_t steps_max = (SIZE_MAX / 4) / sizeof(struct htw__step);
    size_t keys = 0, kicks = special == NULL ? 0 : special->kick_count;
    struct htw__change *change = NULL;
    for (size_t i = 0; i < wanted->update_count; i++)
        keys += wanted->updates[i].key_size;
    if (wanted->done_count <= steps_max && wanted->update_count <= steps_max)
        change = allocate(journal, wanted->done_count + wanted->update_count + kicks, keys);
    if (change == NULL) {
        *ret_error = no_memory();
        return NULL;
    }
    if (special != NULL)
        change->special = *special;
    char *room = (char *)(change->steps + change->step_count);
    change->step_count -= kicks; /* so far */
    change->bytes -= kicks * sizeof(*change->steps);
    copy_steps(change, wanted, room);
    change->job_count = wanted->job_count;
    *ret_error = create_jobs(journal, change, wanted);
    if (*ret_error != 0) {
        htw__change_destroy(journal, change);
        return NULL;
    }
    return change;
}

void htw__change_discard_jobs(struct htw_journal *journal, struct htw__change *change) {
    struct htw__job *next;
    for (struct htw__job *job = change->jobs; job != NULL; job = next) {
        struct htw__queue *queue = job->queue;
        next = job->next;
        htw__jobs_discard(&journal->jobs, job);
        if (queue != NULL)
            htw__queues_drop(&journal->queues, queue);
    }
    change->jobs = NULL;
}

void htw__change_destroy(struct htw_journal *journal, struct htw__change *change) {
    htw__change_discard_jobs(journal, change);
    htw__journal_release(journal, change, change->size);
}

static const struct {
    int result;
    const char *text;
    bool is_of_job; /* whose id follows */
} answers[] = {
    { -ENOENT, "there is no job", true },
    { -EALREADY, "has been delivered, or its state is another one: job", true },
    { -ESTALE, "the lease has ended of job", true },
    { -EEXIST, "another job has the key", false },
    { -EINVAL, "a job is there twice", false },
    { -EMSGSIZE, "a job is too large", false },
};

int htw__change_report(const struct htw_journal *journal, const struct htw__change *change) {
    int result = change->result;
    const char *path = journal->path.name;
    size_t i = 0;
    while (i < sizeof(answers) / sizeof(answers[0]) && answers[i].result != result)
        i++;
    if (i == sizeof(answers) / sizeof(answers[0]))
        return result == journal->sentence_error
                   ? htw__journal_fail_as(result, journal->sentence)
                   : htw__journal_fail(result, "%s: %s", path, htw_strerror(result));
    if (!answers[i].is_of_job || change->step_count == 0)
        return htw__journal_fail(result, "%s: %s", path, answers[i].text);
    return htw__journal_fail(result, "%s: %s %llu%s", path, answers[i].text,
                             (unsigned long long)change->steps[0].id,
                             change->step_count > 1 ? ", or another one of the change" : "");
}

/* ---- whether it is taken: limits, the ids of its jobs, and their queues */

static int refuse_for(struct htw_journal *journal, int error, const char *sentence) {
    if (error == -EAGAIN)
        journal->stats.refused++;
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
    if (has_reserved(journal, change))
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
    bool is_sync = change->job_count + change->step_count == 0 && !change->special.has_queue;
    if (journal->has_failed && !is_sync) /* which waits for the notices of what has failed */
        return htw__journal_fail_as(-EIO, journal->failure);
    if (journal->is_stopping)
        return refuse_for(journal, -ESHUTDOWN, "the journal is being closed");
    uint64_t jobs = journal->stats.jobs + journal->queued_jobs;
    if (change->job_count > 0 && journal->max_jobs > 0 &&
        (jobs >= journal->max_jobs || change->job_count > journal->max_jobs - jobs))
        return refuse_for(journal, -EAGAIN, "max_jobs is reached");
    /* To end jobs is always possible. */
    if (change->job_count > 0 && journal->queued_bytes > 0 &&
        (journal->queued_bytes >= journal->queued_max ||
         change->bytes > journal->queued_max - journal->queued_bytes))
        return refuse_for(journal, -EAGAIN, "max_memory is reached");
    if (!htw__ids_have(journal->ids.next_block, journal->ids.end, change->job_count))
        return refuse_for(journal, -ENOSPC, "all ids of the file have been given");
    return 0;
}

/* Adds the jobs to their queues. */
static int attach(struct htw_journal *journal, const struct htw__change *change,
                  const struct htw_journal_change *wanted) {
    size_t i = 0;
    for (struct htw__job *job = change->jobs; job != NULL; job = job->next, i++) {
        struct htw__queue *queue;
        int error = htw__queues_get(&journal->queues, wanted->jobs[i].queue, &queue);
        if (error == 0 && (error = htw__jobs_attach(&journal->jobs, job, queue)) != 0)
            htw__queues_drop(&journal->queues, queue);
        if (error != 0)
            return refuse_for(journal, error,
                              error == -EAGAIN ? "there are too many queues"
                                               : "no memory for a job");
    }
    return 0;
}

static void give_ids(struct htw_journal *journal, struct htw__change *change,
                     const struct htw_journal_change *wanted) {
    size_t i = 0;
    for (struct htw__job *job = change->jobs; job != NULL; job = job->next, i++) {
        if (htw__journal_is_plain(journal, wanted->jobs[i].queue != NULL, job->priority,
                                  job->lease_ns)) {
            job->priority = 0;
            job->lease_ns = 0;
        } else {
            htw__journal_note_put(journal, job);
        }
        const struct htw__job_row row = htw__job_row_of(job);
        job->position.id = htw__ids_give(&journal->ids, htw__database_where_put(&row).place);
        wanted->jobs[i].id = job->position.id;
    }
}

/* A queue that is not there has nothing to be kicked. */
static int find_queue(struct htw_journal *journal, struct htw__change *change) {
    const struct htw__special *special = &change->special;
    int error = 0;
    if (!special->has_queue)
        return 0;
    if (special->policy == NULL)
        change->queue = htw__queues_find(&journal->queues, special->queue);
    else
        error = htw__queues_get(&journal->queues, special->queue, &change->queue);
    if (change->queue != NULL)
        change->queue->users++;
    return error == 0 ? 0 : refuse_for(journal, error, "there are too many queues, or no memory");
}

int htw__change_admit(struct htw_journal *journal, struct htw__change *change,
                      const struct htw_journal_change *wanted) {
    if (journal->is_read_only)
        return htw__journal_fail(-EROFS, "%s: the journal is open to be read", journal->path.name);
    int error = reserve_ids(journal, change);
    if (error == 0)
        error = reserve(journal, change);
    if (error != 0)
        return error;
    error = find_queue(journal, change);
    if (error == 0)
        error = attach(journal, change, wanted);
    if (error == 0)
        give_ids(journal, change, wanted);
    else
        htw__change_discard_jobs(journal, change);
    return error;
}

/* ---- the queue of changes */

/* So many changes are written without waiting for more. */
#define ENOUGH 256u

bool htw__change_append(struct htw_journal *journal, struct htw__change *change) {
    bool was_empty = journal->first == NULL;
    journal->under_way[change->own]++;
    change->next = NULL;
    *journal->last = change;
    journal->last = &change->next;
    journal->queued++;
    journal->queued_jobs += change->job_count;
    journal->queued_bytes += change->bytes;
    journal->waiting_changes++;
    bool was_urgent = journal->is_urgent;
    journal->is_urgent = journal->is_urgent || change->finished != NULL || //
                         journal->waiting_changes >= ENOUGH;
    return was_empty || journal->is_urgent != was_urgent;
}

int htw__submit_own(struct htw_journal *journal, enum htw__own own, const struct htw__step *steps,
                    size_t count) {
    struct htw__change *change = allocate(journal, count, 0);
    if (change == NULL)
        return -ENOMEM;
    change->own = own;
    if (count > 0)
        memcpy(change->steps, steps, count * sizeof(*steps));
    if (htw__change_append(journal, change))
        htw__journal_call_writer(journal);
    return 0;
}

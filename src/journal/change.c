/* SPDX-License-Identifier: MIT */
/* change.c - what a caller wants written: jobs that end or change, jobs that are put, and a mark. */
#include "change.h"

#include "../base/clock.h"

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
    if (wanted->struct_size != sizeof(*wanted) ||
        (wanted->done == NULL && wanted->done_count > 0) ||
        (wanted->jobs == NULL && wanted->job_count > 0) ||
        (wanted->updates == NULL && wanted->update_count > 0))
        return refuse(-EINVAL, "a change of the journal is not valid");
    if (wanted->mark_size > HTW_JOURNAL_MARK_MAX)
        return refuse(-EMSGSIZE, "the mark is too large");
    if (wanted->mark == NULL && wanted->mark_size > 0)
        return refuse(-EINVAL, "the mark is NULL");
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
        const struct htw__queued queued = { .lease_ns = job->lease_ns, .priority = job->priority };
        bool is_plain =
            htw__journal_is_plain(journal, job->queue != NULL, job->priority, job->lease_ns);
        *last = htw__job_create(&journal->allocator, job->deadline_ns, job->key, job->key_size,
                                job->payload, job->payload_size, is_plain ? NULL : &queued);
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
                                       const struct htw_journal_change *wanted, int *ret_error) {
    *ret_error = validate(wanted);
    if (*ret_error != 0)
        return NULL;
    const size_t steps_max = (SIZE_MAX / 4) / sizeof(struct htw__step);
    size_t keys = 0;
    struct htw__change *change = NULL;
    for (size_t i = 0; i < wanted->update_count; i++)
        keys += wanted->updates[i].key_size;
    if (wanted->done_count <= steps_max && wanted->update_count <= steps_max)
        change =
            allocate(journal, wanted->done_count + wanted->update_count, wanted->mark_size + keys);
    if (change == NULL) {
        *ret_error = no_memory();
        return NULL;
    }
    char *room = (char *)(change->steps + change->step_count);
    copy_steps(change, wanted, room + wanted->mark_size);
    if (wanted->mark_size > 0)
        change->mark = memcpy(room, wanted->mark, wanted->mark_size);
    else if (wanted->mark != NULL)
        change->mark = "";
    change->job_count = wanted->job_count;
    change->mark_size = wanted->mark_size;
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
        struct htw__queue *queue = job->is_attached ? job->queued->queue : NULL;
        next = job->next;
        htw__jobs_discard(&journal->jobs, job);
        if (queue != NULL)
            htw__queues_drop(&journal->queues, queue);
    }
    change->jobs = NULL;
}

void htw__change_destroy(struct htw_journal *journal, struct htw__change *change) {
    struct htw__job *next;
    for (struct htw__job *job = change->jobs; job != NULL; job = next) {
        next = job->next;
        htw__job_destroy(&journal->allocator, job);
    }
    change->jobs = NULL;
    if (change->steps_size > 0)
        htw__journal_release(journal, change->steps, change->steps_size);
    htw__journal_release(journal, change, change->size);
}

/* Of one job: what stands before and after its id; NULL: no id is said. */
static const struct answer {
    int result;
    const char *before, *after, *of_several;
} answers[] = {
    { -ENOENT, "there is no job ", "", "a job of those that are done or changed does not exist" },
    { -EALREADY, "job ", " has been delivered, or its state is another one",
      "a job has been delivered, or its state is another one" },
    { -ESTALE, "the lease of job ", " has ended", NULL },
    { -EEXIST, NULL, "another job has the key", NULL },
    { -EINVAL, NULL, "a job is there twice", NULL },
    { -EMSGSIZE, NULL, "a job is too large", NULL },
};

static int report(const struct answer *answer, const char *path, const struct htw__change *change) {
    unsigned long long id = change->step_count > 0 ? change->steps[0].id : 0;
    if (answer->of_several != NULL && change->step_count > 1)
        return htw__journal_fail(answer->result, "%s: %s (the first is %llu)", path,
                                 answer->of_several, id);
    if (answer->before != NULL)
        return htw__journal_fail(answer->result, "%s: %s%llu%s", path, answer->before, id,
                                 answer->after);
    return htw__journal_fail(answer->result, "%s: %s", path, answer->after);
}

int htw__change_report(const struct htw_journal *journal, const struct htw__change *change) {
    int result = change->result;
    const char *path = journal->path.name;
    if (result == 0)
        return 0;
    if (result == -ENOENT && change->recurring != NULL)
        return htw__journal_fail(result, "%s: no job recurs by the name %s", path,
                                 change->recurring->name);
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
        if (answers[i].result == result)
            return report(&answers[i], path, change);
    return result == journal->sentence_error
               ? htw__journal_fail_as(result, journal->sentence)
               : htw__journal_fail(result, "%s: %s", path, htw_strerror(result));
}

/* ---- the queue of changes */

/* So many changes are written without waiting for more. */
#define ENOUGH 256u

bool htw__change_append(struct htw_journal *journal, struct htw__change *change) {
    bool was_empty = journal->first == NULL;
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

int htw__submit_steps(struct htw_journal *journal, const struct htw__work *work,
                      const struct htw__step *steps, size_t count) {
    struct htw__change *change = allocate(journal, count, 0);
    if (change == NULL)
        return -ENOMEM;
    change->work = work;
    memcpy(change->steps, steps, count * sizeof(*steps));
    if (htw__change_append(journal, change))
        htw__journal_call_writer(journal);
    return 0;
}

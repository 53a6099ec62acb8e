/* SPDX-License-Identifier: MIT */
/* change.c - what a caller wants written: jobs that end, jobs that are put, and a mark. */
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

static int validate(const struct htw_journal_change *wanted) {
    if (wanted->struct_size != sizeof(*wanted) ||
        (wanted->done == NULL && wanted->done_count > 0) ||
        (wanted->jobs == NULL && wanted->job_count > 0))
        return refuse(-EINVAL, "a change of the journal is not valid");
    if (wanted->mark_size > HTW_JOURNAL_MARK_MAX)
        return refuse(-EMSGSIZE, "the mark is too large");
    if (wanted->mark == NULL && wanted->mark_size > 0)
        return refuse(-EINVAL, "the mark is NULL");
    for (size_t i = 0; i < wanted->job_count; i++) {
        const struct htw_job *job = &wanted->jobs[i];
        if (job->struct_size != sizeof(*job) || (job->payload == NULL && job->payload_size > 0) ||
            (job->key == NULL && job->key_size > 0))
            return refuse(-EINVAL, "a job is not valid");
        if (job->payload_size > HTW_JOURNAL_JOB_MAX || job->key_size > HTW_JOURNAL_JOB_MAX ||
            job->payload_size + job->key_size > HTW_JOURNAL_JOB_MAX)
            return refuse(-EMSGSIZE, "a job is too large");
    }
    return 0;
}

static int create_jobs(struct htw_journal *journal, struct htw__change *change,
                       const struct htw_journal_change *wanted) {
    struct htw__job **last = &change->jobs;
    for (size_t i = 0; i < wanted->job_count; i++) {
        const struct htw_job *job = &wanted->jobs[i];
        *last = htw__job_create(&journal->allocator, job->deadline_ns, job->key, job->key_size,
                                job->payload, job->payload_size);
        if (*last == NULL)
            return no_memory();
        change->bytes += htw__job_memory(*last);
        last = &(*last)->next;
    }
    return 0;
}

static int fill(struct htw_journal *journal, struct htw__change *change,
                const struct htw_journal_change *wanted) {
    change->queued_ns = htw__clock_monotonic_ns();
    change->done_count = wanted->done_count;
    change->job_count = wanted->job_count;
    change->mark_size = wanted->mark_size;
    change->bytes += change->size;
    return create_jobs(journal, change, wanted);
}

int htw__change_init(struct htw_journal *journal, struct htw__change *change,
                     const struct htw_journal_change *wanted) {
    memset(change, 0, sizeof(*change));
    int error = validate(wanted);
    if (error != 0)
        return error;
    change->is_waited_for = true;
    change->done = wanted->done;
    change->mark = wanted->mark;
    error = fill(journal, change, wanted);
    if (error != 0)
        htw__change_destroy(journal, change);
    return error;
}

struct htw__change *htw__change_create(struct htw_journal *journal,
                                       const struct htw_journal_change *wanted, int *ret_error) {
    *ret_error = validate(wanted);
    if (*ret_error != 0)
        return NULL;
    size_t ids = wanted->done_count > 1 ? wanted->done_count * sizeof(*wanted->done) : 0;
    if (wanted->done_count > (SIZE_MAX / 4) / sizeof(*wanted->done)) {
        *ret_error = no_memory();
        return NULL;
    }
    size_t size = sizeof(struct htw__change) + ids + wanted->mark_size;
    struct htw__change *change = htw__journal_allocate(journal, size);
    if (change == NULL) {
        *ret_error = no_memory();
        return NULL;
    }
    memset(change, 0, sizeof(*change));
    change->size = size;
    char *room = (char *)(change + 1);
    if (wanted->done_count == 1) {
        change->done_id = wanted->done[0];
        change->done = &change->done_id;
    } else if (ids > 0) {
        change->done = memcpy(room, wanted->done, ids);
    }
    if (wanted->mark_size > 0)
        change->mark = memcpy(room + ids, wanted->mark, wanted->mark_size);
    else if (wanted->mark != NULL)
        change->mark = "";
    *ret_error = fill(journal, change, wanted);
    if (*ret_error != 0) {
        htw__change_destroy(journal, change);
        return NULL;
    }
    return change;
}

void htw__change_destroy(struct htw_journal *journal, struct htw__change *change) {
    struct htw__job *next;
    for (struct htw__job *job = change->jobs; job != NULL; job = next) {
        next = job->next;
        htw__job_destroy(&journal->allocator, job);
    }
    change->jobs = NULL;
    if (change->size > 0)
        htw__journal_release(journal, change, change->size);
}

int htw__change_report(const struct htw_journal *journal, const struct htw__change *change) {
    int result = change->result;
    uint64_t id = change->done_count > 0 ? change->done[0] : 0;
    switch (result) {
    case 0:
        return 0;
    case -ENOENT:
        return htw__journal_fail(result,
                                 change->done_count > 1 ? "%s: a job of those that are done does "
                                                          "not exist (the first is %llu)"
                                                        : "%s: there is no job %llu",
                                 journal->path.name, (unsigned long long)id);
    case -EALREADY:
        return htw__journal_fail(result, "%s: job %llu has been delivered", journal->path.name,
                                 (unsigned long long)id);
    default:
        return htw__journal_fail_as(result, journal->sentence);
    }
}

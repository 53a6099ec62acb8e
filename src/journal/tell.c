/* SPDX-License-Identifier: MIT */
/* tell.c - telling those that have asked for a job and were served. */
#include "../base/user_code.h"
#include "lease.h"
#include "load.h"
#include "slot.h"

#include <errno.h>

void htw__request_destroy(struct htw_journal *journal, struct htw__lease_request *request) {
    for (size_t i = 0; i < request->count; i++) {
        request->waits[i].queue->users--;
        htw__queues_drop(&journal->queues, request->waits[i].queue);
    }
    htw__journal_release(journal, request, request->size);
}

/* Reads the bytes of a job again, which memory has released. */
static int restore_bytes(struct htw_journal *journal, struct htw__job *job) {
    struct htw__job_row row;
    struct htw__whereabouts where;
    if (job->bytes != NULL)
        return 0;
    int error = htw__database_fetch(&journal->database, job->position.id, &row, &where);
    if (error != 0)
        return error;
    if (!htw__jobs_restore_bytes(&journal->jobs, job, row.key, row.payload))
        error = htw__journal_fail_as(-ENOMEM, "no memory for a job that is leased");
    htw__database_fetch_end(&journal->database);
    return error;
}

/* A job that was leased, as long as it is; NULL: it has ended. */
static struct htw__job *job_of(const struct htw_journal *journal,
                               const struct htw__lease_request *request) {
    struct htw__job *job = htw__jobs_find(&journal->jobs, request->job);
    return job != NULL && job->state == HTW__JOB_LEASED && !job->is_held &&
                   job->counters.attempts == request->attempt
               ? job
               : NULL;
}

/* Nothing is committed meanwhile, so the job stays in memory. */
static void call(struct htw_journal *journal, struct htw__lease_request *request,
                 struct htw__job *job) {
    struct htw__journal_frame frame = { .journal = journal, .is_notice = true };
    struct htw_delivery delivery = { .journal = journal };
    if (job != NULL) {
        delivery = htw__job_delivery(journal, job, htw__journal_now(journal));
        journal->stats.delivered++;
    }
    htw__mutex_unlock(&journal->mutex);
    htw__journal_frame_push(&frame);
    HTW__CALL_USER("a notice", journal, request->leased,
                   request->leased(request->arg, request->result, job == NULL ? NULL : &delivery));
    htw__journal_frame_pop(&frame);
    htw__mutex_lock(&journal->mutex);
    if (job != NULL)
        htw__jobs_release_bytes(&journal->jobs, job);
}

static void tell(struct htw_journal *journal, struct htw__lease_request *request) {
    struct htw__job *job = NULL;
    if (request->result == 0 && journal->has_failed)
        request->result = htw__journal_fail_as(-EIO, journal->failure);
    if (request->result == 0 && (job = job_of(journal, request)) == NULL) {
        htw__lease_failed(journal, request, -ENOENT);
        return;
    }
    if (job != NULL) {
        request->result = restore_bytes(journal, job);
        if (request->result != 0)
            job = NULL; /* the job stays leased until the lease ends, without a taker */
    }
    htw__key_table_remove(&journal->leases.by_number, &request->node);
    call(journal, request, job);
    htw__request_destroy(journal, request);
}

void htw__leases_tell(struct htw_journal *journal) {
    struct htw__leases *leases = &journal->leases;
    struct htw__lease_request *next, *served = leases->served;
    leases->served = NULL;
    leases->last_served = &leases->served;
    journal->is_in_use = true;
    for (; served != NULL; served = next) {
        next = served->next;
        tell(journal, served);
    }
    htw__journal_release_database(journal);
    htw__slots_arm(journal);
}

/* SPDX-License-Identifier: MIT */
/* request.c - the public calls that ask for a job or pause a queue, and telling those that were served. */
#include "../base/user_code.h"
#include "lease.h"
#include "load.h"
#include "slot.h"

#include <errno.h>
#include <semaphore.h>
#include <string.h>

/* ---- requests */

static size_t size_of(size_t count) {
    return sizeof(struct htw__lease_request) + count * sizeof(struct htw__wait);
}

static void destroy(struct htw_journal *journal, struct htw__lease_request *request) {
    for (size_t i = 0; i < request->count; i++) {
        request->waits[i].queue->users--;
        htw__queues_drop(&journal->queues, request->waits[i].queue);
    }
    htw__journal_release(journal, request, request->size);
}

/* ---- telling */

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
    destroy(journal, request);
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

/* ---- the public calls */

static int validate(const struct htw_journal *journal, const struct htw_lease *lease,
                    htw_leased *leased) {
    if (lease == NULL || leased == NULL || lease->struct_size != sizeof(*lease) ||
        lease->lease_ns < 0 || (lease->queues == NULL && lease->queue_count > 0) ||
        (lease->queue_count == 0) == (lease->id == 0))
        return htw__journal_fail_as(-EINVAL, "a lease is not valid");
    if (journal->slot_count == 0)
        return htw__journal_fail(-EINVAL, "%s: a journal without a scheduler leases nothing",
                                 journal->path.name);
    for (size_t i = 0; i < lease->queue_count; i++) {
        if (!htw__queue_name_is_valid(lease->queues[i]))
            return htw__journal_fail_as(-EINVAL, "the name of a queue is not valid");
        if (lease->queues[i] == NULL && journal->deliver != NULL)
            return htw__journal_fail_as(-EINVAL, "the default queue is delivered");
    }
    return 0;
}

static struct htw__lease_request *create(struct htw_journal *journal, const struct htw_lease *lease,
                                         htw_leased *leased, void *arg) {
    if (lease->queue_count > HTW_QUEUES_MAX)
        return NULL;
    const size_t size = size_of(lease->queue_count);
    struct htw__lease_request *request = htw__journal_allocate(journal, size);
    if (request == NULL)
        return NULL;
    memset(request, 0, sizeof(*request));
    request->size = size;
    request->leased = leased;
    request->arg = arg;
    request->id = lease->id;
    request->lease_ns = lease->lease_ns;
    request->end.at_ns = lease->wait_until_ns;
    request->is_durable = lease->is_durable;
    return request;
}

/* Under the lock. `waits`: a queue that does not exist is made, so that the request can wait for it. To make many takes long. */
static int find_queues(struct htw_journal *journal, struct htw__lease_request *request,
                       const struct htw_lease *lease, bool waits) {
    request->number = request->end.request = ++journal->leases.last_number;
    for (size_t i = 0; i < lease->queue_count; i++) {
        struct htw__wait *wait = &request->waits[request->count];
        if (!waits && htw__queues_find(&journal->queues, lease->queues[i]) == NULL)
            continue;
        int error = htw__queues_get(&journal->queues, lease->queues[i], &wait->queue);
        if (error != 0)
            return error;
        wait->request = request;
        wait->queue->users++;
        request->count++;
        if (wait->queue->last_request == request->number)
            return htw__journal_fail_as(-EINVAL, "a lease names a queue twice");
        wait->queue->last_request = request->number;
    }
    return 0;
}

static int prepare(struct htw_journal *journal, struct htw__lease_request *request,
                   const struct htw_lease *lease) {
    if (request->end.at_ns <= htw__journal_now(journal))
        request->end.at_ns = INT64_MIN; /* also if the clock is set back */
    int error = find_queues(journal, request, lease, request->end.at_ns != INT64_MIN);
    if (error == 0)
        error = htw__leases_reserve(journal);
    if (error == -EAGAIN)
        return htw__journal_fail_as(error, "there are too many queues");
    return error == -ENOMEM ? htw__journal_fail_as(error, "no memory for a request") : error;
}

static void add(struct htw_journal *journal, struct htw__lease_request *request) {
    struct htw__leases *leases = &journal->leases;
    const uint64_t *number = &request->number;
    htw__key_node_set(&request->node, htw__key_hash(number, sizeof(*number), leases->seed), number,
                      sizeof(*number));
    htw__key_table_insert(&leases->by_number, &request->node);
}

int htw_journal_lease_later(struct htw_journal *journal, const struct htw_lease *lease,
                            htw_leased *leased, void *arg, uint64_t *ret_request) {
    int error = htw__journal_refusal(journal);
    if (error == 0)
        error = validate(journal, lease, leased);
    if (error != 0)
        return error;
    struct htw__lease_request *request = create(journal, lease, leased, arg);
    if (request == NULL)
        return htw__journal_fail_as(-ENOMEM, "no memory for a request");
    htw__mutex_lock(&journal->mutex);
    if (journal->has_failed)
        error = htw__journal_fail_as(-EIO, journal->failure);
    else if (journal->is_closing)
        error =
            htw__journal_fail(-ESHUTDOWN, "%s: the journal is being closed", journal->path.name);
    else
        error = prepare(journal, request, lease);
    if (error == 0) {
        add(journal, request);
        if (ret_request != NULL)
            *ret_request = request->number;
        htw__lease_begin(journal, request);
        htw__slots_arm(journal);
    } else {
        destroy(journal, request);
    }
    htw__mutex_unlock(&journal->mutex);
    return error;
}

int htw_journal_lease_cancel(struct htw_journal *journal, uint64_t number) {
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    htw__mutex_lock(&journal->mutex);
    struct htw__leases *leases = &journal->leases;
    struct htw__key_node *node = htw__key_table_find(
        &leases->by_number, htw__key_hash(&number, sizeof(number), leases->seed), &number,
        sizeof(number));
    struct htw__lease_request *request = node == NULL ? NULL : htw__request_of(node);
    if (request == NULL || !request->is_waiting)
        error = htw__journal_fail(-ENOENT, "%s: no request %llu waits", journal->path.name,
                                  (unsigned long long)number);
    else
        htw__lease_cancel(journal, request);
    htw__mutex_unlock(&journal->mutex);
    return error;
}

/* A thread that waits for its request. */
struct waiter {
    struct htw_journal *journal;
    htw_leased *leased;
    void *arg;
    int result;
    sem_t told;
};

static void tell_waiter(void *arg, int result, const struct htw_delivery *delivery) {
    struct waiter *waiter = arg;
    waiter->result = result;
    HTW__CALL_USER("a notice", waiter->journal, waiter->leased,
                   waiter->leased(waiter->arg, result, delivery));
    sem_post(&waiter->told);
}

int htw_journal_lease(struct htw_journal *journal, const struct htw_lease *lease,
                      htw_leased *leased, void *arg) {
    struct waiter waiter = { .journal = journal, .leased = leased, .arg = arg };
    int error = htw__journal_refusal_to_wait(journal);
    if (error != 0)
        return error;
    if (leased == NULL)
        return htw__journal_fail_as(-EINVAL, "a lease is not valid");
    int cancel_state; /* the writer uses what is on this stack */
    sem_init(&waiter.told, 0, 0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    error = htw_journal_lease_later(journal, lease, tell_waiter, &waiter, NULL);
    if (error == 0) {
        pthread_cond_signal(&journal->work); /* also if this thread processes the journal */
        while (sem_wait(&waiter.told) != 0)
            ; /* a signal */
        error = waiter.result;
        if (error != 0)
            htw__journal_fail_as(error, htw_strerror(error));
    }
    pthread_setcancelstate(cancel_state, NULL);
    sem_destroy(&waiter.told);
    return error;
}

/* ---- pauses */

int htw_journal_pause(struct htw_journal *journal, const char *name, int64_t until_ns) {
    struct htw__queue *queue = NULL;
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    if (!htw__queue_name_is_valid(name) || (name == NULL && journal->deliver != NULL) ||
        journal->slot_count == 0)
        return htw__journal_fail_as(-EINVAL, "a pause is not valid");
    htw__mutex_lock(&journal->mutex);
    error = journal->has_failed   ? -EIO
            : journal->is_closing ? -ESHUTDOWN
                                  : htw__queues_get(&journal->queues, name, &queue);
    if (error == 0 && (error = htw__lease_pause(journal, queue, until_ns)) != 0)
        htw__queues_drop(&journal->queues, queue);
    htw__slots_arm(journal);
    htw__mutex_unlock(&journal->mutex);
    return error == 0 ? 0
                      : htw__journal_fail(error, "%s: the queue cannot be paused: %s",
                                          journal->path.name, htw_strerror(error));
}

/* SPDX-License-Identifier: MIT */
/* request.c - the public calls that ask for a job or pause a queue. */
#include "../base/user_code.h"
#include "lease.h"
#include "slot.h"
#include "writer.h"

#include <errno.h>
#include <semaphore.h>
#include <string.h>

/* ---- requests */

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
    const size_t size =
        sizeof(struct htw__lease_request) + lease->queue_count * sizeof(struct htw__wait);
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

/* A caller that is alone serves itself: in two steps, the first a commit, where the lease is durable. */
static void begin(struct htw_journal *journal, struct htw__lease_request *request,
                  bool is_waited_for) {
    struct htw__leases *leases = &journal->leases;
    const uint64_t *number = &request->number;
    bool is_alone = is_waited_for && htw__writer_is_idle(journal);
    htw__key_node_set(&request->node, htw__key_hash(number, sizeof(*number), leases->seed), number,
                      sizeof(*number));
    htw__key_table_insert(&leases->by_number, &request->node);
    const pthread_t processor = journal->processor;
    if (is_alone)
        journal->processor = pthread_self();
    htw__lease_begin(journal, request);
    htw__slots_arm(journal);
    journal->processor = processor;
    if (is_alone)
        htw__writer_run_here(journal, 2, HTW_NEVER_NS);
    else if (is_waited_for) /* also by the thread that processes the journal */
        pthread_cond_signal(&journal->work);
}

static int ask(struct htw_journal *journal, const struct htw_lease *lease, htw_leased *leased,
               void *arg, uint64_t *ret_request, bool is_waited_for) {
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
    if (error == 0 && ret_request != NULL)
        *ret_request = request->number;
    if (error == 0)
        begin(journal, request, is_waited_for);
    else
        htw__request_destroy(journal, request);
    htw__mutex_unlock(&journal->mutex);
    return error;
}

int htw_journal_lease_later(struct htw_journal *journal, const struct htw_lease *lease,
                            htw_leased *leased, void *arg, uint64_t *ret_request) {
    return ask(journal, lease, leased, arg, ret_request, false);
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
    error = ask(journal, lease, tell_waiter, &waiter, NULL, true);
    if (error == 0) {
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

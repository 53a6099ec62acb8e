/* SPDX-License-Identifier: MIT */
/* lease.c - requests for jobs, and the leases that they receive. */
#include "lease.h"

#include "../base/random.h"
#include "change.h"

#include <errno.h>
#include <string.h>

/* The window of a queue is moved forward when fewer jobs are left. */
#define FEW 64u

/* A lease whose end could not be made a change lasts so much longer. */
#define RETRY_NS HTW_SECOND

/* ---- requests */

#define END(heap_node) HTW_CONTAINER_OF((uintptr_t)(heap_node), struct htw__end, node)

static bool ends_before(const struct htw__heap_node *a, const struct htw__heap_node *b) {
    const struct htw__end *left = END(a), *right = END(b);
    return left->at_ns != right->at_ns ? left->at_ns < right->at_ns
                                       : left->request < right->request;
}

void htw__leases_init(struct htw__leases *leases, const struct htw_allocator *allocator) {
    memset(leases, 0, sizeof(*leases));
    htw__key_table_init(&leases->by_number, allocator);
    htw__heap_init(&leases->ends, ends_before);
    leases->seed = htw__random_seed(leases);
    leases->last_served = &leases->served;
}

void htw__leases_fini(struct htw__leases *leases, const struct htw_allocator *allocator) {
    htw__key_table_fini(&leases->by_number);
    htw__heap_fini(&leases->ends, allocator);
}

static struct htw__wait *first_wait(const struct htw__queue *queue) {
    return htw__ring_is_empty(&queue->waits) ? NULL : (struct htw__wait *)queue->waits._next;
}

/* Adds it to the lists of its queues. `is_blocked`: it does not end before the reader has read. */
static void enqueue(struct htw_journal *journal, struct htw__lease_request *request,
                    bool is_blocked) {
    request->is_waiting = true;
    request->is_blocked = is_blocked;
    for (size_t i = 0; i < request->count; i++) {
        htw__ring_push_back(&request->waits[i].queue->waits, &request->waits[i].link);
        request->waits[i].queue->waiting++;
    }
    if (!is_blocked)
        htw__heap_push(&journal->leases.ends, &request->end.node);
}

static void dequeue(struct htw_journal *journal, struct htw__lease_request *request) {
    if (!request->is_waiting)
        return;
    request->is_waiting = request->is_blocked = false;
    for (size_t i = 0; i < request->count; i++) {
        htw__link_unlink(&request->waits[i].link);
        request->waits[i].queue->waiting--;
    }
    if (request->end.node.place != 0)
        htw__heap_remove(&journal->leases.ends, &request->end.node);
}

/* ---- those that were served */

static void append_served(struct htw_journal *journal, struct htw__lease_request *request,
                          int result) {
    dequeue(journal, request);
    request->result = result;
    request->next = NULL;
    *journal->leases.last_served = request;
    journal->leases.last_served = &request->next;
    htw__journal_call_writer(journal);
}

void htw__lease_granted(struct htw_journal *journal, struct htw__lease_request *request,
                        const struct htw__job *job) {
    request->job = job->position.id;
    request->attempt = job->counters.attempts;
    append_served(journal, request, 0);
}

int64_t htw__lease_end(const struct htw_journal *journal, int64_t job_ns, int64_t wanted_ns,
                       int64_t now) {
    int64_t lease_ns = wanted_ns != 0 ? wanted_ns : job_ns != 0 ? job_ns : journal->lease_ns;
    int64_t end_ns;
    return __builtin_add_overflow(now, lease_ns, &end_ns) ? HTW_NEVER_NS : end_ns;
}

void htw__lease_start(struct htw_journal *journal, struct htw__lease_request *request,
                      struct htw__job *job) {
    job->lease_end_ns =
        htw__lease_end(journal, job->lease_ns, request->lease_ns, htw__journal_now(journal));
    job->counters.attempts++;
    job->is_changed = true;
    job->is_durable = false;
    htw__jobs_become(&journal->jobs, job, HTW__JOB_LEASED);
    htw__lease_granted(journal, request, job);
}

void htw__leases_look(struct htw_journal *journal, struct htw__queue *queue) {
    const struct htw__job *next = htw__jobs_first(&queue->ready);
    bool is_empty = next == NULL || !htw__queue_covers(queue, htw__turn_of(next));
    if (htw__queue_is_whole(queue) || queue->is_wanted ||
        (!is_empty &&
         (queue->ready.count >= FEW || journal->jobs.ready_bytes >= journal->ready_max / 2)))
        return;
    htw__queues_want(&journal->queues, queue);
    pthread_cond_signal(&journal->work);
}

/* By a change, which is written at once: a worker waits for it. False: there is no memory, and the request was told. */
static bool lease_durably(struct htw_journal *journal, struct htw__lease_request *request,
                          uint64_t id) {
    struct htw__step step = { .id = id, .kind = HTW__STEP_LEASE, .request = request };
    dequeue(journal, request);
    if (htw__submit_own(journal, HTW__OWN_LEASE, &step, 1) != 0) {
        append_served(journal, request, -ENOMEM);
        return false;
    }
    journal->is_urgent = true;
    htw__journal_call_writer(journal);
    return true;
}

static void grant(struct htw_journal *journal, struct htw__lease_request *request,
                  struct htw__job *job) {
    struct htw__queue *queue = job->queue;
    if (request->is_durable) {
        htw__jobs_hold(&journal->jobs, job);
        job->is_granted = true;
        if (!lease_durably(journal, request, job->position.id))
            htw__jobs_unhold(&journal->jobs, job);
    } else {
        dequeue(journal, request);
        htw__lease_start(journal, request, job);
    }
    htw__leases_look(journal, queue);
}

/* The first job of all its queues; NULL: none. `*ret_is_blocked`: the reader has to read before that is known. */
static struct htw__job *choose(struct htw_journal *journal,
                               const struct htw__lease_request *request, bool *ret_is_blocked) {
    struct htw__job *best = NULL;
    *ret_is_blocked = false;
    for (size_t i = 0; i < request->count; i++) {
        struct htw__queue *queue = request->waits[i].queue;
        struct htw__job *job = htw__queue_next(queue);
        if (job == NULL && !htw__queue_is_whole(queue) && queue->pause.at_ns == INT64_MIN) {
            *ret_is_blocked = true;
            htw__leases_look(journal, queue);
        } else if (job != NULL &&
                   (best == NULL || htw__turn_precedes(htw__turn_of(job), htw__turn_of(best)))) {
            best = job;
        }
    }
    return best;
}

/* Grants what is ready, or lets the request wait; also one that has waited, so that the journal may have ended. */
static void begin(struct htw_journal *journal, struct htw__lease_request *request) {
    bool is_blocked;
    if (journal->has_failed || journal->is_closing) {
        append_served(journal, request, journal->has_failed ? -EIO : -ESHUTDOWN);
        return;
    }
    struct htw__job *best = choose(journal, request, &is_blocked);
    if (is_blocked)
        enqueue(journal, request, true);
    else if (best != NULL)
        grant(journal, request, best);
    else if (request->end.at_ns <= htw__journal_now(journal))
        append_served(journal, request, -ETIMEDOUT);
    else
        enqueue(journal, request, false);
}

void htw__lease_failed(struct htw_journal *journal, struct htw__lease_request *request,
                       int result) {
    if (request->id == 0 && (result == -ENOENT || result == -EALREADY))
        begin(journal, request); /* another one has the job */
    else
        append_served(journal, request, result);
}

void htw__leases_serve(struct htw_journal *journal, struct htw__queue *queue) {
    struct htw__wait *wait;
    struct htw__job *job;
    while ((wait = first_wait(queue)) != NULL && !wait->request->is_blocked &&
           (job = htw__queue_next(queue)) != NULL)
        grant(journal, wait->request, job);
    if (wait != NULL)
        htw__leases_look(journal, queue);
}

/* Those that have waited behind it, while it was blocked. */
static void serve_behind(struct htw_journal *journal, const struct htw__lease_request *request) {
    for (size_t i = 0; i < request->count; i++)
        htw__leases_serve(journal, request->waits[i].queue);
}

void htw__leases_restart(struct htw_journal *journal, struct htw__queue *queue) {
    for (uint64_t left = queue->waiting; left > 0; left--) {
        struct htw__wait *wait = first_wait(queue);
        if (wait == NULL)
            return;
        struct htw__lease_request *request = wait->request;
        dequeue(journal, request);
        begin(journal, request);
        if (!request->is_blocked)
            serve_behind(journal, request);
    }
}

void htw__leases_end(struct htw_journal *journal, int result) {
    struct htw__key_node *node = NULL;
    while ((node = htw__key_table_next(&journal->leases.by_number, node)) != NULL) {
        struct htw__lease_request *request = htw__request_of(node);
        if (request->is_waiting)
            append_served(journal, request, result);
    }
}

/* ---- time */

/* A lease has ended by itself. */
static void expire(struct htw_journal *journal, struct htw__job *job) {
    struct htw__step step = { .id = job->position.id,
                              .kind = HTW__STEP_EXPIRE,
                              .attempt = job->counters.attempts };
    if (!htw__policy_is_on(&job->queue->policy)) {
        job->counters.timeouts++;
        job->is_changed = true;
        htw__jobs_become(&journal->jobs, job, HTW__JOB_READY);
        htw__leases_serve(journal, job->queue);
        return;
    }
    htw__jobs_hold(&journal->jobs, job);
    job->lease_end_ns = htw__submit_own(journal, HTW__OWN_LEASE, &step, 1) == 0
                            ? INT64_MIN
                            : htw__journal_now(journal) + RETRY_NS;
    htw__jobs_unhold(&journal->jobs, job);
}

static struct htw__end *first_end(const struct htw_journal *journal) {
    const struct htw__heap_node *first = htw__heap_first(&journal->leases.ends);
    return first == NULL ? NULL : END(first);
}

static void resume(struct htw_journal *journal, struct htw__queue *queue) {
    htw__heap_remove(&journal->leases.ends, &queue->pause.node);
    queue->pause.at_ns = INT64_MIN;
    journal->leases.pauses--;
    htw__leases_serve(journal, queue);
    htw__queues_drop(&journal->queues, queue);
}

int htw__leases_reserve(struct htw_journal *journal) {
    struct htw__leases *leases = &journal->leases;
    return htw__heap_reserve(&leases->ends, &journal->allocator,
                             htw__key_table_count(&leases->by_number) + leases->pauses + 1);
}

int htw__lease_pause(struct htw_journal *journal, struct htw__queue *queue, int64_t until_ns) {
    struct htw__heap *ends = &journal->leases.ends;
    if (queue->pause.at_ns != INT64_MIN)
        htw__heap_remove(ends, &queue->pause.node);
    else if (htw__leases_reserve(journal) == 0)
        journal->leases.pauses++;
    else
        return -ENOMEM;
    queue->pause.at_ns = until_ns == INT64_MIN ? INT64_MIN + 1 : until_ns;
    htw__heap_push(ends, &queue->pause.node);
    if (until_ns <= htw__journal_now(journal))
        resume(journal, queue);
    return 0;
}

static void expire_ends(struct htw_journal *journal, int64_t now) {
    struct htw__end *end;
    while ((end = first_end(journal)) != NULL && end->at_ns <= now)
        if (end->request == 0)
            resume(journal, HTW_CONTAINER_OF(end, struct htw__queue, pause));
        else
            append_served(journal, HTW_CONTAINER_OF(end, struct htw__lease_request, end),
                          -ETIMEDOUT);
}

void htw__leases_expire(struct htw_journal *journal, int64_t now) {
    struct htw__job *job;
    if (journal->is_closing || journal->has_failed)
        return;
    while ((job = htw__jobs_first(&journal->jobs.leases)) != NULL && //
           job->lease_end_ns <= now)
        expire(journal, job);
    expire_ends(journal, now);
}

int64_t htw__leases_next(const struct htw_journal *journal) {
    const struct htw__job *job = htw__jobs_first(&journal->jobs.leases);
    const struct htw__end *end = first_end(journal);
    return htw__clock_earlier(job == NULL ? HTW_NEVER_NS : job->lease_end_ns,
                              end == NULL ? HTW_NEVER_NS : end->at_ns);
}

/* ---- for request.c */

void htw__lease_begin(struct htw_journal *journal, struct htw__lease_request *request) {
    if (request->id != 0)
        (void)lease_durably(journal, request, request->id);
    else
        begin(journal, request);
}

void htw__lease_cancel(struct htw_journal *journal, struct htw__lease_request *request) {
    append_served(journal, request, -ECANCELED);
    serve_behind(journal, request);
}

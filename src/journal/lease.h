/* SPDX-License-Identifier: MIT */
/*
 * lease.h - requests for jobs: they wait on several queues, and are served once, in the order of the calls.
 *
 * As long as a request waits, no queue of it that is not paused has a READY job in memory: each event after which
 * one has (a job becomes ready, a pause ends, the window moves) serves the queue. A request that was served, or has
 * ended, is in the list SERVED; the writer reads the body of the job where memory has it no more, and calls
 * `leased`. Under the lock, except as said.
 */
#ifndef HTW_SRC_JOURNAL_LEASE_H
#define HTW_SRC_JOURNAL_LEASE_H

#include "state.h"

/* A request in the list of a queue. */
struct htw__wait {
    struct htw__link link;
    struct htw__lease_request *request;
    struct htw__queue *queue;
};

struct htw__lease_request {
    struct htw__key_node node; /* by number */
    uint64_t number;
    htw_leased *leased;
    void *arg;
    uint64_t id; /* the job that is wanted; 0: any of the queues */
    int64_t lease_ns;
    bool is_durable;
    bool is_waiting; /* in the lists of its queues */
    bool
        is_blocked; /* ... and before the reader has read, nothing is leased to it, so that the order holds */
    struct htw__end end; /* of its wait; in the heap, unless it waits for the reader */
    int result;
    uint64_t job; /* that was leased to it */
    uint32_t attempt;
    struct htw__lease_request *next; /* in the list of those that were served */
    size_t size;                     /* of the block */
    size_t count;
    struct htw__wait waits[];
};

static inline struct htw__lease_request *htw__request_of(struct htw__key_node *node) {
    return HTW_CONTAINER_OF(node, struct htw__lease_request, node);
}

void htw__leases_init(struct htw__leases *leases, const struct htw_allocator *allocator);
void htw__leases_fini(struct htw__leases *leases, const struct htw_allocator *allocator);

/* The queue may have a job more, or again: its requests receive what they can. */
void htw__leases_serve(struct htw_journal *journal, struct htw__queue *queue);

/* The window of the queue has moved: what waits for it looks again. */
void htw__leases_restart(struct htw_journal *journal, struct htw__queue *queue);

/* Leases a READY job, without a change. */
void htw__lease_start(struct htw_journal *journal, struct htw__lease_request *request,
                      struct htw__job *job);

/* The change of a LEASE is made, with a job that is LEASED now, or has failed. */
void htw__lease_granted(struct htw_journal *journal, struct htw__lease_request *request,
                        const struct htw__job *job);
void htw__lease_failed(struct htw_journal *journal, struct htw__lease_request *request, int result);

/* When a lease of this job ends that begins now. `wanted_ns` 0: as the job or the options say. */
int64_t htw__lease_end(const struct htw_journal *journal, int64_t job_ns, int64_t wanted_ns,
                       int64_t now);

/* Makes room for another request, or another pause. 0 or -ENOMEM. */
int htw__leases_reserve(struct htw_journal *journal);

/* Pauses a queue until an instant, or ends its pause. 0 or -ENOMEM. */
int htw__lease_pause(struct htw_journal *journal, struct htw__queue *queue, int64_t until_ns);

/* Ends leases, requests and pauses whose time has come; and when it has something to do. */
void htw__leases_expire(struct htw_journal *journal, int64_t now);
int64_t htw__leases_next(const struct htw_journal *journal);

/* Tells those that were served; for the writer, which has the database. Releases the lock meanwhile. */
void htw__leases_tell(struct htw_journal *journal);

/* A request that is in no list. */
void htw__request_destroy(struct htw_journal *journal, struct htw__lease_request *request);

/* A request that is in the table: grants it what is ready, or lets it wait; and ends one that waits. */
void htw__lease_begin(struct htw_journal *journal, struct htw__lease_request *request);
void htw__lease_cancel(struct htw_journal *journal, struct htw__lease_request *request);

/* Asks for more jobs of a queue, if few are left in memory. */
void htw__leases_look(struct htw_journal *journal, struct htw__queue *queue);

/* All requests that wait end with a result. */
void htw__leases_end(struct htw_journal *journal, int result);

#endif /* HTW_SRC_JOURNAL_LEASE_H */

/* SPDX-License-Identifier: MIT */
/*
 * jobs.h - the jobs in memory: those of the near future, which wait in order of deadline, those that are ready, in
 * the order of their queue, and those that are leased or in flight. All are found by id. Under the lock of the
 * journal. A queue is here, too, since the heap of its jobs is; queue.h has what is done with it.
 */
#ifndef HTW_SRC_JOURNAL_JOBS_H
#define HTW_SRC_JOURNAL_JOBS_H

#include "../base/heap.h"
#include "../base/key_table.h"
#include "../base/list.h"
#include "database/rows.h"

#include <htw/wheel.h>

/* What follows a job up to this size is kept while it is in flight. */
#define HTW__JOB_INLINE 256u

struct htw__step;

/* A place in the order of a queue. */
struct htw__turn {
    uint64_t priority; /* without padding: list.c */
    int64_t put_us;
    uint64_t id;
};

#define HTW__TURN_FIRST ((struct htw__turn) { 0, INT64_MIN, 0 })
#define HTW__TURN_LAST ((struct htw__turn) { UINT64_MAX, INT64_MAX, UINT64_MAX })

/* Jobs by enum htw_job_state; in the file LEASED is durably. DELAYED of the default queue is what is left of all jobs. */
enum { HTW__QUEUE_STATES = HTW_JOB_BURIED + 1 };
struct htw__queue_counts {
    int64_t of[HTW__QUEUE_STATES];
};

/* The end of the wait of a request, or of the pause of a queue: in one heap (lease.h). */
struct htw__end {
    struct htw__heap_node node;
    int64_t at_ns;
    uint64_t request; /* its number; 0: of a queue */
};

struct htw__queue {
    struct htw__key_node by_name, by_number;
    struct htw__link listed; /* among all that have a name */
    uint64_t number;         /* 0: the default queue */
    size_t name_size;
    bool is_delivered; /* its jobs are not leased */
    bool is_stored;    /* has a row in the file, as of the last commit */
    bool is_used;      /* it has, or had, jobs that are not mere delays */

    struct htw__queue_counts counts; /* in the file, as of the last commit */
    struct htw__queue_counts apart;  /* by how much memory knows better */
    struct htw__queue_counts added;  /* in the transaction that is open */
    struct htw__queue *next_dirty;   /* of those that it has changed */
    bool is_dirty;

    struct htw__heap ready;   /* READY */
    struct htw__link crowded; /* among those of struct htw__jobs */
    size_t attached;          /* jobs */
    size_t users;             /* changes and requests that point to it */
    struct htw__turn window;
    struct htw__scan scan; /* of what is behind the window */
    bool is_wanted;        /* the window is to be moved */
    struct htw__queue *next_wanted;

    struct htw__link waits; /* requests, in order of their calls */
    uint64_t waiting;
    uint64_t last_request; /* the number of the last one that has named it */
    struct htw__end pause; /* INT64_MIN: not paused */
    struct htw_queue_policy policy;
    const struct htw_queue_policy *new_policy; /* in the transaction that is open; NULL: stays */
    char name[];                               /* and a 0 */
};

enum htw__job_state {
    HTW__JOB_QUEUED,     /* in a change that is not yet durable; in no table */
    HTW__JOB_WAITING,    /* in the heap by deadline */
    HTW__JOB_READY,      /* in the heap of its queue */
    HTW__JOB_LEASED,     /* in the heap by the end of its lease, unless that has ended */
    HTW__JOB_DELIVERING, /* `deliver` is running */
    HTW__JOB_IN_FLIGHT,  /* `deliver` has returned */
    HTW__JOB_ENDED       /* `deliver` is running, and the job is done: in no table */
};

/* A place in the order of delivery. */
struct htw__position {
    int64_t deadline_ns;
    uint64_t id;
};

static inline bool htw__position_precedes(struct htw__position a, struct htw__position b) {
    return a.deadline_ns < b.deadline_ns || (a.deadline_ns == b.deadline_ns && a.id < b.id);
}

struct htw__job {
    struct htw__key_node node; /* its key is position.id */
    struct htw__position position;
    enum htw__job_state state;
    bool is_held;                   /* in no heap, while a change of it is written */
    const struct htw__step *holder; /* the step of that change, once it is in a batch; step.h */
    bool is_granted;                /* and held for a request whose lease is to be written */
    bool is_if_absent;              /* QUEUED: not put if a job has the key */
    bool is_changed;                /* its counters are not those of the file */
    bool is_durable;                /* LEASED: in the file, too */
    bool has_key;
    struct htw__heap_node turn; /* in the heap of its state */
    struct htw__queue *queue;   /* NULL: not yet attached */
    struct htw__link age;       /* READY: in the ring of these */
    struct htw__link held;      /* among those that are held */
    enum htw_job_state filed;   /* its state in the file */
    uint32_t priority;
    int64_t put_us;       /* as of struct htw__job_row, */
    bool is_to_come;      /* and this */
    int64_t lease_ns;     /* 0: as the options say */
    int64_t lease_end_ns; /* LEASED; INT64_MIN: it has ended, and its change is under way */
    struct htw__counters counters;
    uint32_t key_size;
    size_t payload_size;
    char *bytes;           /* key and payload; NULL: released */
    uint64_t replaced;     /* the job that it has replaced; 0: none */
    struct htw__job *next; /* of the same change */
};

static inline struct htw__turn htw__turn_of(const struct htw__job *job) {
    return (struct htw__turn) { job->priority, job->put_us, job->position.id };
}

static inline bool htw__turn_precedes(struct htw__turn a, struct htw__turn b) {
    return a.priority != b.priority ? a.priority < b.priority
           : a.put_us != b.put_us   ? a.put_us < b.put_us
                                    : a.id < b.id;
}

/* A QUEUED job of what the file has, or is to have, of it; that is copied, except the queue. NULL: no memory. */
struct htw__job *htw__job_create(const struct htw_allocator *allocator,
                                 const struct htw__job_row *row);

/* It must not be attached. */
void htw__job_destroy(const struct htw_allocator *allocator, struct htw__job *job);

/* The bytes of memory that a job takes. */
size_t htw__job_memory(const struct htw__job *job);

struct htw__jobs {
    struct htw_allocator allocator;
    struct htw__key_table by_id;    /* all but QUEUED and ENDED */
    uint64_t seed;                  /* of its hashes: ids may come from a file of others */
    struct htw__heap deliveries;    /* WAITING, by position: of the queue that is delivered */
    struct htw__heap delays;        /* WAITING, by position: of the others */
    struct htw__heap leases;        /* LEASED, by the end */
    size_t attached;                /* jobs that are, so that there is room for them in each heap */
    uint64_t in_flight;             /* DELIVERING and IN_FLIGHT */
    size_t waiting_bytes;           /* of WAITING */
    size_t ready_bytes;             /* of READY */
    size_t in_flight_bytes;         /* of LEASED, DELIVERING and IN_FLIGHT */
    struct htw__link ready;         /* READY, of all queues, in the order in which they became so */
    struct htw__link held;          /* those that are held: lists show them, too */
    struct htw__queue_counts apart; /* the sum of those of the queues */
    struct htw__link crowded;       /* queues with two or more READY jobs */
};

void htw__jobs_init(struct htw__jobs *jobs, const struct htw_allocator *allocator);
void htw__jobs_fini(struct htw__jobs *jobs);

/* Gives a job its queue, and makes room for it in all heaps, so that no later change of its state can fail. 0 or
   -ENOMEM. */
int htw__jobs_attach(struct htw__jobs *jobs, struct htw__job *job, struct htw__queue *queue);

/* Destroys a QUEUED job, attached or not. */
void htw__jobs_discard(struct htw__jobs *jobs, struct htw__job *job);

/* Makes an attached QUEUED job WAITING, READY, or LEASED until `lease_end_ns` of it. */
void htw__jobs_add(struct htw__jobs *jobs, struct htw__job *job, enum htw__job_state state);

/* A WAITING or READY or LEASED job that is not held becomes READY or LEASED. */
void htw__jobs_become(struct htw__jobs *jobs, struct htw__job *job, enum htw__job_state state);

struct htw__job *htw__job_of_turn(const struct htw__heap_node *turn);

/* The job that comes first in a heap: WAITING, LEASED, or READY of a queue; NULL: none. And how many are WAITING. */
struct htw__job *htw__jobs_first(const struct htw__heap *heap);
uint32_t htw__jobs_waiting(const struct htw__jobs *jobs);

/* A queue with many READY jobs: the first of some that had not been looked at for longest. NULL: none has two. */
struct htw__queue *htw__jobs_crowded(struct htw__jobs *jobs);

/* The order of jobs in the heap of their state: by deadline, by priority and putting, or by the end of the lease. */
bool htw__jobs_precede(const struct htw__heap_node *a, const struct htw__heap_node *b);

/* NULL: no job in memory has the id. */
struct htw__job *htw__jobs_find(const struct htw__jobs *jobs, uint64_t id);

/* Releases key and payload of a job of the table, unless they are part of it; and restores them. False: no memory. */
void htw__jobs_release_bytes(struct htw__jobs *jobs, struct htw__job *job);
bool htw__jobs_restore_bytes(struct htw__jobs *jobs, struct htw__job *job, const void *key,
                             const void *payload);

/* Since when the oldest job in memory is to be delivered or leased: its deadline or its put. It may be to come.
   INT64_MAX: none. */
int64_t htw__jobs_oldest_ns(const struct htw__jobs *jobs);

/* The next job that is held, behind `job`; NULL: the first, and none. */
struct htw__job *htw__jobs_next_held(const struct htw__jobs *jobs, const struct htw__job *job);

/* Takes a job out of the heap of its state, and puts it back. */
void htw__jobs_hold(struct htw__jobs *jobs, struct htw__job *job);
void htw__jobs_unhold(struct htw__jobs *jobs, struct htw__job *job);

/* A WAITING job becomes DELIVERING. */
void htw__jobs_deliver(struct htw__jobs *jobs, struct htw__job *job);

/* `deliver` has returned: the job is IN_FLIGHT, or, if it has ENDED, destroyed. */
void htw__jobs_delivered(struct htw__jobs *jobs, struct htw__job *job);

/* Forgets a job of the table, in any state. It is destroyed, if `deliver` is not running. */
void htw__jobs_end(struct htw__jobs *jobs, struct htw__job *job);

/* Forgets the later half of the WAITING jobs behind `keep`, but not the first one. Returns the last that is left in
   the heaps, or `keep`. O(n log n). */
struct htw__position htw__jobs_evict(struct htw__jobs *jobs, struct htw__position keep);

#endif /* HTW_SRC_JOURNAL_JOBS_H */

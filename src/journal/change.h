/* SPDX-License-Identifier: MIT */
/* change.h - what a caller wants written: jobs that end or change, and jobs that are put. */
#ifndef HTW_SRC_JOURNAL_CHANGE_H
#define HTW_SRC_JOURNAL_CHANGE_H

#include "state.h"

#include <semaphore.h>

struct htw__lease_request;

/* Besides enum htw_job_step. */
enum {
    HTW__STEP_EXPIRE =
        HTW_JOB_EXTEND + 1, /* a lease has ended by itself, in a queue with a policy */
    HTW__STEP_LEASE,        /* READY becomes LEASED; with an id, also DELAYED and BURIED */
    HTW__STEP_NONE,         /* it was optional, and is not possible */
    HTW__STEP_STAGE,        /* READY: into a place of READY, so that memory may forget it */
};

struct htw__step {
    uint64_t id;
    const void *key; /* that says the id; NULL: `id` does */
    size_t key_size;
    const void *found_key; /* `key`, when it has said the id in the transaction that is open */
    int kind;
    uint32_t attempt;
    int64_t deadline_ns;
    bool has_priority;
    uint32_t priority;
    struct htw__lease_request *request; /* LEASE */
    bool is_optional; /* where it is not possible, the others of the change are made */
    /* From when it is held on: */
    bool is_held;
    bool is_in_memory_only; /* the file stays as it is */
    bool is_written;        /* in the transaction that is open */
    enum htw_job_state from, filed;
    struct htw__queue *queue; /* that counts the job as `filed` in the file; NULL: none does */
    struct htw__counters counters;
    struct htw__job *job; /* as it is after; NULL: memory does not need it */
    struct htw__whereabouts to;
};

/* What struct htw_journal_change has not: a kick, or the policy of a queue. */
struct htw__special {
    bool has_queue;
    const char *queue; /* its name; valid until the change is admitted */
    uint32_t kick_count;
    const struct htw_queue_policy *policy;
};

struct htw__change {
    struct htw__change *next; /* in the queue */
    size_t size;              /* of the block */
    htw_durable *durable;
    void *arg;
    enum htw__own own;
    sem_t *finished; /* of a caller that waits; NULL: none */
    int result;      /* as far as it is known */
    bool is_refused; /* whatever becomes of the transaction */
    int64_t queued_ns;
    struct htw__step *steps;
    size_t step_count;
    struct htw__special special;
    struct htw__queue *queue; /* of `special` */
    uint32_t kicked;          /* jobs */
    struct htw__job *jobs;    /* owned, until the commit */
    size_t job_count;
    size_t bytes; /* that count for max_memory */
};

/* 0, -EINVAL or -EMSGSIZE. */
int htw__change_validate_job(const struct htw_job *job);

/* Makes a change of what the caller describes, which is copied. `special`: NULL, or more of it. */
struct htw__change *htw__change_create(struct htw_journal *journal,
                                       const struct htw_journal_change *wanted,
                                       const struct htw__special *special, int *ret_error);

/* Adds a change to the queue. Whether the writer must be told. Under the lock. */
bool htw__change_append(struct htw_journal *journal, struct htw__change *change);

/* Gives its jobs ids and queues, before it is appended. Under the lock, which this may release meanwhile. 0, or why not:
   it stays the caller's. */
int htw__change_admit(struct htw_journal *journal, struct htw__change *change,
                      const struct htw_journal_change *wanted);

/* Adds a change for which no thread waits. Under the lock. 0 or -ENOMEM. */
int htw__submit_own(struct htw_journal *journal, enum htw__own own, const struct htw__step *steps,
                    size_t count);

/* Its jobs leave their queues, which they may have entered, and are destroyed. Under the lock. */
void htw__change_discard_jobs(struct htw_journal *journal, struct htw__change *change);

/* Releases the change and what it owns. */
void htw__change_destroy(struct htw_journal *journal, struct htw__change *change);

/* The result of a change that has failed or succeeded, with its sentence for this thread. Under the
   lock. */
int htw__change_report(const struct htw_journal *journal, const struct htw__change *change);

#endif /* HTW_SRC_JOURNAL_CHANGE_H */

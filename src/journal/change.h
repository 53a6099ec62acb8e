/* SPDX-License-Identifier: MIT */
/* change.h - what a caller wants written: jobs that end or change, jobs that are put, and a mark. */
#ifndef HTW_SRC_JOURNAL_CHANGE_H
#define HTW_SRC_JOURNAL_CHANGE_H

#include "state.h"

#include <semaphore.h>

struct htw__request;

/* Besides enum htw_job_step. */
enum {
    HTW__STEP_EXPIRE =
        HTW_JOB_EXTEND + 1, /* a lease has ended by itself, in a queue with a policy */
    HTW__STEP_LEASE,        /* READY becomes LEASED; with an id, also DELAYED and BURIED */
    HTW__STEP_NONE,         /* it was optional, and is not possible */
    HTW__STEP_STAGE,        /* READY: into a place of READY, so that memory may forget it */
    HTW__STEP_FORGET,       /* of no job: history.h */
    HTW__STEP_RECUR, /* of no job: recur.h. `key`: the name of the rule, `id`: its instant before */
    HTW__STEP_TAKE_IN, /* from the inbox of a guest */
};

struct htw__step {
    uint64_t id;
    const void *key; /* that says the id; NULL: `id` does */
    size_t key_size;
    int kind;
    uint32_t attempt;
    int64_t deadline_ns;
    bool has_priority;
    uint32_t priority;
    struct htw__request *request; /* LEASE */
    bool is_optional;             /* where it is not possible, the others of the change are made */
    /* From when it is held on: */
    bool is_held;
    bool is_in_memory_only; /* the file stays as it is */
    enum htw_job_state from, filed;
    struct htw__queue *queue; /* that counts the job as `filed` in the file; NULL: none does */
    bool was_durable;
    struct htw__counters counters;
    struct htw__job *job; /* as it is after; NULL: memory does not need it */
    struct htw__whereabouts to;
    uint64_t replaced; /* TAKE_IN: the job that had the key; 0: none */
};

struct htw__change {
    struct htw__change *next; /* in the queue */
    size_t size;              /* of the block; 0: it is on the stack of a caller that waits */
    htw_durable *durable;
    void *arg;
    bool is_waited_for; /* by a caller */
    bool is_internal;   /* nobody is told of its failure */
    bool is_staging;    /* its steps make memory free */
    bool is_taking_in;  /* its steps do */
    sem_t *finished;    /* of that; NULL: none */
    int result;         /* as far as it is known */
    int64_t queued_ns;
    const uint64_t *done;
    size_t done_count;
    struct htw__step *steps;
    size_t step_count;
    size_t steps_size;        /* of a block of their own; 0: they are elsewhere */
    struct htw__queue *queue; /* whose jobs are kicked, or that receives the policy */
    uint32_t kick_count, kicked;
    const struct htw_queue_policy *policy;
    const struct htw_recurring *recurring; /* a rule that is set, or removed */
    struct htw__job *jobs;                 /* owned, until the commit */
    size_t job_count;
    const void *mark; /* NULL: the mark stays */
    size_t mark_size;
    size_t bytes;     /* that count for max_memory */
    uint64_t done_id; /* room for a single id */
};

/* Changes that are not in struct htw_journal_change. */
struct htw__special {
    const char *queue;
    uint32_t kick_count;
    const struct htw_queue_policy *policy;
    const struct htw_recurring *recurring;
};

/* 0, -EINVAL or -EMSGSIZE. */
int htw__change_validate_job(const struct htw_job *job);

/* Makes a change of what the caller describes. `is_waited_for`: it uses the caller's arrays; otherwise
   it copies them. The change, and `own_step` for a single step, are on the stack of a caller that waits. 0 or a negative errno. */
int htw__change_init(struct htw_journal *journal, struct htw__change *change,
                     const struct htw_journal_change *wanted, struct htw__step *own_step);
struct htw__change *htw__change_create(struct htw_journal *journal,
                                       const struct htw_journal_change *wanted, int *ret_error);

/* Adds a change to the queue. Whether the writer must be told. Under the lock. */
bool htw__change_append(struct htw_journal *journal, struct htw__change *change);

/* Adds a change to the queue, and its jobs to theirs. Under the lock. 0, or why not: it stays the caller's. */
int htw__submit(struct htw_journal *journal, struct htw__change *change,
                const struct htw_journal_change *wanted);

/* Adds a change of steps that nobody waits for. Under the lock. 0 or -ENOMEM. */
int htw__submit_steps(struct htw_journal *journal, const struct htw__step *steps, size_t count);

/* Its jobs leave their queues, which they may have entered, and are destroyed. Under the lock. */
void htw__change_discard_jobs(struct htw_journal *journal, struct htw__change *change);

/* Releases what the change owns, and the change itself unless it is on a stack. */
void htw__change_destroy(struct htw_journal *journal, struct htw__change *change);

/* The result of a change that has failed or succeeded, with its sentence for this thread. Under the
   lock. */
int htw__change_report(const struct htw_journal *journal, const struct htw__change *change);

#endif /* HTW_SRC_JOURNAL_CHANGE_H */

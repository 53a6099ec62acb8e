/* SPDX-License-Identifier: MIT */
/*
 * work_queue.h - batches of due timers, and the queue of batches between expirers and workers.
 *
 * There is a fixed number of batches. When all are in use, expirers wait, and due timers stay in
 * the wheel, where a cancel only unlinks them. workers.c has the threads that empty the queue.
 */
#ifndef HTW_SRC_SCHEDULER_WORK_QUEUE_H
#define HTW_SRC_SCHEDULER_WORK_QUEUE_H

#include "../base/lock.h"
#include "deputy.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The size of a batch, and the most timers, or steps of demotion, for which the lock of a shard is
   held at a time. */
#define HTW__SLICE 64u

struct htw__record;
struct htw__shard;
struct htw_scheduler;

/* Timers of one shard that are due, on their way to a callback. */
struct htw__batch {
    struct htw__shard *shard;
    struct htw__batch *link; /* in the queue, or among the spare ones */
    uint32_t count;
    _Atomic uint32_t next; /* the first that has not started */
    /* Guarded by the mutex of the queue. */
    bool queued;
    uint32_t runners;   /* threads that run it */
    uint32_t seen_next; /* `next` at the last rebalance */
    struct htw__record *records[HTW__SLICE];
};

struct htw__work_queue {
    struct htw__mutex mutex;       /* guards all that follows */
    htw__system_condition work;    /* a batch was queued, or `stop` was set */
    htw__system_condition changed; /* a batch has become spare, or `stop` was set */
    struct htw__batch *first;      /* the queue */
    struct htw__batch *last;
    struct htw__batch *spare; /* batches that are not in use */
    uint32_t queued;          /* batches in the queue */
    uint64_t outstanding;     /* `queued` and `running`; with an executor: tasks */
    int64_t rebalanced_ns;    /* see htw__workers_rebalance() */
    uint32_t running;         /* threads that run a batch */
    struct htw__deputy deputy;
    unsigned started; /* workers that were started */
    unsigned idle;    /* workers that wait for `work` */
    unsigned waiting; /* threads that wait for `changed` */
    bool stop;
};

void htw__work_queue_init(struct htw__work_queue *queue);
void htw__work_queue_fini(struct htw__work_queue *queue);

/* The next record of a batch that has not started; NULL: none. Any thread. */
static inline struct htw__record *htw__batch_next(struct htw__batch *batch) {
    /* order: A number for each thread; the mutex of the queue published the records. */
    uint32_t next = atomic_fetch_add_explicit(&batch->next, 1, memory_order_relaxed);
    return next < batch->count ? batch->records[next] : NULL;
}

/* Whether a batch has a record that has not started. Any thread. */
static inline bool htw__batch_has_next(const struct htw__batch *batch) {
    /* order: A hint. */
    return atomic_load_explicit(&batch->next, memory_order_relaxed) < batch->count;
}

/* ---- under the mutex */

/* NULL: all batches are in use. */
struct htw__batch *htw__work_queue_take_spare(struct htw__work_queue *queue);
void htw__work_queue_put_spare(struct htw__work_queue *queue, struct htw__batch *batch);

void htw__work_queue_append(struct htw__work_queue *queue, struct htw__batch *batch);

/* The first batch, which the caller runs until htw__work_queue_finish(); the last thread that runs
   it makes it spare. The queue must not be empty. */
struct htw__batch *htw__work_queue_take_first(struct htw__work_queue *queue);
void htw__work_queue_finish(struct htw__work_queue *queue, struct htw__batch *batch);

/* Unlocks the mutex, then wakes the deputy if that is wanted: a system call, for which no other
   thread must wait. */
void htw__work_queue_unlock(struct htw__work_queue *queue);

/* ---- these take the mutex */

/* Counts the tasks of the user's executor: stop and advance wait for them. */
void htw__work_queue_add_outstanding(struct htw__work_queue *queue, uint32_t count);
void htw__work_queue_end_outstanding(struct htw__work_queue *queue);

/* Wakes all threads that wait, since the scheduler is being stopped. */
void htw__work_queue_stop(struct htw__work_queue *queue);

/* ---- in the place of workers */

/* Hands the timers of a batch to the executor of the user. The batch may be used again at once.
   executor.c */
void htw__executor_submit(struct htw_scheduler *scheduler, struct htw__batch *batch);

#endif /* HTW_SRC_SCHEDULER_WORK_QUEUE_H */

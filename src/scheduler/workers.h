/* SPDX-License-Identifier: MIT */
/*
 * workers.h - the threads that run callbacks.
 *
 * An expirer with workers runs cheap callbacks itself: to wake a worker would cost more. A worker,
 * the deputy, waits meanwhile. If the expirer has been running callbacks for a millisecond, the two
 * threads exchange their places: the deputy is the expirer from then on, and the other thread is a
 * worker when its callback returns. An expirer that has been busy for a millisecond also hands
 * batches to workers. At most `worker_count` threads run callbacks at once, expirers included.
 *
 * A worker runs a batch as a whole. Workers are started when they are needed. A callback that takes
 * long delays the rest of its batch by about a millisecond: then the rest is handed to another
 * thread (htw__workers_rebalance()).
 */
#ifndef HTW_SRC_SCHEDULER_WORKERS_H
#define HTW_SRC_SCHEDULER_WORKERS_H

#include "state.h"

/* A thread of the library. */
struct htw__thread {
    struct htw_scheduler *scheduler;
    /* What it is at present. Guarded by the mutex of the queue while it runs a batch as an
       expirer. */
    struct htw__worker *place;
    struct htw__run_stats *run_stats;
};

/* The place of a thread that can run callbacks. The last ones are those of the expirers. */
struct htw__worker {
    struct htw_scheduler *scheduler;
    /* Of the thread that began at this place. NULL: there was none, or it runs no callbacks. */
    struct htw__run_stats *_Atomic run_stats;
    /* Guarded by the mutex of the queue. */
    pthread_t id;
    struct htw__thread *thread;    /* that is at this place */
    struct htw__batch *batch;      /* that it runs */
    int64_t since_ns;              /* an expirer: since when */
    struct htw__batch *seen_batch; /* what the last rebalance saw */
    uint32_t seen_next;
};

/* 0, -ENOMEM, -EMFILE or -ENFILE. In any case htw__workers_fini() must follow. */
int htw__workers_init(struct htw_scheduler *scheduler);
void htw__workers_fini(struct htw_scheduler *scheduler);

/* The number of places. */
static inline uint32_t htw__place_count(const struct htw_scheduler *scheduler) {
    return scheduler->worker_count + scheduler->expirer_count;
}

static inline struct htw__worker *htw__expirer_place(const struct htw_scheduler *scheduler,
                                                     uint32_t index) {
    return &scheduler->workers[scheduler->worker_count + index];
}

static inline bool htw__is_expirer(const struct htw__worker *place) {
    return place >= htw__expirer_place(place->scheduler, 0);
}

/* 0 or -ENOMEM. */
int htw__place_add_run_stats(struct htw__worker *place);
struct htw__run_stats *htw__place_run_stats(const struct htw__worker *place);

/* Starts the workers that have not been started: all, or the first one. 0 or -ENOMEM. */
int htw__workers_start(struct htw_scheduler *scheduler, bool all);

/* Starts the thread of an expirer. 0 or -ENOMEM. */
int htw__workers_start_expirer(struct htw_scheduler *scheduler, uint32_t index);

/* ---- for the threads: expirer.c has their main function */

/* `place` is a struct htw__worker. */
void *htw__run_thread(void *place);

/* The thread has the place from now on. */
void htw__workers_enter(struct htw__thread *thread);

/* Works until the thread is an expirer, or the scheduler is being stopped. */
void htw__workers_work(struct htw__thread *thread);

/* ---- for expirers. `thread` is NULL where a thread of the user's takes the expirer's place */

/* A spare batch. Waits until there is one, and runs batches of the queue meanwhile. NULL: the
   scheduler is being stopped, or the thread is a worker now. */
struct htw__batch *htw__workers_wait_for_batch(struct htw_scheduler *scheduler,
                                               struct htw__thread *thread);

/* Runs a batch, or hands it to the workers: if the expirer has been busy for long. A batch without
   timers becomes spare. Afterwards the thread may be a worker. */
void htw__workers_submit(struct htw_scheduler *scheduler, struct htw__thread *thread,
                         struct htw__batch *batch, int64_t busy_since_ns);

/* The expirer has nothing else to do: runs the batches of the queue, unless as many threads as
   allowed run some. Afterwards the thread may be a worker. */
void htw__workers_finish(struct htw__thread *thread);

/* Whether htw__workers_rebalance() may be needed soon, because a batch waits behind a callback. */
bool htw__workers_need_rebalance(struct htw_scheduler *scheduler);

/* If a thread has been in one callback since the last call, hands the rest of its batch to another
   one. Acts at most once a millisecond. */
void htw__workers_rebalance(struct htw_scheduler *scheduler);

/* Waits until all that was submitted has run. False: the scheduler is being stopped. */
bool htw__workers_wait_until_idle(struct htw_scheduler *scheduler);

/* After htw__work_queue_stop(): waits until the workers have ended and the executor has no task.
   Timers that were not started are kept for stop. */
void htw__workers_join(struct htw_scheduler *scheduler);

#endif /* HTW_SRC_SCHEDULER_WORKERS_H */

/* SPDX-License-Identifier: MIT */
/*
 * workers.h - the threads that run callbacks.
 *
 * An expirer with workers runs callbacks itself, since to wake a worker costs more than most of them. One idle
 * worker, the deputy, is ready to take its role:
 *
 *     time    thread A                           thread B
 *     0       expirer, begins with a batch       deputy, sleeps until 1 ms
 *     1 ms    in a callback that takes long      wakes up, is the expirer; the batch is in the queue again
 *     5 ms    the callback returns: a worker     expirer
 *
 * If A had ended its batch in time, it would have set the deputy's alarm to a later time: B would sleep on.
 * An expirer that has been busy for a millisecond also hands batches to workers. At most `worker_count` threads
 * run callbacks at once, expirers included.
 *
 * Workers are started when they are needed. A callback that takes long delays the rest of its batch
 * by about a millisecond: then the batch is in the queue again, and another thread joins in
 * (htw__workers_rebalance()).
 */
#ifndef HTW_SRC_SCHEDULER_WORKERS_H
#define HTW_SRC_SCHEDULER_WORKERS_H

#include "state.h"

/* A thread of the library. The last ones begin as the expirers. */
struct htw__thread {
    struct htw_scheduler *scheduler;
    struct htw__run_stats *_Atomic run_stats; /* NULL: not started, or it runs no callbacks */
    htw__system_thread id;
    /* Guarded by the mutex of the queue. Another thread takes the role only while this one runs a
       batch; otherwise it may look without the mutex. */
    struct htw__expirer *expirer; /* whose role it has; NULL: it is a worker */
    struct htw__batch *batch;     /* that it runs */
    int64_t since_ns;             /* an expirer: since when */
};

/* 0, -ENOMEM, -EMFILE or -ENFILE. In any case htw__workers_fini() must follow. */
int htw__workers_init(struct htw_scheduler *scheduler);
void htw__workers_fini(struct htw_scheduler *scheduler);

static inline uint32_t htw__thread_count(const struct htw_scheduler *scheduler) {
    return scheduler->worker_count + scheduler->expirer_count;
}

/* The thread that begins as an expirer. */
static inline struct htw__thread *htw__first_thread_of(const struct htw_scheduler *scheduler,
                                                       uint32_t expirer) {
    return &scheduler->threads[scheduler->worker_count + expirer];
}

/* 0 or -ENOMEM. */
int htw__thread_add_run_stats(struct htw__thread *thread);
struct htw__run_stats *htw__thread_run_stats(const struct htw__thread *thread);

/* Starts the workers that have not been started: all, or the first one. 0 or -ENOMEM. */
int htw__workers_start(struct htw_scheduler *scheduler, bool all);

/* Starts the thread of an expirer. 0 or -ENOMEM. */
int htw__workers_start_expirer(struct htw_scheduler *scheduler, uint32_t index);

/* ---- for the threads: expirer.c has their main function */

/* `thread` is a struct htw__thread. */
void *htw__run_thread(void *thread);

/* Works until the thread is an expirer, or the scheduler is being stopped. */
void htw__workers_work(struct htw__thread *thread);

/* ---- for expirers. `thread` is NULL where a thread of the user's acts as the expirer */

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

/* An expirer is about to sleep for `left_ns`: the deputy can sleep on. But to set its alarm costs as much as many
   short callbacks, so that is left out if the expirer will run callbacks, and set it, before it rings. */
void htw__workers_dismiss_deputy(struct htw_scheduler *scheduler, int64_t left_ns);

/* Whether htw__workers_rebalance() may be needed soon, because a batch waits behind a callback. */
bool htw__workers_need_rebalance(struct htw_scheduler *scheduler);

/* Batches whose threads have been in one callback each since the last call are queued again, so that
   another thread joins in. Acts at most once a millisecond. */
void htw__workers_rebalance(struct htw_scheduler *scheduler);

/* Waits until all that was submitted has run. False: the scheduler is being stopped. */
bool htw__workers_wait_until_idle(struct htw_scheduler *scheduler);

/* After htw__work_queue_stop(): waits until the workers have ended and the executor has no task.
   Timers that were not started are in the wheel again. */
void htw__workers_join(struct htw_scheduler *scheduler);

#endif /* HTW_SRC_SCHEDULER_WORKERS_H */

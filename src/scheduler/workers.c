/* SPDX-License-Identifier: MIT */
/* workers.c - the threads that run callbacks. */
#include "workers.h"

#include "../base/clock.h"
#include "../base/thread.h"
#include "run.h"

/* Enough that expirers and workers rarely wait for each other. */
#define BATCHES_PER_WORKER 4u

/* How long a callback may delay the rest of its batch. */
#define REBALANCE_PERIOD_NS HTW_MILLISECOND

int htw__workers_init(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    if (scheduler->worker_count == 0)
        return 0;
    scheduler->batch_count =
        BATCHES_PER_WORKER * scheduler->worker_count + scheduler->expirer_count;
    scheduler->batches =
        htw__allocate(&scheduler->allocator, scheduler->batch_count * sizeof(*scheduler->batches));
    scheduler->workers =
        htw__allocate(&scheduler->allocator, scheduler->worker_count * sizeof(*scheduler->workers));
    /* Before the first failure: htw__workers_fini() reads them. */
    for (uint32_t i = 0; scheduler->workers != NULL && i < scheduler->worker_count; i++)
        scheduler->workers[i] = (struct htw__worker) { .scheduler = scheduler };
    if (scheduler->batches == NULL || scheduler->workers == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < scheduler->batch_count; i++) {
        struct htw__batch *batch = &scheduler->batches[i];
        HTW__ANNOTATE_ATOMIC(&batch->next, sizeof(batch->next));
        htw__work_queue_put_spare(queue, batch);
    }
    for (uint32_t i = 0; i < scheduler->worker_count; i++)
        if ((scheduler->workers[i].run_stats = htw__run_stats_create(scheduler)) == NULL)
            return -ENOMEM;
    return 0;
}

void htw__workers_fini(struct htw_scheduler *scheduler) {
    for (uint32_t i = 0; scheduler->workers != NULL && i < scheduler->worker_count; i++)
        htw__run_stats_destroy(scheduler, scheduler->workers[i].run_stats);
    htw__release(&scheduler->allocator, scheduler->workers,
                 scheduler->worker_count * sizeof(*scheduler->workers));
    htw__release(&scheduler->allocator, scheduler->batches,
                 scheduler->batch_count * sizeof(*scheduler->batches));
}

/* ---- under the mutex of the work queue */

static void *work(void *arg);

static int start_one(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    struct htw__worker *worker = &scheduler->workers[queue->started];
    int error = htw__thread_start(&worker->thread, scheduler->thread_name, "worker", queue->started,
                                  work, worker);
    if (error == 0)
        queue->started++;
    return error;
}

/* Wakes or starts a worker for the queue. An idle worker may have been woken for another batch
   before and not run yet, so there must be an idle worker for each batch in the queue. If no thread
   can be started, the running workers empty the queue: there is at least one. */
static void wake_worker(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    if (queue->idle > 0)
        pthread_cond_signal(&queue->work);
    if (queue->idle < queue->queued && queue->started < scheduler->worker_count && !queue->stop)
        start_one(scheduler);
}

/* Moves the timers of a batch that its worker has not begun with to another batch in the queue. */
static void split(struct htw_scheduler *scheduler, struct htw__batch *batch) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    struct htw__batch *rest = htw__work_queue_take_spare(queue);
    if (rest == NULL)
        return;
    uint32_t next = atomic_exchange_explicit(&batch->next, HTW__SLICE, memory_order_relaxed);
    rest->shard = batch->shard;
    rest->count = 0;
    atomic_store_explicit(&rest->next, 0, memory_order_relaxed);
    while (next < batch->count)
        rest->records[rest->count++] = batch->records[next++];
    if (rest->count == 0) {
        htw__work_queue_put_spare(queue, rest);
        return;
    }
    htw__work_queue_append(queue, rest);
    wake_worker(scheduler);
}

static void rebalance(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    int64_t now_ns = htw__clock_monotonic_ns();
    if (now_ns < queue->rebalanced_ns + REBALANCE_PERIOD_NS)
        return;
    queue->rebalanced_ns = now_ns;
    for (unsigned i = 0; i < queue->started; i++) {
        struct htw__worker *worker = &scheduler->workers[i];
        struct htw__batch *batch = worker->batch;
        if (batch == NULL)
            continue;
        uint32_t next = atomic_load_explicit(&batch->next, memory_order_relaxed);
        bool stuck = batch == worker->seen_batch && next == worker->seen_next;
        if (stuck && next < batch->count)
            split(scheduler, batch);
        worker->seen_batch = batch;
        worker->seen_next = next;
    }
    if (queue->first != NULL)
        wake_worker(scheduler);
}

/* Waits until a batch becomes spare, and rebalances at least once in each period: one callback may
   delay its batch while others come and go. */
static void wait_for_change(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* the mutex would stay locked */
    queue->waiting++;
    if (scheduler->worker_count < 2) {
        htw__mutex_wait(&queue->mutex, &queue->changed);
    } else {
        int64_t until_ns = htw__clock_monotonic_ns() + REBALANCE_PERIOD_NS;
        struct timespec until = { (time_t)(until_ns / HTW_SECOND), (long)(until_ns % HTW_SECOND) };
        htw__mutex_wait_until(&queue->mutex, &queue->changed, &until);
        rebalance(scheduler);
    }
    pthread_setcancelstate(cancel_state, NULL);
    queue->waiting--;
}

static void finish_batch(struct htw__worker *worker) {
    struct htw__work_queue *queue = &worker->scheduler->work_queue;
    struct htw__batch *batch = worker->batch;
    worker->batch = NULL;
    queue->outstanding--;
    htw__work_queue_put_spare(queue, batch);
}

/* ---- the threads */

/* If a callback has ended the thread, the stack is unwound to here, and this continues the work of
   the thread, which ends when this returns. `nothrow`: otherwise clang ends the program when a
   later callback unwinds the stack through this function again. */
static __attribute__((nothrow, noinline)) void continue_thread(struct htw__worker **worker) {
    struct htw__work_queue *queue = &(*worker)->scheduler->work_queue;
    if ((*worker)->batch == NULL || htw__is_child((*worker)->scheduler))
        return;
    htw__mutex_lock(&queue->mutex);
    finish_batch(*worker);
    htw__mutex_unlock(&queue->mutex);
    work(*worker);
}

static void *work(void *arg) {
    struct htw__worker *worker __attribute__((cleanup(continue_thread))) = arg;
    struct htw__work_queue *queue = &worker->scheduler->work_queue;
    htw__mutex_lock(&queue->mutex);
    for (;;) {
        while (queue->first == NULL && !queue->stop) {
            queue->idle++;
            htw__mutex_wait(&queue->mutex, &queue->work);
            queue->idle--;
        }
        if (queue->first == NULL)
            break;
        struct htw__batch *batch = htw__work_queue_take_first(queue);
        worker->batch = batch;
        /* Two batches that came before this thread ran may both have woken this thread only. */
        if (queue->first != NULL)
            wake_worker(worker->scheduler);
        htw__mutex_unlock(&queue->mutex);
        htw__run_batch(worker->run_stats, batch);
        if (htw__is_child(worker->scheduler))
            return NULL; /* the child ends with its only thread */
        htw__mutex_lock(&queue->mutex);
        finish_batch(worker);
    }
    htw__mutex_unlock(&queue->mutex);
    return NULL;
}

int htw__workers_start(struct htw_scheduler *scheduler, bool all) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    unsigned target = all ? scheduler->worker_count : 1;
    int error = 0;
    if (scheduler->worker_count == 0)
        return 0;
    htw__mutex_lock(&queue->mutex);
    while (error == 0 && queue->started < target)
        error = start_one(scheduler);
    htw__mutex_unlock(&queue->mutex);
    return error;
}

void htw__workers_join(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    for (unsigned i = 0; i < queue->started; i++)
        pthread_join(scheduler->workers[i].thread, NULL);
    /* A batch may have been queued after the workers had ended. */
    while (queue->first != NULL) {
        struct htw__batch *batch = htw__work_queue_take_first(queue);
        htw__keep_unstarted(batch);
        htw__work_queue_put_spare(queue, batch);
        queue->outstanding--;
    }
    htw__mutex_lock(&queue->mutex);
    while (queue->outstanding > 0)
        wait_for_change(scheduler);
    htw__mutex_unlock(&queue->mutex);
}

/* ---- for the expirers */

struct htw__batch *htw__workers_wait_for_batch(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    struct htw__batch *batch;
    htw__mutex_lock(&queue->mutex);
    while ((batch = htw__work_queue_take_spare(queue)) == NULL && !queue->stop)
        wait_for_change(scheduler);
    htw__mutex_unlock(&queue->mutex);
    return batch;
}

void htw__workers_submit(struct htw_scheduler *scheduler, struct htw__batch *batch) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    htw__mutex_lock(&queue->mutex);
    if (batch->count == 0) {
        htw__work_queue_put_spare(queue, batch);
    } else {
        htw__work_queue_append(queue, batch);
        /* A worker that is awake will soon take the only batch of the queue, and waking another
           worker costs more than most batches. If none takes it, rebalance() notices. */
        if (queue->queued > 1 || queue->started == queue->idle)
            wake_worker(scheduler);
    }
    htw__mutex_unlock(&queue->mutex);
}

bool htw__workers_need_rebalance(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    if (scheduler->worker_count < 2)
        return false;
    htw__mutex_lock(&queue->mutex);
    bool needed = queue->first != NULL;
    for (unsigned i = 0; i < queue->started && !needed; i++) {
        const struct htw__batch *batch = scheduler->workers[i].batch;
        needed = batch != NULL && htw__batch_has_next(batch);
    }
    htw__mutex_unlock(&queue->mutex);
    return needed;
}

void htw__workers_rebalance(struct htw_scheduler *scheduler) {
    if (scheduler->worker_count < 2)
        return;
    htw__mutex_lock(&scheduler->work_queue.mutex);
    rebalance(scheduler);
    htw__mutex_unlock(&scheduler->work_queue.mutex);
}

bool htw__workers_wait_until_idle(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    htw__mutex_lock(&queue->mutex);
    while (queue->outstanding > 0 && !queue->stop)
        wait_for_change(scheduler);
    bool idle = !queue->stop;
    htw__mutex_unlock(&queue->mutex);
    return idle;
}

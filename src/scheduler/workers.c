/* SPDX-License-Identifier: MIT */
/* workers.c - the pool of threads that run callbacks. */
#include "workers.h"

#include "run.h"
#include "thread.h"

#include <errno.h>

/* Enough that expirers and workers need not wait for each other. */
#define BATCHES_A_WORKER 4u

/* How often who waits for the workers looks whether a callback keeps others waiting. */
#define WATCH_PERIOD_NS HTW_MILLISECOND

int htw__pool_init(struct htw_scheduler *scheduler) {
    struct htw__pool *pool = &scheduler->pool;
    *pool = (struct htw__pool) { 0 };
    htw__mutex_init(&pool->mutex, HTW__RANK_SCHEDULER_POOL);
    pthread_cond_init(&pool->work, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (scheduler->worker_count == 0)
        return 0;
    scheduler->batch_count = BATCHES_A_WORKER * scheduler->worker_count + scheduler->expirer_count;
    scheduler->batches =
        htw__allocate(&scheduler->allocator, scheduler->batch_count * sizeof(*scheduler->batches));
    scheduler->workers =
        htw__allocate(&scheduler->allocator, scheduler->worker_count * sizeof(*scheduler->workers));
    /* First of all, since htw__pool_fini() looks at them. */
    for (uint32_t i = 0; scheduler->workers != NULL && i < scheduler->worker_count; i++)
        scheduler->workers[i] = (struct htw__worker) { .scheduler = scheduler };
    if (scheduler->batches == NULL || scheduler->workers == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < scheduler->batch_count; i++) {
        struct htw__batch *batch = &scheduler->batches[i];
        HTW__ANNOTATE_ATOMIC(&batch->next, sizeof(batch->next));
        batch->link = pool->spare;
        pool->spare = batch;
    }
    for (uint32_t i = 0; i < scheduler->worker_count; i++)
        if ((scheduler->workers[i].runner = htw__runner_create(scheduler)) == NULL)
            return -ENOMEM;
    return 0;
}

void htw__pool_fini(struct htw_scheduler *scheduler) {
    struct htw__pool *pool = &scheduler->pool;
    for (uint32_t i = 0; scheduler->workers != NULL && i < scheduler->worker_count; i++)
        htw__runner_destroy(scheduler, scheduler->workers[i].runner);
    htw__release(&scheduler->allocator, scheduler->workers,
                 scheduler->worker_count * sizeof(*scheduler->workers));
    htw__release(&scheduler->allocator, scheduler->batches,
                 scheduler->batch_count * sizeof(*scheduler->batches));
    pthread_cond_destroy(&pool->changed);
    pthread_cond_destroy(&pool->work);
    htw__mutex_fini(&pool->mutex);
}

/* ---- under the mutex */

static struct htw__batch *take_spare(struct htw__pool *pool) {
    struct htw__batch *batch = pool->spare;
    if (batch != NULL)
        pool->spare = batch->link;
    return batch;
}

static void put_spare(struct htw__pool *pool, struct htw__batch *batch) {
    batch->link = pool->spare;
    pool->spare = batch;
    if (pool->waiting > 0)
        pthread_cond_broadcast(&pool->changed);
}

static struct htw__batch *take_first(struct htw__pool *pool) {
    struct htw__batch *batch = pool->first;
    pool->first = batch->link;
    if (pool->first == NULL)
        pool->last = NULL;
    pool->queued--;
    return batch;
}

static void append(struct htw__pool *pool, struct htw__batch *batch) {
    batch->link = NULL;
    if (pool->last == NULL)
        pool->first = batch;
    else
        pool->last->link = batch;
    pool->last = batch;
    pool->queued++;
    pool->outstanding++;
}

static void *work(void *arg);

static int start_one(struct htw_scheduler *scheduler) {
    struct htw__pool *pool = &scheduler->pool;
    struct htw__worker *worker = &scheduler->workers[pool->started];
    int error =
        htw__thread_start(&worker->thread, scheduler, "worker", pool->started, work, worker);
    if (error == 0)
        pool->started++;
    return error;
}

/* Finds somebody for what is queued. Threads that are idle may have been summoned for another batch
   already, and not be awake yet: so there must be one for each. If no thread can be started,
   those that there are will come to it: there is at least one. */
static void summon(struct htw_scheduler *scheduler) {
    struct htw__pool *pool = &scheduler->pool;
    if (pool->idle > 0)
        pthread_cond_signal(&pool->work);
    if (pool->idle < pool->queued && pool->started < scheduler->worker_count && !pool->stop)
        start_one(scheduler);
}

/* Moves what a worker has not begun with to a batch of its own, at the end of the queue. */
static void split(struct htw_scheduler *scheduler, struct htw__batch *batch) {
    struct htw__pool *pool = &scheduler->pool;
    struct htw__batch *rest = take_spare(pool);
    if (rest == NULL)
        return;
    uint32_t next = atomic_exchange_explicit(&batch->next, HTW__SLICE, memory_order_relaxed);
    rest->shard = batch->shard;
    rest->count = 0;
    atomic_store_explicit(&rest->next, 0, memory_order_relaxed);
    while (next < batch->count)
        rest->records[rest->count++] = batch->records[next++];
    if (rest->count == 0) {
        put_spare(pool, rest);
        return;
    }
    append(pool, rest);
    summon(scheduler);
}

static void watch(struct htw_scheduler *scheduler) {
    struct htw__pool *pool = &scheduler->pool;
    int64_t now_ns = htw__clock_monotonic_ns();
    if (now_ns < pool->watched_ns + WATCH_PERIOD_NS)
        return;
    pool->watched_ns = now_ns;
    for (unsigned i = 0; i < pool->started; i++) {
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
    if (pool->first != NULL)
        summon(scheduler);
}

/* Waits for a batch to come back, and keeps watch meanwhile, also where they come back all the
   time, but for one. */
static void wait_for_change(struct htw_scheduler *scheduler) {
    struct htw__pool *pool = &scheduler->pool;
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* the mutex would stay locked */
    pool->waiting++;
    if (scheduler->worker_count < 2) {
        htw__mutex_wait(&pool->mutex, &pool->changed);
    } else {
        int64_t until_ns = htw__clock_monotonic_ns() + WATCH_PERIOD_NS;
        struct timespec until = { (time_t)(until_ns / HTW_SECOND), (long)(until_ns % HTW_SECOND) };
        htw__mutex_wait_until(&pool->mutex, &pool->changed, &until);
        watch(scheduler);
    }
    pthread_setcancelstate(cancel_state, NULL);
    pool->waiting--;
}

/* ---- the threads */

/* Under the mutex. */
static void finish_batch(struct htw__worker *worker) {
    struct htw__pool *pool = &worker->scheduler->pool;
    struct htw__batch *batch = worker->batch;
    worker->batch = NULL;
    pool->outstanding--;
    put_spare(pool, batch);
}

/* If a callback has ended the thread, the thread goes on nevertheless. It has been unwound up to
   here, and ends when this returns. `nothrow`: clang would
   end the program when a later callback unwinds the thread through this function again. */
static __attribute__((nothrow, noinline)) void go_on(struct htw__worker **worker) {
    struct htw__pool *pool = &(*worker)->scheduler->pool;
    if ((*worker)->batch == NULL || htw__is_child((*worker)->scheduler))
        return;
    htw__mutex_lock(&pool->mutex);
    finish_batch(*worker);
    htw__mutex_unlock(&pool->mutex);
    work(*worker);
}

static void *work(void *arg) {
    struct htw__worker *worker __attribute__((cleanup(go_on))) = arg;
    struct htw__pool *pool = &worker->scheduler->pool;
    htw__mutex_lock(&pool->mutex);
    for (;;) {
        while (pool->first == NULL && !pool->stop) {
            pool->idle++;
            htw__mutex_wait(&pool->mutex, &pool->work);
            pool->idle--;
        }
        if (pool->first == NULL)
            break;
        struct htw__batch *batch = take_first(pool);
        worker->batch = batch;
        /* Of two batches that came before this thread woke up, both have summoned it. */
        if (pool->first != NULL)
            summon(worker->scheduler);
        htw__mutex_unlock(&pool->mutex);
        htw__run_batch(worker->runner, batch);
        if (htw__is_child(worker->scheduler))
            return NULL; /* the child ends with its only thread */
        htw__mutex_lock(&pool->mutex);
        finish_batch(worker);
    }
    htw__mutex_unlock(&pool->mutex);
    return NULL;
}

int htw__pool_start(struct htw_scheduler *scheduler, bool all) {
    struct htw__pool *pool = &scheduler->pool;
    unsigned target = all ? scheduler->worker_count : 1;
    int error = 0;
    if (scheduler->worker_count == 0)
        return 0;
    htw__mutex_lock(&pool->mutex);
    while (error == 0 && pool->started < target)
        error = start_one(scheduler);
    htw__mutex_unlock(&pool->mutex);
    return error;
}

struct htw__batch *htw__pool_obtain(struct htw_scheduler *scheduler) {
    struct htw__pool *pool = &scheduler->pool;
    struct htw__batch *batch;
    htw__mutex_lock(&pool->mutex);
    while ((batch = take_spare(pool)) == NULL && !pool->stop)
        wait_for_change(scheduler);
    htw__mutex_unlock(&pool->mutex);
    return batch;
}

void htw__pool_submit(struct htw_scheduler *scheduler, struct htw__batch *batch) {
    struct htw__pool *pool = &scheduler->pool;
    htw__mutex_lock(&pool->mutex);
    if (batch->count == 0) {
        put_spare(pool, batch);
    } else {
        append(pool, batch);
        /* A worker that is awake is about to come for the first that waits: to wake another up
           costs more than most batches. If it does not come, watch() notices. */
        if (pool->queued > 1 || pool->started == pool->idle)
            summon(scheduler);
    }
    htw__mutex_unlock(&pool->mutex);
}

/* Whether a worker has begun with a batch and not with the last of it. */
static bool has_rest(const struct htw__worker *worker) {
    const struct htw__batch *batch = worker->batch;
    return batch != NULL && atomic_load_explicit(&batch->next, memory_order_relaxed) < batch->count;
}

bool htw__pool_needs_watch(struct htw_scheduler *scheduler) {
    struct htw__pool *pool = &scheduler->pool;
    if (scheduler->worker_count < 2)
        return false;
    htw__mutex_lock(&pool->mutex);
    bool needed = pool->first != NULL;
    for (unsigned i = 0; i < pool->started && !needed; i++)
        needed = has_rest(&scheduler->workers[i]);
    htw__mutex_unlock(&pool->mutex);
    return needed;
}

void htw__pool_watch(struct htw_scheduler *scheduler) {
    if (scheduler->worker_count < 2)
        return;
    htw__mutex_lock(&scheduler->pool.mutex);
    watch(scheduler);
    htw__mutex_unlock(&scheduler->pool.mutex);
}

bool htw__pool_wait_quiet(struct htw_scheduler *scheduler) {
    struct htw__pool *pool = &scheduler->pool;
    htw__mutex_lock(&pool->mutex);
    while (pool->outstanding > 0 && !pool->stop)
        wait_for_change(scheduler);
    bool quiet = !pool->stop;
    htw__mutex_unlock(&pool->mutex);
    return quiet;
}

void htw__pool_add_outstanding(struct htw_scheduler *scheduler, uint32_t count) {
    htw__mutex_lock(&scheduler->pool.mutex);
    scheduler->pool.outstanding += count;
    htw__mutex_unlock(&scheduler->pool.mutex);
}

void htw__pool_end_outstanding(struct htw_scheduler *scheduler) {
    struct htw__pool *pool = &scheduler->pool;
    htw__mutex_lock(&pool->mutex);
    pool->outstanding--;
    if (pool->waiting > 0)
        pthread_cond_broadcast(&pool->changed);
    htw__mutex_unlock(&pool->mutex);
}

void htw__pool_stop(struct htw_scheduler *scheduler) {
    struct htw__pool *pool = &scheduler->pool;
    htw__mutex_lock(&pool->mutex);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work);
    pthread_cond_broadcast(&pool->changed);
    htw__mutex_unlock(&pool->mutex);
}

void htw__pool_join(struct htw_scheduler *scheduler) {
    struct htw__pool *pool = &scheduler->pool;
    for (unsigned i = 0; i < pool->started; i++)
        pthread_join(scheduler->workers[i].thread, NULL);
    /* A batch may have been queued when all had ended. */
    while (pool->first != NULL) {
        struct htw__batch *batch = take_first(pool);
        htw__run_nothing(batch);
        put_spare(pool, batch);
        pool->outstanding--;
    }
    htw__mutex_lock(&pool->mutex);
    while (pool->outstanding > 0)
        wait_for_change(scheduler);
    htw__mutex_unlock(&pool->mutex);
}

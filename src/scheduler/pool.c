/* SPDX-License-Identifier: MIT */
/* pool.c - the queue of batches between expirers and workers. */
#include "pool.h"

#include "../base/annotate.h"

void htw__pool_init(struct htw__pool *pool) {
    *pool = (struct htw__pool) { 0 };
    /* For helgrind a mutex is free before its owner has written to it for the last time. */
    HTW__ANNOTATE_ATOMIC(&pool->mutex, sizeof(pool->mutex));
    htw__mutex_init(&pool->mutex, HTW__RANK_SCHEDULER_POOL);
    pthread_cond_init(&pool->work, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void htw__pool_fini(struct htw__pool *pool) {
    pthread_cond_destroy(&pool->changed);
    pthread_cond_destroy(&pool->work);
    htw__mutex_fini(&pool->mutex);
}

struct htw__batch *htw__pool_take_spare(struct htw__pool *pool) {
    struct htw__batch *batch = pool->spare;
    if (batch != NULL)
        pool->spare = batch->link;
    return batch;
}

void htw__pool_put_spare(struct htw__pool *pool, struct htw__batch *batch) {
    batch->link = pool->spare;
    pool->spare = batch;
    if (pool->waiting > 0)
        pthread_cond_broadcast(&pool->changed);
}

struct htw__batch *htw__pool_take_first(struct htw__pool *pool) {
    struct htw__batch *batch = pool->first;
    pool->first = batch->link;
    if (pool->first == NULL)
        pool->last = NULL;
    pool->queued--;
    return batch;
}

void htw__pool_append(struct htw__pool *pool, struct htw__batch *batch) {
    batch->link = NULL;
    if (pool->last == NULL)
        pool->first = batch;
    else
        pool->last->link = batch;
    pool->last = batch;
    pool->queued++;
    pool->outstanding++;
}

void htw__pool_add_outstanding(struct htw__pool *pool, uint32_t count) {
    htw__mutex_lock(&pool->mutex);
    pool->outstanding += count;
    htw__mutex_unlock(&pool->mutex);
}

void htw__pool_end_outstanding(struct htw__pool *pool) {
    htw__mutex_lock(&pool->mutex);
    pool->outstanding--;
    if (pool->waiting > 0)
        pthread_cond_broadcast(&pool->changed);
    htw__mutex_unlock(&pool->mutex);
}

void htw__pool_stop(struct htw__pool *pool) {
    htw__mutex_lock(&pool->mutex);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work);
    pthread_cond_broadcast(&pool->changed);
    htw__mutex_unlock(&pool->mutex);
}

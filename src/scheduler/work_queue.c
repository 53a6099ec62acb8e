/* SPDX-License-Identifier: MIT */
/* work_queue.c - the queue of batches between expirers and workers. */
#include "work_queue.h"

#include <htw/scheduler.h>

void htw__work_queue_init(struct htw__work_queue *queue) {
    *queue = (struct htw__work_queue) { .deputy = { .wanted_ns = HTW_NEVER_NS } };
    htw__mutex_init(&queue->mutex, HTW__RANK_SCHEDULER_WORK_QUEUE);
    htw__system_condition_init(&queue->work);
    htw__system_condition_init(&queue->changed);
}

void htw__work_queue_fini(struct htw__work_queue *queue) {
    htw__deputy_fini(&queue->deputy);
    htw__system_condition_fini(&queue->changed);
    htw__system_condition_fini(&queue->work);
    htw__mutex_fini(&queue->mutex);
}

struct htw__batch *htw__work_queue_take_spare(struct htw__work_queue *queue) {
    struct htw__batch *batch = queue->spare;
    if (batch == NULL)
        return NULL;
    queue->spare = batch->link;
    batch->seen_next = UINT32_MAX;
    return batch;
}

void htw__work_queue_put_spare(struct htw__work_queue *queue, struct htw__batch *batch) {
    batch->link = queue->spare;
    queue->spare = batch;
    if (queue->waiting > 0)
        htw__system_condition_broadcast(&queue->changed);
}

struct htw__batch *htw__work_queue_take_first(struct htw__work_queue *queue) {
    struct htw__batch *batch = queue->first;
    queue->first = batch->link;
    if (queue->first == NULL)
        queue->last = NULL;
    queue->queued--;
    queue->running++;
    batch->queued = false;
    batch->runners++;
    return batch;
}

void htw__work_queue_finish(struct htw__work_queue *queue, struct htw__batch *batch) {
    queue->running--;
    queue->outstanding--;
    batch->runners--;
    if (batch->runners == 0 && !batch->queued)
        htw__work_queue_put_spare(queue, batch);
}

void htw__work_queue_append(struct htw__work_queue *queue, struct htw__batch *batch) {
    batch->link = NULL;
    if (queue->last == NULL)
        queue->first = batch;
    else
        queue->last->link = batch;
    queue->last = batch;
    batch->queued = true;
    queue->queued++;
    queue->outstanding++;
}

void htw__work_queue_unlock(struct htw__work_queue *queue) {
    htw__deputy_unlock(&queue->deputy, &queue->mutex);
}

void htw__work_queue_add_outstanding(struct htw__work_queue *queue, uint32_t count) {
    htw__mutex_lock(&queue->mutex);
    queue->outstanding += count;
    htw__mutex_unlock(&queue->mutex);
}

void htw__work_queue_end_outstanding(struct htw__work_queue *queue) {
    htw__mutex_lock(&queue->mutex);
    queue->outstanding--;
    if (queue->waiting > 0)
        htw__system_condition_broadcast(&queue->changed);
    htw__mutex_unlock(&queue->mutex);
}

void htw__work_queue_stop(struct htw__work_queue *queue) {
    htw__mutex_lock(&queue->mutex);
    queue->stop = true;
    htw__deputy_want(&queue->deputy, 0);
    htw__system_condition_broadcast(&queue->work);
    htw__system_condition_broadcast(&queue->changed);
    htw__work_queue_unlock(queue);
}

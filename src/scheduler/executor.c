/* SPDX-License-Identifier: MIT */
/* executor.c - hands due timers to the executor of the user, and takes them back. Whether they go
   there, to workers or to no other thread is decided by dispatch() in expirer.c. */
#include "executor.h"

#include "../base/user_code.h"
#include "attributes.h"
#include "run.h"

/* A task is a QUEUED record. No other thread frees it until the executor has run or dropped it. */
static struct htw__task_record *record_of(struct htw_task *task) {
    return (struct htw__task_record *)(void *)task;
}

void htw__executor_submit(struct htw_scheduler *scheduler, struct htw__batch *batch) {
    if (batch->count == 0)
        return;
    struct htw_task *tasks[HTW__SLICE];
    for (uint32_t i = 0; i < batch->count; i++) {
        struct htw__task_record *its =
            HTW_CONTAINER_OF(batch->records[i], struct htw__task_record, record);
        its->shard = batch->shard;
        tasks[i] = (struct htw_task *)(void *)its;
    }
    htw__work_queue_add_outstanding(&scheduler->work_queue, batch->count);
    /* In a frame, so that the executor cannot wait for this thread by stopping the scheduler. */
    struct htw__callback_frame frame = { .scheduler = scheduler };
    htw__callback_frame_push(&frame);
    HTW__CALL_USER("an executor", scheduler, scheduler->executor.execute,
                   scheduler->executor.execute(scheduler->executor.context, tasks, batch->count));
    htw__callback_frame_pop(&frame);
}

void htw_task_run(struct htw_task *task) {
    if (task == NULL)
        return;
    struct htw__task_record *its = record_of(task);
    struct htw_scheduler *scheduler = its->shard->scheduler;
    if (htw__scheduler_refusal(scheduler) != 0)
        return;
    struct htw__batch batch = { .shard = its->shard, .count = 1, .records = { &its->record } };
    htw__run_batch(scheduler->executor_run_stats, &batch);
    htw__work_queue_end_outstanding(&scheduler->work_queue);
}

int htw_task_drop(struct htw_task *task, void **ret_arg) {
    if (task == NULL)
        return -EINVAL;
    struct htw__record *record = &record_of(task)->record;
    struct htw__shard *shard = record_of(task)->shard;
    struct htw_scheduler *scheduler = shard->scheduler;
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    struct htw__timer_end ended;
    htw__lock_acquire(&shard->lock);
    enum htw_outcome outcome = htw__cancel_locked(shard, record, &ended);
    htw__shard_free_record(shard, record);
    htw__lock_release(&shard->lock);
    if (outcome == HTW_CANCELLED) {
        if (ret_arg != NULL)
            *ret_arg = htw__timer_end_arg(&ended);
        htw__timer_end_release(scheduler, &ended);
    }
    htw__work_queue_end_outstanding(&scheduler->work_queue);
    return (int)outcome;
}

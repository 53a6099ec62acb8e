/* SPDX-License-Identifier: MIT */
/* executor.c - hands due timers to the executor of the user, and takes them back. Whether they go
   there, to workers or to no other thread is decided by dispatch() in expirer.c. */
#include "../base/user_code.h"
#include "attributes.h"
#include "run.h"

/*
 * A task is a QUEUED record. No other thread frees it until the executor has run it.
 * While it is in no wheel, the record has room for the pointer to its shard.
 */
static struct htw_task *task_of(struct htw__record *record) {
    return (struct htw_task *)(void *)record;
}

static struct htw__record *record_of(struct htw_task *task) {
    return (struct htw__record *)(void *)task;
}

void htw__executor_submit(struct htw_scheduler *scheduler, struct htw__batch *batch) {
    if (batch->count == 0)
        return;
    struct htw_task *tasks[HTW__SLICE];
    for (uint32_t i = 0; i < batch->count; i++) {
        batch->records[i]->shard = batch->shard;
        tasks[i] = task_of(batch->records[i]);
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
    struct htw__record *record = record_of(task);
    struct htw_scheduler *scheduler = record->shard->scheduler;
    if (htw__scheduler_refusal(scheduler) != 0)
        return;
    struct htw__batch batch = { .shard = record->shard, .count = 1, .records = { record } };
    htw__run_batch(scheduler->executor_run_stats, &batch);
    htw__work_queue_end_outstanding(&scheduler->work_queue);
}

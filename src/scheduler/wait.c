/* SPDX-License-Identifier: MIT */
/* wait.c - htw_cancel_wait(): waits until a callback has ended. */
#include "wait.h"

#include <errno.h>

void htw__wait_over(struct htw_scheduler *scheduler) {
    htw__mutex_lock(&scheduler->wait.mutex);
    pthread_cond_broadcast(&scheduler->wait.over);
    htw__mutex_unlock(&scheduler->wait.mutex);
}

/* Whether the callback of a timer runs still; if so, its end will be told. Under wait.mutex, so
   that the telling cannot come before the waiting. */
static bool is_running(struct htw__shard *shard, htw_handle handle) {
    uint64_t status;
    htw__lock_acquire(&shard->lock);
    struct htw__record *record = htw__handle_record(shard, handle, &status);
    bool running;
    do
        running = record != NULL && htw__status_state(status) == HTW__RUNNING;
    while (running && !htw__status_change(record, &status, status | HTW__AWAITED));
    htw__lock_release(&shard->lock);
    return running;
}

/* The handle for which the callback of another handle waits; 0: for none. */
static htw_handle awaited_by(const struct htw_scheduler *scheduler, htw_handle handle) {
    for (const struct htw__run *run = scheduler->wait.waiting; run != NULL; run = run->next_waiting)
        if (run->handle == handle)
            return run->awaited;
    return 0;
}

/* Whether a callback that this thread is in would be waited for by itself, possibly through
   others that wait. Under wait.mutex. */
static bool would_deadlock(const struct htw_scheduler *scheduler, htw_handle handle) {
    for (htw_handle awaited = handle; awaited != 0; awaited = awaited_by(scheduler, awaited))
        for (const struct htw__run *run = htw__innermost_run; run != NULL; run = run->outer)
            if (run->scheduler == scheduler && run->handle == awaited)
                return true;
    return false;
}

/* Tells others that each callback of this scheduler that this thread is in waits. */
static void start_waiting(struct htw_scheduler *scheduler, htw_handle handle) {
    for (struct htw__run *run = htw__innermost_run; run != NULL; run = run->outer)
        if (run->scheduler == scheduler) {
            run->awaited = handle;
            run->next_waiting = scheduler->wait.waiting;
            scheduler->wait.waiting = run;
        }
}

static void stop_waiting(struct htw_scheduler *scheduler) {
    for (struct htw__run *run = htw__innermost_run; run != NULL; run = run->outer) {
        struct htw__run **place = &scheduler->wait.waiting;
        while (*place != NULL && *place != run)
            place = &(*place)->next_waiting;
        if (*place != NULL)
            *place = run->next_waiting;
        run->awaited = 0;
    }
}

/* Also where the thread is cancelled while it waits. */
static void leave(void *arg) {
    struct htw_scheduler *scheduler = arg;
    stop_waiting(scheduler);
    htw__mutex_unlock(&scheduler->wait.mutex);
}

int htw_cancel_wait(struct htw_scheduler *scheduler, htw_handle handle) {
    int outcome = htw_cancel(scheduler, handle);
    if (outcome != HTW_RUNNING)
        return outcome;
    struct htw__shard *shard = htw__handle_shard(scheduler, handle);
    bool deadlock;
    htw__mutex_lock(&scheduler->wait.mutex);
    pthread_cleanup_push(leave, scheduler);
    deadlock = would_deadlock(scheduler, handle);
    if (!deadlock)
        start_waiting(scheduler, handle);
    while (!deadlock && is_running(shard, handle))
        htw__mutex_wait(&scheduler->wait.mutex, &scheduler->wait.over);
    pthread_cleanup_pop(1);
    return deadlock ? -EDEADLK : outcome;
}

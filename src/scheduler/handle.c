/* SPDX-License-Identifier: MIT */
/* handle.c - what can be asked of a timer, and changed, but for cancelling it. */
#include "credit.h"
#include "attributes.h"
#include "group.h"
#include "shard.h"

#include <errno.h>

/* ---- a new deadline */

static int move_pending(struct htw__shard *shard, struct htw__record *record,
                        struct htw__attributes *attributes, int64_t deadline_ns, uint64_t tick,
                        bool *ret_wake) {
    if (attributes != NULL && attributes->paused) {
        record->deadline_ns = deadline_ns;
        attributes->paused = false; /* a resume under way may have yet to come to it */
        htw__attributes_file(shard, record, attributes, htw__now_ns(shard->scheduler), ret_wake);
        return HTW_MOVED;
    }
    int error = htw__shard_file(shard, record, tick, deadline_ns, ret_wake);
    if (error != 0)
        return error;
    record->deadline_ns = deadline_ns;
    return HTW_MOVED;
}

/* Whether this thread is in the callback of the timer. */
static bool is_own(const struct htw_scheduler *scheduler, htw_handle handle) {
    for (const struct htw__run *run = htw__innermost_run; run != NULL; run = run->outer)
        if (run->scheduler == scheduler && run->handle == handle)
            return true;
    return false;
}

/* Lets a timer that runs, or is about to, do so at a time. The record is QUEUED or RUNNING. */
static int move_taken(struct htw__shard *shard, struct htw__record *record, htw_handle handle,
                      uint64_t status, int64_t deadline_ns) {
    bool running = htw__status_state(status) == HTW__RUNNING;
    bool repeats = (status & HTW__HAS_ATTRIBUTES) && record->attributes->period_ns > 0;
    if (running && ((status & HTW__CANCEL) || !(repeats || is_own(shard->scheduler, handle))))
        return HTW_RUNNING;
    if (running && !repeats && !(status & HTW__REARM)) { /* it comes to life again */
        /* The lock may be given back for this, but nobody but its own callback, which
           is here, ends it; it can only be cancelled meanwhile. */
        if (!htw__credit_take(shard))
            return -EAGAIN;
        status = htw__status_of(record);
        if (status & HTW__CANCEL) {
            htw__credit_give(shard);
            return HTW_RUNNING;
        }
    }
    while (!htw__status_change(record, &status, status | HTW__REARM))
        if (htw__status_state(status) != (running ? HTW__RUNNING : HTW__QUEUED)) /* just now */
            return htw__status_state(status) == HTW__RUNNING ? HTW_RUNNING : HTW_GONE;
    htw__deadline_change(record, deadline_ns); /* whoever sees the flag waits for the lock */
    if ((status & HTW__HAS_ATTRIBUTES) && record->attributes->paused)
        htw__attributes_pause(record, record->attributes, htw__now_ns(shard->scheduler));
    return HTW_MOVED;
}

static int move(struct htw_scheduler *scheduler, htw_handle handle, int64_t deadline_ns,
                uint64_t tick) {
    struct htw__shard *shard = htw__handle_shard(scheduler, handle);
    if (shard == NULL)
        return HTW_GONE;
    uint64_t status;
    bool wake = false;
    int outcome = HTW_GONE;
    htw__lock_acquire(&shard->lock);
    struct htw__record *record = htw__handle_record(shard, handle, &status);
    enum htw__state state = record == NULL ? HTW__DONE : htw__status_state(status);
    if (shard->closed)
        outcome = -ESHUTDOWN;
    else if (state == HTW__PENDING)
        outcome =
            move_pending(shard, record, status & HTW__HAS_ATTRIBUTES ? record->attributes : NULL,
                         deadline_ns, tick, &wake);
    else if (state == HTW__QUEUED || state == HTW__RUNNING)
        outcome = move_taken(shard, record, handle, status, deadline_ns);
    if (outcome == HTW_MOVED)
        htw__counter_add(&shard->moved, 1);
    htw__lock_release(&shard->lock);
    if (wake)
        htw__shard_wake(shard);
    return outcome;
}

int htw_reschedule(struct htw_scheduler *scheduler, htw_handle handle, int64_t delay_ns) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    int64_t deadline_ns = htw__after_ns(htw__now_ns(scheduler), delay_ns);
    return move(scheduler, handle, deadline_ns,
                delay_ns <= 0 ? 0 : htw__tick_from(scheduler, deadline_ns));
}

int htw_reschedule_at(struct htw_scheduler *scheduler, htw_handle handle, int64_t deadline_ns) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    return move(scheduler, handle, deadline_ns, htw__tick_from(scheduler, deadline_ns));
}

int htw_set_period(struct htw_scheduler *scheduler, htw_handle handle, int64_t period_ns) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (period_ns <= 0)
        return -EINVAL;
    struct htw__shard *shard = htw__handle_shard(scheduler, handle);
    if (shard == NULL)
        return HTW_GONE;
    uint64_t status;
    int outcome = HTW_GONE;
    htw__lock_acquire(&shard->lock);
    struct htw__record *record = htw__handle_record(shard, handle, &status);
    enum htw__state state = record == NULL ? HTW__DONE : htw__status_state(status);
    bool ends = state == HTW__RUNNING && (status & HTW__CANCEL); /* it has no next run */
    if ((state == HTW__PENDING || state == HTW__QUEUED || state == HTW__RUNNING) && !ends) {
        bool repeats = (status & HTW__HAS_ATTRIBUTES) && record->attributes->period_ns > 0;
        if (repeats)
            record->attributes->period_ns = period_ns;
        outcome = repeats ? HTW_MOVED : -EINVAL;
    }
    htw__lock_release(&shard->lock);
    return outcome;
}

/* ---- questions */

bool htw_is_pending(struct htw_scheduler *scheduler, htw_handle handle) {
    if (htw__scheduler_refusal(scheduler) != 0)
        return false;
    struct htw__shard *shard = htw__handle_shard(scheduler, handle);
    if (shard == NULL)
        return false;
    uint64_t status = 0;
    htw__lock_acquire(&shard->lock);
    struct htw__record *record = htw__handle_record(shard, handle, &status);
    enum htw__state state = record == NULL ? HTW__DONE : htw__status_state(status);
    htw__lock_release(&shard->lock);
    return state == HTW__PENDING || state == HTW__QUEUED ||
           (state == HTW__RUNNING && (status & HTW__REARM));
}

int htw_deadline(struct htw_scheduler *scheduler, htw_handle handle, int64_t *ret_deadline_ns) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (ret_deadline_ns == NULL)
        return -EINVAL;
    struct htw__shard *shard = htw__handle_shard(scheduler, handle);
    if (shard == NULL)
        return -ENOENT;
    uint64_t status;
    htw__lock_acquire(&shard->lock);
    struct htw__record *record = htw__handle_record(shard, handle, &status);
    enum htw__state state = record == NULL ? HTW__DONE : htw__status_state(status);
    bool known = state == HTW__PENDING || state == HTW__QUEUED || state == HTW__RUNNING;
    bool paused = known && (status & HTW__HAS_ATTRIBUTES) && record->attributes->paused;
    int64_t deadline_ns = known ? record->deadline_ns : 0;
    htw__lock_release(&shard->lock);
    if (!known)
        return -ENOENT;
    *ret_deadline_ns = paused ? htw__after_ns(htw__now_ns(scheduler), deadline_ns) : deadline_ns;
    return 0;
}

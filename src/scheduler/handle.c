/* SPDX-License-Identifier: MIT */
/* handle.c - queries by handle or key; updates of deadline and period. */
#include "attributes.h"
#include "observe.h"

#include <htw/group.h>
#include <htw/timer.h>

/* ---- a new deadline */

/* What a move needs to know. */
struct move {
    struct htw__due due;
    bool is_instant;  /* it was given as a deadline, not as a delay */
    int64_t delay_ns; /* otherwise */
};

static void move_pending(struct htw__shard *shard, struct htw__record *record,
                         struct htw__attributes *attributes, const struct move *move,
                         unsigned *ret_wake) {
    struct htw__clockwork *clockwork = htw__clockwork_of(shard, attributes);
    record->deadline_ns = move->due.deadline_ns;
    if (attributes != NULL)
        attributes->is_instant = move->is_instant;
    if (attributes != NULL && attributes->paused) {
        attributes->paused = false; /* the group may have been resumed, but not yet this timer */
        htw__attributes_arm(shard, record, attributes, htw__clockwork_now_ns(clockwork), ret_wake);
    } else {
        htw__clockwork_arm(clockwork, record, move->due.tick, ret_wake);
    }
}

/* Makes a timer that is QUEUED or RUNNING run at a later time, once more if it is RUNNING. */
static int move_taken(struct htw__shard *shard, struct htw__record *record, htw_handle handle,
                      uint64_t status, const struct move *move) {
    struct htw__attributes *attributes = htw__attributes_of(record, status);
    bool running = htw__status_state(status) == HTW__RUNNING;
    bool repeats = attributes != NULL && attributes->period_ns > 0;
    if (running &&
        ((status & HTW__CANCEL) || !(repeats || htw__is_inside_timer(shard->scheduler, handle))))
        return HTW_RUNNING;
    if (running && !repeats && !(status & HTW__REARM) && /* it becomes pending again */
        !htw__credit_acquire(shard->scheduler))
        return -EAGAIN;
    while (!htw__status_change(record, &status, status | HTW__REARM))
        if (htw__status_state(status) != (running ? HTW__RUNNING : HTW__QUEUED)) /* just now */
            return htw__status_state(status) == HTW__RUNNING ? HTW_RUNNING : HTW_GONE;
    /* A thread that sees HTW__REARM waits for the lock. */
    htw__deadline_change(record, move->due.deadline_ns);
    if (attributes != NULL)
        attributes->is_instant = move->is_instant;
    if (attributes != NULL && attributes->paused)
        htw__attributes_pause(record, attributes, htw__clockwork_now_ns(attributes->clockwork));
    return HTW_MOVED;
}

/* Moves a timer; NULL: it is gone. The move is for the scheduler's own clock, which was read before the shard was
   locked. Under the lock. A sweep of a group may call this, once it is declared beside htw__cancel_locked(). */
static int move_locked(struct htw__shard *shard, struct htw__record *record, htw_handle handle,
                       uint64_t status, struct move move, unsigned *ret_wake) {
    const struct htw_scheduler *scheduler = shard->scheduler;
    int outcome = HTW_GONE;
    enum htw__state state = record == NULL ? HTW__DONE : htw__status_state(status);
    bool is_taken = state == HTW__QUEUED || state == HTW__RUNNING;
    struct htw__attributes *attributes =
        is_taken || state == HTW__PENDING ? htw__attributes_of(record, status) : NULL;
    const struct htw__clock *clock = htw__clockwork_of(shard, attributes)->clock;
    if (clock != scheduler->clock && !move.is_instant)
        move.due = htw__due_after(scheduler, clock, move.delay_ns);
    if (shard->closed) {
        outcome = -ESHUTDOWN;
    } else if (state == HTW__PENDING) {
        move_pending(shard, record, attributes, &move, ret_wake);
        outcome = HTW_MOVED;
    } else if (is_taken) {
        outcome = move_taken(shard, record, handle, status, &move);
    }
    if (outcome == HTW_MOVED) {
        htw__counter_add(&shard->moved, 1);
        HTW__PROBE5(move, scheduler, handle, HTW__PROBE_SITE(record), HTW__PROBE_FLAGS(record),
                    record->deadline_ns);
        htw__observe_moved(shard, record, handle);
        HTW__ANNOTATE_HAND_OVER(record);
    }
    return outcome;
}

static int move_timer(struct htw_scheduler *scheduler, htw_handle handle, struct move move) {
    struct htw__shard *shard = htw__handle_shard(scheduler, handle);
    if (shard == NULL)
        return HTW_GONE;
    uint64_t status = 0;
    unsigned wake = 0;
    htw__lock_acquire(&shard->lock);
    struct htw__record *record = htw__handle_record(shard, handle, &status);
    int outcome = move_locked(shard, record, handle, status, move, &wake);
    htw__lock_release(&shard->lock);
    htw__shard_wake(shard, wake);
    return outcome;
}

int htw_reschedule(struct htw_scheduler *scheduler, htw_handle handle, int64_t delay_ns) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    struct htw__due due = htw__due_after(scheduler, scheduler->clock, delay_ns);
    return move_timer(scheduler, handle, (struct move) { due, .delay_ns = delay_ns });
}

int htw_reschedule_at(struct htw_scheduler *scheduler, htw_handle handle, int64_t deadline_ns) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    struct htw__due due = htw__due_at(scheduler, deadline_ns);
    return move_timer(scheduler, handle, (struct move) { due, .is_instant = true });
}

/* ---- a new period */

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

int htw_scheduler_timer_info(struct htw_scheduler *scheduler, htw_handle handle,
                             struct htw_timer_info *ret_info) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (ret_info == NULL)
        return -EINVAL;
    struct htw__shard *shard = htw__handle_shard(scheduler, handle);
    if (shard == NULL)
        return -ENOENT;
    uint64_t status = 0;
    htw__lock_acquire(&shard->lock);
    struct htw__record *record = htw__handle_record(shard, handle, &status);
    enum htw__state state = record == NULL ? HTW__DONE : htw__status_state(status);
    bool waits = state == HTW__PENDING || state == HTW__QUEUED;
    bool exists = waits || state == HTW__RUNNING;
    if (exists) {
        struct htw__attributes *attributes = htw__attributes_of(record, status);
        *ret_info = (struct htw_timer_info) {
            .deadline_ns = htw__attributes_deadline_ns(record, attributes),
            .clock = htw__clockwork_of(shard, attributes)->clock->name,
            .pending = waits || (status & HTW__REARM),
        };
    }
    htw__lock_release(&shard->lock);
    return exists ? 0 : -ENOENT;
}

htw_handle htw_find_key(struct htw_scheduler *scheduler, struct htw_group *group, const void *key,
                        size_t key_size) {
    if (htw__timer_key_refusal(scheduler, group, key, key_size) != 0)
        return 0;
    uint64_t hash = htw__key_hash(key, key_size, scheduler->key_seed);
    struct htw__shard *shard = htw__key_shard(scheduler, group, hash);
    htw__lock_acquire(&shard->lock);
    struct htw__record *record = htw__key_find(shard, group, hash, key, key_size);
    htw_handle handle = record == NULL ? 0 : htw__handle_of(shard, record);
    htw__lock_release(&shard->lock);
    return handle;
}

/* SPDX-License-Identifier: MIT */
/* stop.c - htw_scheduler_stop(): ends the threads, then hands each timer that is left to the
   visitor. */
#include "../base/user_code.h"
#include "attributes.h"
#include "observe.h"

/* ---- the timers of a shard, as a list linked by `next` */

/* Puts a record that has left its wheel on the list, unless it was cancelled. Under the lock. */
static void drain(struct htw__record *record, struct htw__record **list) {
    uint64_t status = htw__status_of(record);
    do {
        if (htw__status_state(status) != HTW__PENDING)
            return; /* claimed: htw__shard_reclaim() frees it */
    } while (!htw__status_change(
        record, &status, htw__status_in(status, HTW__DRAINED, status & HTW__HAS_ATTRIBUTES)));
    record->next = *list;
    *list = record;
}

/* A slice of a wheel. Returns whether there is more. */
static bool drain_slice(struct htw__shard *shard, struct htw_wheel *wheel,
                        struct htw__record **list) {
    struct htw_timer *timer = NULL;
    htw__lock_acquire(&shard->lock);
    for (unsigned i = 0; i < HTW__SLICE; i++) {
        timer = htw_wheel_drain(wheel);
        if (timer == NULL)
            break;
        drain(htw__record_of(timer), list);
    }
    htw__lock_release(&shard->lock);
    return timer != NULL;
}

/* All are drained before the first is handed back: no visitor or hook can cancel one of them. */
static struct htw__record *drain_all(struct htw__shard *shard) {
    struct htw__record *list = NULL;
    for (uint32_t slot = 0; slot < HTW__SLOT_COUNT; slot++) {
        const struct htw__clockwork *clockwork = htw__shard_clockwork_at(shard, slot);
        while (clockwork != NULL && clockwork->previous != NULL &&
               drain_slice(shard, clockwork->previous, &list))
            ;
        while (clockwork != NULL && drain_slice(shard, clockwork->wheel, &list))
            ;
    }
    return list;
}

static void hand_back(struct htw__shard *shard, struct htw__record *record,
                      htw_unexpired_visitor *visitor, void *context) {
    struct htw__timer_end ended;
    htw__lock_acquire(&shard->lock);
    htw__attributes_detach(shard, record, htw__status_of(record) & HTW__HAS_ATTRIBUTES, &ended);
    ended.unexpired.stack = shard->scheduler->calls->stack_of(shard, ended.unexpired.handle);
    htw__counter_add(&shard->handed_back, 1);
    HTW__ANNOTATE_TAKE_OVER(record);
    record->timer = (struct htw_timer) { 0 };
    htw__shard_free_record(shard, record);
    htw__lock_release(&shard->lock);
    if (visitor != NULL)
        HTW__CALL_USER("a visitor", shard->scheduler, visitor, visitor(context, &ended.unexpired));
    htw__timer_end_release(shard->scheduler, &ended);
}

static void empty_shard(struct htw__shard *shard, htw_unexpired_visitor *visitor, void *context) {
    struct htw__record *record = drain_all(shard);
    while (record != NULL) {
        struct htw__record *next = record->next;
        hand_back(shard, record, visitor, context);
        record = next;
    }
    htw__lock_acquire(&shard->lock);
    for (uint32_t slot = 0; slot < HTW__SLOT_COUNT; slot++) {
        struct htw__clockwork *clockwork = htw__shard_clockwork_at(shard, slot);
        /* order: Under the lock; the threads have ended. */
        if (clockwork != NULL)
            atomic_store_explicit(&clockwork->wake_tick, HTW_NEVER_TICK, memory_order_relaxed);
    }
    htw__lock_release(&shard->lock);
    htw__shard_clean_up(shard);
}

static void close_shard(struct htw__shard *shard) {
    htw__lock_acquire(&shard->lock);
    shard->closed = true;
    htw__lock_release(&shard->lock);
}

/* ---- the call */

static void stop(struct htw_scheduler *scheduler, htw_unexpired_visitor *visitor, void *context) {
    if (!htw__life_begin_stop(&scheduler->life))
        return;
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        close_shard(&scheduler->shards[i]);
    htw__end_threads(scheduler);
    /* In a frame: a visitor or hook that stopped the scheduler again would wait for itself. */
    struct htw__callback_frame frame = { .scheduler = scheduler };
    htw__callback_frame_push(&frame);
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        empty_shard(&scheduler->shards[i], visitor, context);
    htw__callback_frame_pop(&frame);
    htw__life_end_stop(&scheduler->life);
}

int htw_scheduler_stop(struct htw_scheduler *scheduler, htw_unexpired_visitor *visitor,
                       void *context) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (htw__is_inside(scheduler))
        return -EDEADLK;
    /* A thread that was cancelled in here would leave the scheduler half stopped. It is cancelled
       afterwards. */
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    if (visitor == NULL && (htw__mode(scheduler) & HTW_OBSERVE_STACKS))
        scheduler->calls->stop(scheduler, stop);
    else
        stop(scheduler, visitor, context);
    pthread_setcancelstate(cancel_state, NULL);
    return 0;
}

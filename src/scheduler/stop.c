/* SPDX-License-Identifier: MIT */
/* stop.c - htw_scheduler_stop(): ends the threads, then hands each timer that is left to the
   visitor. */
#include "../base/user_code.h"
#include "attributes.h"

/* ---- the timers of a shard: found in its slab */

static void drain(struct htw__record *record) {
    uint64_t status = htw__status_of(record);
    while (htw__status_state(status) == HTW__PENDING &&
           !htw__status_change(record, &status,
                               htw__status_in(status, HTW__DRAINED, status & HTW__HAS_ATTRIBUTES)))
        ;
}

/* All are drained before the first is handed back: no visitor or hook can cancel one of them. */
static void drain_all(struct htw__shard *shard) {
    for (uint32_t place = 0; place != HTW__SLAB_NONE;) {
        unsigned budget = HTW__SLICE;
        struct htw__cell *cell;
        htw__lock_acquire(&shard->lock);
        while ((cell = htw__slab_visit(&shard->slab, &place, &budget)) != NULL)
            drain(htw__record_of(cell));
        htw__lock_release(&shard->lock);
    }
}

static void hand_back(struct htw__shard *shard, struct htw__record *record,
                      struct htw__timer_end *ret_ended) {
    htw__attributes_detach(shard, record, htw__status_of(record) & HTW__HAS_ATTRIBUTES, ret_ended);
    htw__counter_add(&shard->handed_back, 1);
    HTW__ANNOTATE_TAKE_OVER(record);
    htw__shard_free_record(shard, record);
}

static void hand_back_all(struct htw__shard *shard, htw_unexpired_visitor *visitor, void *context) {
    for (uint32_t place = 0; place != HTW__SLAB_NONE;) {
        unsigned budget = HTW__SLICE;
        struct htw__timer_end ended;
        htw__lock_acquire(&shard->lock);
        struct htw__cell *cell = htw__slab_visit(&shard->slab, &place, &budget);
        bool is_drained =
            cell != NULL && htw__status_state(htw__status_of(htw__record_of(cell))) == HTW__DRAINED;
        if (is_drained)
            hand_back(shard, htw__record_of(cell), &ended);
        htw__lock_release(&shard->lock);
        if (!is_drained)
            continue;
        if (visitor != NULL)
            HTW__CALL_USER("a visitor", shard->scheduler, visitor,
                           visitor(context, &ended.unexpired));
        htw__timer_end_release(shard->scheduler, &ended);
    }
}

static void empty_shard(struct htw__shard *shard, htw_unexpired_visitor *visitor, void *context) {
    drain_all(shard);
    hand_back_all(shard, visitor, context);
    htw__lock_acquire(&shard->lock);
    for (uint32_t slot = 0; slot < HTW__SLOT_COUNT; slot++) {
        struct htw__clockwork *clockwork = htw__shard_clockwork_at(shard, slot);
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
    stop(scheduler, visitor, context);
    pthread_setcancelstate(cancel_state, NULL);
    return 0;
}

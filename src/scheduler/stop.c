/* SPDX-License-Identifier: MIT */
/* stop.c - htw_scheduler_stop(): ends the threads, then hands each timer that is left to the
   visitor. */
#include "attributes.h"
#include "observe.h"

/* Ends a timer that has left its wheel. False: it was claimed, and htw__shard_reclaim() frees it. Under the lock. */
static bool end_unrun(struct htw__shard *shard, struct htw__record *record,
                      struct htw__timer_end *ret_ended) {
    uint64_t status = htw__status_of(record);
    do {
        if (htw__status_state(status) != HTW__PENDING)
            return false;
    } while (!htw__status_change(record, &status, htw__status_in(status, HTW__DONE, 0)));
    htw__attributes_detach(shard, record, status & HTW__HAS_ATTRIBUTES, ret_ended);
    ret_ended->unexpired.stack =
        shard->scheduler->calls->stack_of(shard, ret_ended->unexpired.handle);
    htw__counter_add(&shard->handed_back, 1);
    HTW__ANNOTATE_TAKE_OVER(record);
    htw__slab_free(&shard->slab, &record->cell);
    return true;
}

/* Returns whether there is more. Otherwise the expirer need not serve this any more. */
static bool hand_back_slice(struct htw__clockwork *clockwork, htw_unexpired_visitor *visitor,
                            void *context) {
    struct htw__shard *shard = clockwork->shard;
    struct htw__timer_end ended[HTW__SLICE];
    struct htw_timer *timer = NULL;
    uint32_t count = 0;
    htw__lock_acquire(&shard->lock);
    for (unsigned i = 0; i < HTW__SLICE; i++) {
        timer = clockwork->previous == NULL ? NULL : htw_wheel_drain(clockwork->previous);
        if (timer == NULL && (timer = htw_wheel_drain(clockwork->wheel)) == NULL)
            break;
        count += end_unrun(shard, htw__record_of(timer), &ended[count]);
    }
    if (timer == NULL)
        htw__clockwork_set_wake_tick(clockwork, HTW_NEVER_TICK);
    htw__lock_release(&shard->lock);
    htw__timer_ends_release(shard->scheduler, ended, count, visitor, context);
    return timer != NULL;
}

static void empty_shard(struct htw__shard *shard, htw_unexpired_visitor *visitor, void *context) {
    for (uint32_t slot = 0; slot < HTW__SLOT_COUNT; slot++) {
        struct htw__clockwork *clockwork = htw__shard_clockwork_at(shard, slot);
        while (clockwork != NULL && hand_back_slice(clockwork, visitor, context))
            ;
    }
    htw__shard_clean_up(shard);
}

static void close_shard(struct htw__shard *shard) {
    htw__lock_acquire(&shard->lock);
    shard->closed = true;
    htw__lock_release(&shard->lock);
}

static void stop(struct htw_scheduler *scheduler, htw_unexpired_visitor *visitor, void *context) {
    if (!htw__life_begin_stop(&scheduler->life))
        return;
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        close_shard(&scheduler->shards[i]);
    htw__end_threads(scheduler);
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        empty_shard(&scheduler->shards[i], visitor, context);
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
    htw__cancel_state cancel_state = htw__disable_cancel();
    if (visitor == NULL && (htw__mode(scheduler) & HTW_OBSERVE_STACKS))
        scheduler->calls->stop(scheduler, stop);
    else
        stop(scheduler, visitor, context);
    htw__restore_cancel(cancel_state);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * stop.c - the end: threads first, then the timers that are left, each handed to the visitor.
 *
 * In order of deadline: the wheel gives them tick by tick; those of one tick are sorted, and
 * merged with those that the wheel does not have in order, because their deadline is not their
 * tick: taken but not run, paused, or never due; or because they were overdue when armed.
 */
#include "stop.h"

#include "expirer.h"
#include "attributes.h"
#include "shard.h"
#include "workers.h"

#include <errno.h>

/* A thread in process() or advance() leaves it as soon as it can. */
static void wait_for_driver(struct htw_scheduler *scheduler) {
    pthread_mutex_lock(&scheduler->life.mutex);
    while (scheduler->life.driven)
        pthread_cond_wait(&scheduler->life.changed, &scheduler->life.mutex);
    pthread_mutex_unlock(&scheduler->life.mutex);
}

void htw__scheduler_end_threads(struct htw_scheduler *scheduler) {
    atomic_store_explicit(&scheduler->stopping, true, memory_order_release);
    htw__pool_stop(scheduler);
    wait_for_driver(scheduler);
    for (unsigned i = 0; i < scheduler->life.expirers_started; i++)
        htw__expirer_join(&scheduler->expirers[i]);
    htw__pool_join(scheduler);
}

/* ---- lists of records, by `next` */

static struct htw__record *merge(struct htw__record *a, struct htw__record *b) {
    struct htw__record *first = NULL, **end = &first;
    while (a != NULL && b != NULL) {
        struct htw__record **earlier = b->deadline_ns < a->deadline_ns ? &b : &a;
        *end = *earlier;
        end = &(*end)->next;
        *earlier = *end;
    }
    *end = a != NULL ? a : b;
    return first;
}

/* Merge sort, from the bottom up: `sorted[i]` is a list of 2^i, or none. */
static struct htw__record *sort(struct htw__record *list) {
    struct htw__record *sorted[64] = { NULL };
    while (list != NULL) {
        struct htw__record *run = list;
        list = list->next;
        run->next = NULL;
        unsigned i = 0;
        for (; sorted[i] != NULL; i++) {
            run = merge(sorted[i], run);
            sorted[i] = NULL;
        }
        sorted[i] = run;
    }
    for (unsigned i = 0; i < 64; i++)
        list = merge(sorted[i], list);
    return list;
}

/* ---- what is left of a shard */

/* Takes a record for stop, unless it was cancelled. It is in no wheel; under the lock. */
static bool drain(struct htw__record *record) {
    uint64_t status = htw__status_of(record);
    do {
        if (htw__status_state(status) != HTW__PENDING && htw__status_state(status) != HTW__QUEUED)
            return false;
    } while (!htw__status_change(
        record, &status, htw__status_in(status, HTW__DRAINED, status & HTW__HAS_ATTRIBUTES)));
    return true;
}

static void push(struct htw__record **list, struct htw__record *record) {
    record->next = *list;
    *list = record;
}

/* One whose time may stand still. */
static void push_other(struct htw__record **list, struct htw__record *record, int64_t now_ns) {
    bool has_attributes = htw__status_of(record) & HTW__HAS_ATTRIBUTES;
    htw__attributes_resume(record, has_attributes ? record->attributes : NULL, now_ns);
    push(list, record);
}

/* Those that were taken from the wheel and not run. */
static void drain_unrun(struct htw__shard *shard, struct htw__record **list) {
    htw__lock_acquire(&shard->lock);
    while (shard->unrun != NULL) {
        struct htw__record *record = shard->unrun;
        shard->unrun = record->next;
        if (drain(record))
            push_other(list, record, htw__now_ns(shard->scheduler));
        else
            htw__shard_free_record(shard, record);
    }
    htw__lock_release(&shard->lock);
}

/* What the wheel gives tick by tick; `tick` is the one of which `same` are. */
struct drained {
    struct htw__record *same;
    uint64_t tick;
    struct htw__record *first, **end; /* of all before, in order */
    struct htw__record *others;       /* whose tick is not that of their deadline, or was over */
};

static void close_tick(struct drained *drained) {
    *drained->end = sort(drained->same);
    drained->same = NULL;
    while (*drained->end != NULL)
        drained->end = &(*drained->end)->next;
}

static void gather(struct htw__shard *shard, struct drained *drained, struct htw_timer *timer) {
    struct htw__record *record = htw__record_of(timer);
    const struct htw_scheduler *scheduler = shard->scheduler;
    uint64_t tick = htw_timer_deadline(timer);
    if (!drain(record))
        return; /* claimed: htw__shard_reclaim() frees it */
    if (tick == HTW_NEVER_TICK || tick < drained->tick ||
        tick != htw__tick_from(scheduler, record->deadline_ns)) {
        push_other(&drained->others, record, htw__now_ns(scheduler));
        return;
    }
    if (tick != drained->tick)
        close_tick(drained);
    drained->tick = tick;
    push(&drained->same, record);
}

/* A slice of a wheel: first what has a deadline, then the rest. Whether there is more. */
static bool drain_slice(struct htw__shard *shard, struct htw_wheel *wheel,
                        struct drained *drained) {
    struct htw_timer *timer = NULL;
    htw__lock_acquire(&shard->lock);
    for (unsigned i = 0; i < HTW__SLICE; i++) {
        timer = htw_wheel_poll(wheel, HTW_NEVER_TICK);
        if (timer == NULL)
            timer = htw_wheel_drain(wheel);
        if (timer == NULL)
            break;
        gather(shard, drained, timer);
    }
    htw__lock_release(&shard->lock);
    return timer != NULL;
}

/* All timers of a shard that are left, in order of deadline. */
static struct htw__record *drain_all(struct htw__shard *shard) {
    struct drained drained = { .first = NULL };
    drained.end = &drained.first;
    drain_unrun(shard, &drained.others);
    while (shard->previous != NULL && drain_slice(shard, shard->previous, &drained))
        ;
    close_tick(&drained);
    struct htw__record *previous = drained.first;
    drained.first = NULL;
    drained.end = &drained.first;
    while (drain_slice(shard, shard->wheel, &drained))
        ;
    close_tick(&drained);
    return merge(merge(previous, drained.first), sort(drained.others));
}

static void hand_back(struct htw__shard *shard, struct htw__record *record,
                      htw_unexpired_visitor *visitor, void *context) {
    struct htw__ended ended;
    htw__lock_acquire(&shard->lock);
    htw__attributes_detach(shard, record, htw__status_of(record) & HTW__HAS_ATTRIBUTES, &ended);
    htw__counter_add(&shard->handed_back, 1);
    record->timer = (struct htw_timer) { 0 };
    htw__shard_free_record(shard, record);
    htw__lock_release(&shard->lock);
    if (visitor != NULL)
        visitor(context, &ended.unexpired);
    if (!htw__is_child(shard->scheduler))
        htw__ended_settle(shard->scheduler, &ended);
}

static void empty_shard(struct htw__shard *shard, htw_unexpired_visitor *visitor, void *context) {
    struct htw__record *record = drain_all(shard);
    while (record != NULL) {
        struct htw__record *next = record->next;
        hand_back(shard, record, visitor, context);
        if (htw__is_child(shard->scheduler))
            return;
        record = next;
    }
    htw__lock_acquire(&shard->lock);
    atomic_store_explicit(&shard->wake_tick, HTW_NEVER_TICK, memory_order_relaxed);
    htw__lock_release(&shard->lock);
    htw__shard_clean(shard);
}

static void close_shard(struct htw__shard *shard) {
    htw__lock_acquire(&shard->lock);
    shard->closed = true;
    htw__lock_release(&shard->lock);
}

/* Whether it is this call that has to stop the scheduler; otherwise another one has. */
static bool begin(struct htw_scheduler *scheduler) {
    pthread_mutex_lock(&scheduler->life.mutex);
    bool first = scheduler->life.phase == HTW__ALIVE;
    if (first)
        scheduler->life.phase = HTW__STOPPING;
    while (!first && scheduler->life.phase != HTW__STOPPED)
        pthread_cond_wait(&scheduler->life.changed, &scheduler->life.mutex);
    pthread_mutex_unlock(&scheduler->life.mutex);
    return first;
}

static void end(struct htw_scheduler *scheduler) {
    pthread_mutex_lock(&scheduler->life.mutex);
    scheduler->life.phase = HTW__STOPPED;
    pthread_cond_broadcast(&scheduler->life.changed);
    pthread_mutex_unlock(&scheduler->life.mutex);
}

static void stop(struct htw_scheduler *scheduler, htw_unexpired_visitor *visitor, void *context) {
    if (!begin(scheduler))
        return;
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        close_shard(&scheduler->shards[i]);
    htw__scheduler_end_threads(scheduler);
    /* A visitor or hook that stops the scheduler again would wait for itself. */
    struct htw__run run = { .scheduler = scheduler, .outer = htw__innermost_run };
    htw__innermost_run = &run;
    for (uint32_t i = 0; i < scheduler->shard_count && !htw__is_child(scheduler); i++)
        empty_shard(&scheduler->shards[i], visitor, context);
    htw__innermost_run = run.outer;
    if (!htw__is_child(scheduler))
        end(scheduler);
}

/* Nobody could go on with what a cancelled thread leaves half done: it is cancelled afterwards. */
int htw_scheduler_stop(struct htw_scheduler *scheduler, htw_unexpired_visitor *visitor,
                       void *context) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (htw__is_inside(scheduler))
        return -EDEADLK;
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    stop(scheduler, visitor, context);
    pthread_setcancelstate(cancel_state, NULL);
    return htw__is_child(scheduler) ? -EOWNERDEAD : 0;
}

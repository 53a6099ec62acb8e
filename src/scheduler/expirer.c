/* SPDX-License-Identifier: MIT */
/* expirer.c - waits for deadlines, takes due timers from the shards and runs them or hands them
   over. */
#include "expirer.h"

#include "../base/thread.h"
#include "clocks.h"
#include "executor.h"
#include "run.h"
#include "shard.h"
#include "workers.h"

/* How often a thread that could sleep looks for batches that wait behind a callback. */
#define REBALANCE_PERIOD_NS (1 * HTW_MILLISECOND)

static bool runs_callbacks(const struct htw_scheduler *scheduler) {
    return scheduler->worker_count == 0 && !scheduler->has_executor;
}

int htw__expirer_init(struct htw__expirer *expirer, struct htw_scheduler *scheduler,
                      unsigned index) {
    expirer->scheduler = scheduler;
    expirer->index = index;
    HTW__ANNOTATE_ATOMIC(&expirer->wakeups, 2 * sizeof(expirer->wakeups)); /* and the empty ones */
    int error = htw__waker_init(&expirer->waker, scheduler);
    if (error == 0 && runs_callbacks(scheduler) &&
        (expirer->run_stats = htw__run_stats_create(scheduler)) == NULL)
        error = -ENOMEM;
    return error;
}

void htw__expirer_fini(struct htw__expirer *expirer) {
    if (expirer->scheduler == NULL) /* not initialised */
        return;
    htw__waker_fini(&expirer->waker);
    htw__run_stats_destroy(expirer->scheduler, expirer->run_stats);
}

uint64_t htw__expirer_next_tick(const struct htw__expirer *expirer) {
    const struct htw_scheduler *scheduler = expirer->scheduler;
    uint64_t next = HTW_NEVER_TICK;
    for (uint32_t i = expirer->index; i < scheduler->shard_count; i += scheduler->expirer_count) {
        uint64_t tick = atomic_load_explicit(&scheduler->shards[i].wake_tick, memory_order_relaxed);
        if (tick < next)
            next = tick;
    }
    return next;
}

/* ---- due timers */

/* A batch to fill; NULL: the scheduler is being stopped. */
static struct htw__batch *empty_batch(struct htw__expirer *expirer) {
    return expirer->scheduler->worker_count > 0 ? htw__workers_wait_for_batch(expirer->scheduler)
                                                : &expirer->batch;
}

static void dispatch(struct htw__expirer *expirer, struct htw__batch *batch) {
    struct htw_scheduler *scheduler = expirer->scheduler;
    if (scheduler->worker_count > 0)
        htw__workers_submit(scheduler, batch);
    else if (scheduler->has_executor)
        htw__executor_submit(scheduler, batch);
    else
        htw__run_batch(expirer->run_stats, batch);
}

static size_t run_due_of(struct htw__expirer *expirer, struct htw__shard *shard, int64_t now_ns,
                         size_t budget) {
    size_t count = 0;
    bool more = true;
    while (more && count < budget && !htw__is_ending(expirer->scheduler)) {
        struct htw__batch *batch = empty_batch(expirer);
        if (batch == NULL)
            break;
        size_t left = budget - count;
        more = htw__shard_collect(shard, now_ns, batch,
                                  left < HTW__SLICE ? (uint32_t)left : HTW__SLICE);
        count += batch->count;
        dispatch(expirer, batch);
    }
    return count;
}

size_t htw__expirer_run_due(struct htw__expirer *expirer, int64_t now_ns, size_t budget) {
    struct htw_scheduler *scheduler = expirer->scheduler;
    uint64_t now_tick = htw__tick_at(scheduler, now_ns);
    uint32_t step = scheduler->expirer_count;
    uint32_t own = (scheduler->shard_count - expirer->index + step - 1) / step;
    uint32_t visited = 0;
    size_t count = 0;
    for (; visited < own && count < budget; visited++) {
        uint32_t nth = (expirer->first_shard + visited) % own;
        struct htw__shard *shard = &scheduler->shards[expirer->index + nth * step];
        if (atomic_load_explicit(&shard->wake_tick, memory_order_relaxed) <= now_tick)
            count += run_due_of(expirer, shard, now_ns, budget - count);
    }
    /* Otherwise a shard that always has something due would use up every budget. */
    if (count == budget)
        expirer->first_shard = (expirer->first_shard + visited) % own;
    htw__counter_add(&expirer->wakeups, 1);
    if (count == 0)
        htw__counter_add(&expirer->empty_wakeups, 1);
    return count;
}

/* ---- cleanup */

/* Whether the threads of a shard will soon reuse its stale records: since the last call they have
   armed as many timers. To free the records here would only move them to the cache of this CPU. */
static bool will_be_reused(struct htw__shard *shard) {
    uint64_t stale = atomic_load_explicit(&shard->stale, memory_order_relaxed) >> 32;
    uint64_t scheduled = htw__counter_read(&shard->scheduled);
    uint64_t since = scheduled - shard->scheduled_before;
    shard->scheduled_before = scheduled;
    return stale > 0 && since > stale;
}

void htw__expirer_clean_up(struct htw__expirer *expirer, bool all) {
    const struct htw_scheduler *scheduler = expirer->scheduler;
    bool again = false;
    if (!atomic_load_explicit(&expirer->waker.cleanup, memory_order_relaxed))
        return;
    atomic_exchange_explicit(&expirer->waker.cleanup, false, memory_order_acq_rel);
    for (uint32_t i = expirer->index; i < scheduler->shard_count; i += scheduler->expirer_count) {
        if (will_be_reused(&scheduler->shards[i]) && !all)
            again = true;
        else
            htw__shard_clean_up(&scheduler->shards[i]);
    }
    if (again)
        htw__wake_for_cleanup(&expirer->waker);
}

/* ---- the thread */

/* Sleeps until a timer is due, or the workers or the cleanup need this thread. */
static void sleep_until_next(struct htw__expirer *expirer, int64_t now_ns) {
    struct htw_scheduler *scheduler = expirer->scheduler;
    struct htw__waker *waker = &expirer->waker;
    uint64_t next = htw__expirer_next_tick(expirer);
    if (next != HTW_NEVER_TICK)
        htw__wake_at(waker, htw__tick_ns(scheduler, next));
    if (atomic_load_explicit(&waker->cleanup, memory_order_relaxed))
        htw__alarm_set(&waker->alarm, htw__after_ns(now_ns, HTW__CLEANUP_DELAY_NS));
    if (htw__workers_need_rebalance(scheduler))
        htw__alarm_set(&waker->alarm, htw__after_ns(now_ns, REBALANCE_PERIOD_NS));
    htw__alarm_disarm(&waker->alarm);
    htw__alarm_wait(&waker->alarm);
}

static void *expire(void *arg);

/* If a callback has ended the thread, the stack is unwound to here, and this continues the work of
   the thread, which ends when this returns. `nothrow`: otherwise clang ends the program when a
   later callback unwinds the stack through this function again. */
static __attribute__((nothrow, noinline)) void continue_thread(struct htw__expirer **expirer) {
    if (!htw__is_ending((*expirer)->scheduler))
        expire(*expirer);
}

static void *expire(void *arg) {
    struct htw__expirer *expirer __attribute__((cleanup(continue_thread))) = arg;
    struct htw_scheduler *scheduler = expirer->scheduler;
    int64_t cleaned_up_ns = 0;
    while (!htw__is_ending(scheduler)) {
        int64_t now_ns = htw__now_ns(scheduler);
        /* From here on a thread that arms a timer that is not seen below sets the alarm. */
        htw__alarm_reset(&expirer->waker.alarm);
        htw__clock_listeners_notify(&scheduler->clock_listeners);
        htw__expirer_run_due(expirer, now_ns, SIZE_MAX);
        if (htw__is_child(scheduler))
            break; /* the child ends with its only thread */
        htw__workers_rebalance(scheduler);
        now_ns = htw__now_ns(scheduler);
        if (now_ns - cleaned_up_ns >= HTW__CLEANUP_DELAY_NS || now_ns < cleaned_up_ns) {
            htw__expirer_clean_up(expirer, false);
            cleaned_up_ns = now_ns;
        }
        if (htw__expirer_next_tick(expirer) > htw__tick_at(scheduler, now_ns) &&
            !htw__is_ending(scheduler))
            sleep_until_next(expirer, now_ns);
    }
    return NULL;
}

int htw__expirer_start(struct htw__expirer *expirer) {
    return htw__thread_start(&expirer->thread, expirer->scheduler->thread_name, "expirer",
                             expirer->index, expire, expirer);
}

void htw__expirer_join(struct htw__expirer *expirer) {
    htw__alarm_set(&expirer->waker.alarm, 0);
    pthread_join(expirer->thread, NULL);
}

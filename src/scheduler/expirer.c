/* SPDX-License-Identifier: MIT */
/* expirer.c - the thread that waits for deadlines and takes due timers from the shards. */
#include "expirer.h"

#include "executor.h"
#include "run.h"
#include "shard.h"
#include "steady.h"
#include "thread.h"
#include "wake.h"
#include "workers.h"

#include <errno.h>

/* How often the expirer checks whether a callback keeps others waiting. */
#define WATCH_PERIOD_NS (1 * HTW_MILLISECOND)

/* In its own thread, or that which drives it. */
static bool runs_callbacks(const struct htw_scheduler *scheduler) {
    return scheduler->worker_count == 0 && !scheduler->has_executor;
}

int htw__expirer_init(struct htw__expirer *expirer, struct htw_scheduler *scheduler,
                      unsigned index) {
    *expirer = (struct htw__expirer) { .scheduler = scheduler, .index = index };
    HTW__ANNOTATE_ATOMIC(&expirer->cleanup, sizeof(expirer->cleanup));
    HTW__ANNOTATE_ATOMIC(&expirer->wakeups, 2 * sizeof(expirer->wakeups)); /* and the empty ones */
    expirer->alarm.fd = -1;
    if (runs_callbacks(scheduler) && (expirer->runner = htw__runner_create(scheduler)) == NULL)
        return -ENOMEM;
    return htw__wake_init(expirer);
}

void htw__expirer_fini(struct htw__expirer *expirer) {
    if (expirer->scheduler == NULL)
        return;
    if (expirer->alarm.fd >= 0)
        htw__alarm_fini(&expirer->alarm);
    htw__runner_destroy(expirer->scheduler, expirer->runner);
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

/* ---- serving */

/* A batch for what is due; NULL when the scheduler is being stopped. */
static struct htw__batch *obtain_batch(struct htw__expirer *expirer) {
    return expirer->scheduler->worker_count > 0 ? htw__pool_obtain(expirer->scheduler)
                                                : &expirer->batch;
}

static void dispatch(struct htw__expirer *expirer, struct htw__batch *batch) {
    struct htw_scheduler *scheduler = expirer->scheduler;
    if (scheduler->worker_count > 0)
        htw__pool_submit(scheduler, batch);
    else if (scheduler->has_executor)
        htw__executor_submit(scheduler, batch);
    else
        htw__run_batch(expirer->runner, batch);
}

static size_t serve_shard(struct htw__expirer *expirer, struct htw__shard *shard, int64_t now_ns,
                          size_t budget) {
    size_t served = 0;
    bool more = true;
    while (more && served < budget && !htw__is_over(expirer->scheduler)) {
        struct htw__batch *batch = obtain_batch(expirer);
        if (batch == NULL)
            break;
        size_t left = budget - served;
        more = htw__shard_collect(shard, now_ns, batch,
                                  left < HTW__SLICE ? (uint32_t)left : HTW__SLICE);
        served += batch->count;
        dispatch(expirer, batch);
    }
    return served;
}

size_t htw__expirer_serve(struct htw__expirer *expirer, int64_t now_ns, size_t budget) {
    struct htw_scheduler *scheduler = expirer->scheduler;
    uint64_t now_tick = htw__tick_at(scheduler, now_ns);
    uint32_t step = scheduler->expirer_count;
    uint32_t own = (scheduler->shard_count - expirer->index + step - 1) / step;
    uint32_t visited = 0;
    size_t served = 0;
    for (; visited < own && served < budget; visited++) {
        uint32_t nth = (expirer->turn + visited) % own;
        struct htw__shard *shard = &scheduler->shards[expirer->index + nth * step];
        if (atomic_load_explicit(&shard->wake_tick, memory_order_relaxed) <= now_tick)
            served += serve_shard(expirer, shard, now_ns, budget - served);
    }
    /* A shard that always has something due would otherwise take every budget for itself. */
    if (served == budget)
        expirer->turn = (expirer->turn + visited) % own;
    htw__counter_add(&expirer->wakeups, 1);
    if (served == 0)
        htw__counter_add(&expirer->empty_wakeups, 1);
    return served;
}

/* Whether what is left to a shard's owner is as good as gone: since the last time he has armed as
   many timers, and he takes from there before anything grows. To do it for him would only
   take the records from his processor's cache. */
static bool owner_will_come(struct htw__shard *shard) {
    uint64_t left = atomic_load_explicit(&shard->stale, memory_order_relaxed) >> 32;
    uint64_t scheduled = htw__counter_read(&shard->scheduled);
    uint64_t since = scheduled - shard->scheduled_before;
    shard->scheduled_before = scheduled;
    return left > 0 && since > left;
}

void htw__expirer_clean(struct htw__expirer *expirer, bool wholly) {
    const struct htw_scheduler *scheduler = expirer->scheduler;
    bool again = false;
    if (!atomic_load_explicit(&expirer->cleanup, memory_order_relaxed))
        return;
    atomic_exchange_explicit(&expirer->cleanup, false, memory_order_acq_rel);
    for (uint32_t i = expirer->index; i < scheduler->shard_count; i += scheduler->expirer_count) {
        if (owner_will_come(&scheduler->shards[i]) && !wholly)
            again = true;
        else
            htw__shard_clean(&scheduler->shards[i]);
    }
    if (again)
        htw__wake_for_cleanup(expirer);
}

/* ---- the thread */

/* Sleeps until something is due, or the workers or the cleanup want attention. */
static void sleep_until_next(struct htw__expirer *expirer, int64_t now_ns) {
    struct htw_scheduler *scheduler = expirer->scheduler;
    uint64_t next = htw__expirer_next_tick(expirer);
    if (next != HTW_NEVER_TICK)
        htw__wake_at(expirer, htw__tick_ns(scheduler, next));
    if (atomic_load_explicit(&expirer->cleanup, memory_order_relaxed))
        htw__alarm_set(&expirer->alarm, htw__after_ns(now_ns, HTW__CLEANUP_DELAY_NS));
    if (htw__pool_needs_watch(scheduler))
        htw__alarm_set(&expirer->alarm, htw__after_ns(now_ns, WATCH_PERIOD_NS));
    htw__alarm_disarm(&expirer->alarm);
    htw__alarm_wait(&expirer->alarm);
}

static void *expire(void *arg);

/* If a callback has ended the thread, the thread goes on nevertheless. It has been unwound up to
   here, and ends when this returns. `nothrow`: clang would
   end the program when a later callback unwinds the thread through this function again. */
static __attribute__((nothrow, noinline)) void go_on(struct htw__expirer **expirer) {
    if (!htw__is_over((*expirer)->scheduler))
        expire(*expirer);
}

static void *expire(void *arg) {
    struct htw__expirer *expirer __attribute__((cleanup(go_on))) = arg;
    struct htw_scheduler *scheduler = expirer->scheduler;
    int64_t cleaned_ns = 0;
    while (!htw__is_over(scheduler)) {
        int64_t now_ns = htw__now_ns(scheduler);
        /* From here on, who arms something that is not seen below sets the alarm. */
        htw__alarm_reset(&expirer->alarm);
        htw__clock_watch_look(scheduler);
        htw__expirer_serve(expirer, now_ns, SIZE_MAX);
        if (htw__is_child(scheduler))
            break; /* the child ends with its only thread */
        htw__pool_watch(scheduler);
        now_ns = htw__now_ns(scheduler);
        if (now_ns - cleaned_ns >= HTW__CLEANUP_DELAY_NS || now_ns < cleaned_ns) {
            htw__expirer_clean(expirer, false);
            cleaned_ns = now_ns;
        }
        if (htw__expirer_next_tick(expirer) > htw__tick_at(scheduler, now_ns) &&
            !htw__is_over(scheduler))
            sleep_until_next(expirer, now_ns);
    }
    return NULL;
}

int htw__expirer_start(struct htw__expirer *expirer) {
    return htw__thread_start(&expirer->thread, expirer->scheduler, "expirer", expirer->index,
                             expire, expirer);
}

void htw__expirer_join(struct htw__expirer *expirer) {
    htw__alarm_set(&expirer->alarm, 0);
    pthread_join(expirer->thread, NULL);
}

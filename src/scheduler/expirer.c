/* SPDX-License-Identifier: MIT */
/* expirer.c - waits for deadlines, takes due timers from the shards and runs them or hands them
   over. */
#include "expirer.h"

#include "../base/clock.h"
#include "../port/system.h"
#include "clocks.h"
#include "collect.h"
#include "observe.h"
#include "run.h"
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
    struct htw__thread *thread = htw__first_thread_of(scheduler, index);
    thread->expirer = expirer;
    int error = htw__waker_init(&expirer->waker, scheduler);
    if (error == 0 && runs_callbacks(scheduler))
        error = htw__thread_add_run_stats(thread);
    return error;
}

/* ---- when it must serve its shards */

static unsigned slots_of(const struct htw_scheduler *scheduler) {
    /* order: Alarms order it: see `resets`. */
    return 1u | atomic_load_explicit(&scheduler->clocks_in_use, memory_order_relaxed);
}

static const struct htw__clock *clock_at(const struct htw_scheduler *scheduler, uint32_t slot) {
    return slot == 0 ? scheduler->clock : htw__clock_for(scheduler, (enum htw_clock)slot);
}

struct htw__present htw__present_of(const struct htw_scheduler *scheduler) {
    struct htw__present present = { .slots = slots_of(scheduler) };
    for (uint32_t slot = 0; present.slots >> slot != 0; slot++)
        if (present.slots & 1u << slot)
            present.ns[slot] = htw__clock_now_ns(scheduler, clock_at(scheduler, slot));
    return present;
}

/* When it must serve one of its shards, by the clock of a slot; HTW_NEVER_NS: never. */
static int64_t next_ns(const struct htw__expirer *expirer, uint32_t slot) {
    const struct htw_scheduler *scheduler = expirer->scheduler;
    uint64_t next = HTW_NEVER_TICK;
    for (uint32_t i = expirer->index; i < scheduler->shard_count; i += scheduler->expirer_count) {
        const struct htw__clockwork *clockwork =
            htw__shard_clockwork_at(&scheduler->shards[i], slot);
        uint64_t tick = clockwork == NULL ? next : htw__clockwork_wake_tick(clockwork);
        if (tick < next)
            next = tick;
    }
    return htw__tick_ns(scheduler, next);
}

int64_t htw__expirer_next_ns(const struct htw__expirer *expirer) {
    const struct htw_scheduler *scheduler = expirer->scheduler;
    unsigned slots = slots_of(scheduler);
    int64_t least_ns = HTW_NEVER_NS;
    for (uint32_t slot = 0; slots >> slot != 0; slot++)
        if (slots & 1u << slot) {
            int64_t at_ns =
                htw__own_from_ns(scheduler, clock_at(scheduler, slot), next_ns(expirer, slot));
            least_ns = at_ns < least_ns ? at_ns : least_ns;
        }
    return least_ns;
}

int64_t htw__expirer_left_ns(const struct htw__expirer *expirer,
                             const struct htw__present *present) {
    int64_t least_ns = HTW_NEVER_NS;
    for (uint32_t slot = 0; present->slots >> slot != 0; slot++)
        if (present->slots & 1u << slot) {
            int64_t left_ns = htw__left_ns(present->ns[slot], next_ns(expirer, slot));
            least_ns = left_ns < least_ns ? left_ns : least_ns;
        }
    return least_ns;
}

int64_t htw__expirer_plan_alarm(struct htw__expirer *expirer, int64_t latest_ns) {
    const struct htw_scheduler *scheduler = expirer->scheduler;
    struct htw__waker *waker = &expirer->waker;
    int64_t next_ns = htw__expirer_next_ns(expirer);
    int64_t at_ns = htw__after_ns(next_ns, scheduler->timer_slack_ns);
    if (at_ns > latest_ns)
        at_ns = latest_ns;
    /* order: The thread that sets it sets the alarm, too. */
    if (atomic_load_explicit(&waker->cleanup, memory_order_relaxed)) {
        int64_t cleanup_ns = htw__after_ns(htw__now_ns(scheduler), HTW__CLEANUP_DELAY_NS);
        at_ns = at_ns < cleanup_ns ? at_ns : cleanup_ns;
    }
    htw__alarm_plan(&waker->alarm, htw__clock_earlier(next_ns, at_ns), at_ns);
    return at_ns;
}

/* ---- due timers */

/* A batch to fill; NULL: the scheduler is being stopped, or the thread is a worker now. */
static struct htw__batch *empty_batch(struct htw__expirer *expirer, struct htw__thread *thread) {
    return expirer->scheduler->worker_count > 0
               ? htw__workers_wait_for_batch(expirer->scheduler, thread)
               : &expirer->batch;
}

static void dispatch(struct htw__expirer *expirer, struct htw__thread *thread,
                     struct htw__batch *batch) {
    struct htw_scheduler *scheduler = expirer->scheduler;
    if (scheduler->worker_count > 0)
        htw__workers_submit(scheduler, thread, batch, expirer->busy_since_ns);
    else if (scheduler->has_executor)
        htw__executor_submit(scheduler, batch);
    else
        htw__run_batch(htw__thread_run_stats(htw__first_thread_of(scheduler, expirer->index)),
                       batch);
}

/* Whether the thread must not act as the expirer any more. */
static bool is_over(const struct htw__expirer *expirer, const struct htw__thread *thread) {
    return htw__is_ending(expirer->scheduler) || (thread != NULL && thread->expirer != expirer);
}

static size_t run_due_of(struct htw__expirer *expirer, struct htw__thread *thread,
                         struct htw__clockwork *clockwork, int64_t now_ns, size_t budget) {
    size_t count = 0;
    bool more = true;
    while (more && count < budget && !is_over(expirer, thread)) {
        struct htw__batch *batch = empty_batch(expirer, thread);
        if (batch == NULL)
            break;
        size_t left = budget - count;
        more = htw__collect(expirer, clockwork, now_ns, batch,
                            left < HTW__SLICE ? (uint32_t)left : HTW__SLICE);
        count += batch->count;
        dispatch(expirer, thread, batch);
    }
    return count;
}

/*
 * The clockworks of an expirer are in a row, in which a call goes on where the last one has used up its
 * budget: otherwise one that always has something due would use up every budget. With five shards, the second of
 * two expirers has the shards 1 and 3:
 *
 *     number   0  1    2  3    4  5    6  7
 *     shard    1  3    1  3    1  3    1  3
 *     slot     0  0    1  1    2  2    3  3     only 0 while no timer has another clock
 */
size_t htw__expirer_run_due(struct htw__expirer *expirer, struct htw__thread *thread,
                            const struct htw__present *present, size_t budget) {
    struct htw_scheduler *scheduler = expirer->scheduler;
    uint32_t step = scheduler->expirer_count;
    uint32_t shards = (scheduler->shard_count - expirer->index + step - 1) / step;
    uint32_t all = present->slots == 1u ? shards : shards * HTW__SLOT_COUNT;
    uint32_t visited = 0;
    size_t count = 0;
    for (; visited < all && count < budget; visited++) {
        uint32_t number = (expirer->first_served + visited) % all, slot = number / shards;
        struct htw__shard *shard = &scheduler->shards[expirer->index + number % shards * step];
        struct htw__clockwork *clockwork = htw__shard_clockwork_at(shard, slot);
        if (clockwork != NULL && (present->slots & 1u << slot) &&
            htw__clockwork_wake_tick(clockwork) <= htw__tick_at(scheduler, present->ns[slot]))
            count += run_due_of(expirer, thread, clockwork, present->ns[slot], budget - count);
        if (is_over(expirer, thread))
            return count;
    }
    if (count == budget)
        expirer->first_served = (expirer->first_served + visited) % all;
    if (count > 0 || !expirer->begins) {
        htw__counter_add(&expirer->wakeups, 1);
        if (count == 0)
            htw__counter_add(&expirer->empty_wakeups, 1);
    }
    expirer->begins = false;
    if (expirer->woken && htw__is_observed(scheduler))
        scheduler->calls->found_none(expirer);
    expirer->woken = false;
    return count;
}

/* ---- cleanup */

/* Whether the threads of a shard will soon reuse its stale records: since the last call they have
   armed as many timers. To free the records here would only move them to the cache of this CPU. */
static bool will_be_reused(struct htw__shard *shard) {
    uint32_t stale = htw__shard_stale_count(shard);
    uint64_t scheduled = htw__counter_read(&shard->scheduled);
    uint64_t since = scheduled - shard->scheduled_before;
    shard->scheduled_before = scheduled;
    return stale > 0 && since > stale;
}

/* Whether something must be done before the rest of a cleanup. Manual time stands still. */
static bool is_urgent(const struct htw__expirer *expirer) {
    const struct htw_scheduler *scheduler = expirer->scheduler;
    if (htw__is_ending(scheduler))
        return true;
    struct htw__present present = htw__present_of(scheduler);
    return !htw__is_manual(scheduler) && htw__expirer_left_ns(expirer, &present) == 0;
}

/* After a burst of timers there are millions of records to free, none of them in the cache: work of
   seconds. So it is done in steps, until a timer is due. */
bool htw__expirer_clean_up(struct htw__expirer *expirer, bool all) {
    const struct htw_scheduler *scheduler = expirer->scheduler;
    bool again = false, urgent = false;
    /* order: A hint: the exchange that follows decides. */
    if (!atomic_load_explicit(&expirer->waker.cleanup, memory_order_relaxed))
        return true;
    /* order: What other threads have pushed before they found the flag set must be visible. [relaxed:
       `cleanup-again`] */
    atomic_exchange_explicit(&expirer->waker.cleanup, false, memory_order_acquire);
    for (uint32_t i = expirer->index; i < scheduler->shard_count && !urgent;
         i += scheduler->expirer_count) {
        if (will_be_reused(&scheduler->shards[i]) && !all) {
            again = true;
            continue;
        }
        while (!urgent && htw__shard_clean_up_some(&scheduler->shards[i]))
            urgent = is_urgent(expirer);
    }
    /* The alarm has yet to be planned. */
    /* order: Not a store: it would hide the release of another thread, whose records the next cleanup
       must see. */
    if (again || urgent)
        atomic_exchange_explicit(&expirer->waker.cleanup, true, memory_order_relaxed);
    return !urgent;
}

/* ---- the thread */

/* Sleeps until a timer is due, or the workers or the cleanup need this thread. */
static void sleep_until_next(struct htw__expirer *expirer, int64_t now_ns) {
    struct htw_scheduler *scheduler = expirer->scheduler;
    bool rebalances = htw__workers_need_rebalance(scheduler);
    int64_t at_ns = htw__expirer_plan_alarm(
        expirer, rebalances ? htw__after_ns(now_ns, REBALANCE_PERIOD_NS) : HTW_NEVER_NS);
    htw__workers_dismiss_deputy(scheduler, htw__left_ns(now_ns, at_ns));
    htw__alarm_wait(&expirer->waker.alarm);
    expirer->woken = true;
    HTW__PROBE2(wake, scheduler, expirer->index);
}

/* Returns when the scheduler is being stopped, or when the thread is a worker. */
static void expire(struct htw__thread *thread) {
    struct htw_scheduler *scheduler = thread->scheduler;
    struct htw__expirer *expirer = thread->expirer;
    bool has_workers = scheduler->worker_count > 0;
    int64_t cleaned_up_ns = 0;
    bool slept = true, is_clean = true;
    expirer->begins = true;
    while (!is_over(expirer, thread)) {
        if (slept && has_workers)
            expirer->busy_since_ns = htw__clock_monotonic_ns();
        /* From here on a thread that arms a timer that is not seen below sets the alarm. */
        htw__alarm_reset(&expirer->waker.alarm);
        struct htw__present present = htw__present_of(scheduler);
        htw__expirer_run_due(expirer, thread, &present, SIZE_MAX);
        if (is_over(expirer, thread))
            break;
        if (has_workers) {
            htw__workers_rebalance(scheduler);
            htw__workers_finish(thread);
            if (is_over(expirer, thread))
                break;
        }
        int64_t now_ns = htw__now_ns(scheduler);
        if (!is_clean || now_ns - cleaned_up_ns >= HTW__CLEANUP_DELAY_NS ||
            now_ns < cleaned_up_ns) {
            is_clean = htw__expirer_clean_up(expirer, false);
            cleaned_up_ns = now_ns;
        }
        /* For timers of other clocks that are due, the alarm rings at once. */
        slept = is_clean && next_ns(expirer, 0) > now_ns && !htw__is_ending(scheduler);
        if (slept)
            sleep_until_next(expirer, now_ns);
    }
}

/* The life of a thread, as a worker and as an expirer. */
void *htw__run_thread(void *arg) {
    htw__thread_begin();
    struct htw__thread *thread = arg;
    const struct htw__expirer *role;
    do {
        role = thread->expirer;
        if (role != NULL)
            expire(thread);
        else
            htw__workers_work(thread);
    } while (thread->expirer != role);
    return NULL;
}

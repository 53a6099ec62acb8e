/* SPDX-License-Identifier: MIT */
/* scheduler.c - creates and destroys a scheduler; its options. */
#include "../port/system.h"
#include "../base/random.h"
#include "../base/refusal.h"
#include "expirer.h"
#include "observe.h"
#include "run.h"
#include "shard.h"
#include "workers.h"

#include <htw/loop.h>

#include <stdio.h>
#include <string.h>

#define LATE_THRESHOLD_DEFAULT_NS (10 * HTW_MILLISECOND)
#define WORKERS_DEFAULT 2u

int64_t htw_scheduler_now(const struct htw_scheduler *scheduler) {
    return htw__scheduler_refusal(scheduler) == 0 ? htw__now_ns(scheduler) : 0;
}

int64_t htw_scheduler_now_by(const struct htw_scheduler *scheduler, enum htw_clock clock) {
    if (htw__scheduler_refusal(scheduler) != 0)
        return 0;
    const struct htw__clock *its = htw__clock_for(scheduler, clock);
    return its == NULL ? 0 : htw__clock_now_ns(scheduler, its);
}

enum htw_clock htw_scheduler_clock(const struct htw_scheduler *scheduler) {
    return scheduler == NULL ? HTW_CLOCK_MONOTONIC : scheduler->clock->name;
}

/* ---- options */

static bool is_in_range(int64_t value, int64_t low, int64_t high) {
    return value >= low && value <= high;
}

static const char *invalid_member(const struct htw_scheduler_options *options) {
    uint32_t size = options->wheel_size;
    if (options->struct_size != sizeof(*options))
        return "struct_size";
    if (options->tick_ns != 0 && !is_in_range(options->tick_ns, HTW_TICK_NS_MIN, HTW_TICK_NS_MAX))
        return "tick_ns";
    if (size != 0 &&
        (!is_in_range(size, HTW_WHEEL_SIZE_MIN, HTW_WHEEL_SIZE_MAX) || (size & (size - 1)) != 0))
        return "wheel_size";
    if (options->shards > HTW_SHARDS_MAX)
        return "shards";
    if (options->expirers > HTW_EXPIRERS_MAX)
        return "expirers";
    if (options->workers > HTW_WORKERS_MAX && options->workers != HTW_NO_WORKERS)
        return "workers";
    if (htw__clock_of(options->clock) == NULL)
        return "clock";
    if (options->embedded && options->start_threads)
        return "start_threads";
    if (options->timer_slack_ns < 0)
        return "timer_slack_ns";
    if (options->late_threshold_ns < 0)
        return "late_threshold_ns";
    if (options->manual_start_ns < 0)
        return "manual_start_ns";
    if (options->executor != NULL && options->executor->execute == NULL)
        return "executor";
    if (options->allocator != NULL && !htw__allocator_is_valid(options->allocator))
        return "allocator";
    if ((options->observe & ~HTW__OBSERVE_ALL) != 0)
        return "observe";
    return options->event_count > HTW_EVENTS_MAX ? "event_count" : NULL;
}

static uint32_t bits_for(uint32_t count) {
    return count <= 1 ? 0 : htw__highest_bit(count - 1) + 1;
}

static void set_options(struct htw_scheduler *scheduler,
                        const struct htw_scheduler_options *options, uint32_t index_bits) {
    scheduler->clock = htw__clock_of(options->clock);
    scheduler->tick =
        htw__divisor_of((uint64_t)(options->tick_ns == 0 ? HTW_MILLISECOND : options->tick_ns));
    scheduler->wheel_size = options->wheel_size;
    scheduler->shard_count =
        options->shards == 0 ? htw__cpu_count(HTW_SHARDS_MAX) : options->shards;
    uint32_t expirers = htw__is_manual(scheduler) || options->embedded || options->expirers == 0
                            ? 1
                            : options->expirers;
    scheduler->expirer_count =
        expirers < scheduler->shard_count ? expirers : scheduler->shard_count;
    bool has_workers =
        !options->embedded && options->executor == NULL && options->workers != HTW_NO_WORKERS;
    uint32_t workers = options->workers == 0 ? WORKERS_DEFAULT : options->workers;
    scheduler->worker_count = has_workers ? workers : 0;
    scheduler->embedded = options->embedded;
    scheduler->max_pending = options->max_pending;
    scheduler->timer_slack_ns = options->timer_slack_ns;
    scheduler->late_threshold_ns =
        options->late_threshold_ns == 0 ? LATE_THRESHOLD_DEFAULT_NS : options->late_threshold_ns;
    uint32_t shard_bits = bits_for(scheduler->shard_count);
    scheduler->index_bits = index_bits == 0 ? 32u - shard_bits : index_bits;
    scheduler->index_mask = UINT32_MAX >> (32u - scheduler->index_bits);
    scheduler->shard_mask = (1u << shard_bits) - 1;
    scheduler->generation_shift = scheduler->index_bits + shard_bits;
    scheduler->has_executor = options->executor != NULL;
    if (scheduler->has_executor)
        scheduler->executor = *options->executor;
    snprintf(scheduler->thread_name, sizeof(scheduler->thread_name), "%s",
             options->thread_name == NULL ? "htw" : options->thread_name);
    for (unsigned i = 0; i < HTW__CLOCK_COUNT; i++)
        atomic_init(&scheduler->manual_ns[i], options->manual_start_ns);
    atomic_init(&scheduler->credit,
                options->max_pending > INT64_MAX ? INT64_MAX : (int64_t)options->max_pending);
    scheduler->key_seed = htw__random_seed(scheduler);
}

/* ---- the parts */

static int create_expirers(struct htw_scheduler *scheduler) {
    scheduler->expirers = htw__allocate(&scheduler->allocator,
                                        scheduler->expirer_count * sizeof(*scheduler->expirers));
    if (scheduler->expirers == NULL)
        return -ENOMEM;
    memset(scheduler->expirers, 0, scheduler->expirer_count * sizeof(*scheduler->expirers));
    int error = 0;
    for (unsigned i = 0; i < scheduler->expirer_count && error == 0; i++)
        error = htw__expirer_init(&scheduler->expirers[i], scheduler, i);
    return error;
}

static int create_shards(struct htw_scheduler *scheduler) {
    scheduler->shards =
        htw__allocate(&scheduler->allocator, scheduler->shard_count * sizeof(*scheduler->shards));
    if (scheduler->shards == NULL)
        return -ENOMEM;
    memset(scheduler->shards, 0, scheduler->shard_count * sizeof(*scheduler->shards));
    int error = 0;
    for (uint32_t i = 0; i < scheduler->shard_count && error == 0; i++)
        error = htw__shard_init(&scheduler->shards[i], scheduler, i,
                                &scheduler->expirers[i % scheduler->expirer_count].waker);
    return error;
}

static int create_parts(struct htw_scheduler *scheduler, uint32_t event_count) {
    int error = htw__observation_create(scheduler, event_count);
    if (error == 0)
        error = htw__workers_init(scheduler);
    if (error == 0)
        error = create_expirers(scheduler);
    if (error == 0)
        error = create_shards(scheduler);
    if (error != 0 || !scheduler->has_executor)
        return error;
    scheduler->executor_run_stats = htw__run_stats_create(scheduler, htw__thread_count(scheduler));
    if (scheduler->executor_run_stats == NULL)
        return -ENOMEM;
    scheduler->executor_run_stats->shared = true;
    return 0;
}

static void destroy_parts(struct htw_scheduler *scheduler) {
    const struct htw_allocator allocator = scheduler->allocator;
    htw__run_stats_destroy(scheduler, scheduler->executor_run_stats);
    for (unsigned i = 0; scheduler->expirers != NULL && i < scheduler->expirer_count; i++)
        htw__waker_fini(&scheduler->expirers[i].waker);
    htw__release(&allocator, scheduler->expirers,
                 scheduler->expirer_count * sizeof(*scheduler->expirers));
    for (uint32_t i = 0; scheduler->shards != NULL && i < scheduler->shard_count; i++)
        htw__shard_fini(&scheduler->shards[i]);
    htw__release(&allocator, scheduler->shards,
                 scheduler->shard_count * sizeof(*scheduler->shards));
    htw__workers_fini(scheduler);
    htw__work_queue_fini(&scheduler->work_queue);
    htw__cancel_waiters_fini(&scheduler->cancel_waiters);
    htw__life_fini(&scheduler->life);
    if (scheduler->calls != NULL)
        scheduler->calls->destroy(scheduler);
    htw__allocator_forget(&scheduler->allocator);
    htw__release(&allocator, scheduler, sizeof(*scheduler));
}

/* ---- create and destroy */

int htw__scheduler_create(struct htw_scheduler **ret_scheduler,
                          const struct htw_scheduler_options *options, uint32_t index_bits) {
    static const struct htw_scheduler_options defaults = HTW_SCHEDULER_OPTIONS_INIT;
    if (options == NULL)
        options = &defaults;
    const char *member = invalid_member(options);
    if (ret_scheduler == NULL || member != NULL)
        return htw__refuse(member);
    int error = htw__fork_init();
    if (error != 0)
        return error;
    const struct htw_allocator *allocator =
        options->allocator == NULL ? &htw__default_allocator : options->allocator;
    struct htw_scheduler *scheduler = htw__allocate(allocator, sizeof(*scheduler));
    if (scheduler == NULL)
        return -ENOMEM;
    memset(scheduler, 0, sizeof(*scheduler));
    HTW__ANNOTATE_ALLOCATED(scheduler, sizeof(*scheduler));
    scheduler->allocator = *allocator;
    htw__allocator_hide(&scheduler->allocator, &scheduler->users_allocator);
    scheduler->fork_count = htw__fork_count();
    set_options(scheduler, options, index_bits);
    htw__work_queue_init(&scheduler->work_queue);
    htw__life_init(&scheduler->life);
    htw__cancel_waiters_init(&scheduler->cancel_waiters);
    atomic_init(&scheduler->mode, (htw__needs_threads(scheduler) ? HTW__MODE_STARTING : 0u) |
                                      (options->max_pending > 0 ? HTW__MODE_LIMITED : 0u));
    error = create_parts(scheduler, options->event_count);
    if (error == 0)
        error = scheduler->calls->observe(scheduler, options->observe);
    if (error == 0 && options->start_threads && htw__needs_threads(scheduler))
        error = htw__start_threads(scheduler, true);
    if (error != 0) {
        htw__end_threads(scheduler);
        destroy_parts(scheduler);
        return error;
    }
    *ret_scheduler = scheduler;
    return 0;
}

int htw_scheduler_create(struct htw_scheduler **ret_scheduler,
                         const struct htw_scheduler_options *options) {
    return htw__scheduler_create(ret_scheduler, options, 0);
}

int htw_scheduler_destroy(struct htw_scheduler *scheduler) {
    if (scheduler == NULL)
        return 0;
    int error = htw_scheduler_stop(scheduler, NULL, NULL);
    if (error == 0)
        destroy_parts(scheduler);
    return error;
}

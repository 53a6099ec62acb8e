/* SPDX-License-Identifier: MIT */
/* process.c - embedded mode and manual time: process(), advance() and set_time(). */
#include "clocks.h"
#include "expirer.h"
#include "workers.h"

static int begin_processing(struct htw_scheduler *scheduler) {
    return htw__is_inside(scheduler) ? -EDEADLK : htw__life_begin_processing(&scheduler->life);
}

/* ---- embedded */

static bool is_embedded(const struct htw_scheduler *scheduler) {
    return scheduler->embedded && !htw__is_manual(scheduler);
}

int htw_scheduler_fd(struct htw_scheduler *scheduler) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    return is_embedded(scheduler) ? scheduler->expirers[0].waker.alarm.fd : -ENOTSUP;
}

int64_t htw_scheduler_next(struct htw_scheduler *scheduler) {
    if (htw__scheduler_refusal(scheduler) != 0)
        return HTW_NEVER_NS;
    uint64_t next = HTW_NEVER_TICK;
    for (uint32_t i = 0; i < scheduler->expirer_count; i++) {
        uint64_t tick = htw__expirer_next_tick(&scheduler->expirers[i]);
        next = tick < next ? tick : next;
    }
    return htw__tick_ns(scheduler, next);
}

/* A call of htw_scheduler_process(). */
struct process_call {
    struct htw_scheduler *scheduler;
    int64_t now_ns;
    bool *ret_more;
};

/* Sets the alarm for what is left. Also called where a callback does not return but unwinds the
   stack (see end_pass() in run.c). */
static void end_process(struct process_call *call) {
    struct htw_scheduler *scheduler = call->scheduler;
    struct htw__expirer *expirer = &scheduler->expirers[0];
    if (htw__is_child(scheduler))
        return;
    htw__expirer_clean_up(expirer, true);
    uint64_t next = htw__expirer_next_tick(expirer);
    *call->ret_more = next <= htw__tick_at(scheduler, call->now_ns); /* the budget is spent */
    if (*call->ret_more)
        htw__alarm_set(&expirer->waker.alarm, call->now_ns);
    else
        htw__wake_at(&expirer->waker, htw__tick_ns(scheduler, next));
    htw__alarm_disarm(&expirer->waker.alarm);
    htw__life_end_processing(&scheduler->life);
}

static size_t process(struct htw_scheduler *scheduler, size_t budget, bool *ret_more) {
    struct htw__expirer *expirer = &scheduler->expirers[0];
    struct process_call call
        __attribute__((cleanup(end_process))) = { scheduler, htw__now_ns(scheduler), ret_more };
    htw__alarm_clear(&expirer->waker.alarm);
    htw__alarm_reset(&expirer->waker.alarm);
    htw__clock_listeners_notify(&scheduler->clock_listeners);
    return htw__expirer_run_due(expirer, call.now_ns, budget);
}

int htw_scheduler_process(struct htw_scheduler *scheduler, size_t budget, size_t *ret_count) {
    int error = htw__scheduler_refusal(scheduler);
    if (error == 0 && !is_embedded(scheduler))
        error = -ENOTSUP;
    if (error == 0)
        error = begin_processing(scheduler);
    if (error != 0)
        return error;
    bool more = false;
    size_t count = process(scheduler, budget == 0 ? SIZE_MAX : budget, &more);
    if (htw__is_child(scheduler))
        return -EOWNERDEAD;
    if (ret_count != NULL)
        *ret_count = count;
    return budget != 0 && more ? HTW_MORE : HTW_DONE;
}

/* ---- manual time */

/* Runs all that is due up to an instant, tick by tick. */
static void run_until(struct htw_scheduler *scheduler, int64_t until_ns) {
    struct htw__expirer *expirer = &scheduler->expirers[0];
    for (;;) {
        int64_t next_ns = htw__tick_ns(scheduler, htw__expirer_next_tick(expirer));
        if (next_ns > until_ns || next_ns == HTW_NEVER_NS)
            return;
        int64_t now_ns = atomic_load_explicit(&scheduler->manual_ns, memory_order_relaxed);
        if (now_ns < next_ns)
            atomic_store_explicit(&scheduler->manual_ns, now_ns = next_ns, memory_order_relaxed);
        htw__expirer_run_due(expirer, now_ns, SIZE_MAX);
        if (htw__is_child(scheduler) || !htw__workers_wait_until_idle(scheduler))
            return; /* or stopped */
    }
}

static int begin_manual(struct htw_scheduler *scheduler, int64_t argument) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (!htw__is_manual(scheduler))
        return -ENOTSUP;
    return argument < 0 ? -EINVAL : begin_processing(scheduler);
}

/* Also called where a callback unwinds the stack: see end_process(). */
static void end_manual(struct htw_scheduler **scheduler) {
    if (htw__is_child(*scheduler))
        return;
    htw__expirer_clean_up(&(*scheduler)->expirers[0], true);
    htw__life_end_processing(&(*scheduler)->life);
}

#define ENDS_MANUAL __attribute__((cleanup(end_manual), unused))

int htw_scheduler_advance(struct htw_scheduler *scheduler, int64_t delta_ns) {
    int error = begin_manual(scheduler, delta_ns);
    if (error != 0)
        return error;
    struct htw_scheduler *advancing ENDS_MANUAL = scheduler;
    int64_t until_ns = htw__after_ns(htw__now_ns(scheduler), delta_ns);
    run_until(scheduler, until_ns);
    atomic_store_explicit(&scheduler->manual_ns, until_ns, memory_order_relaxed);
    return htw__is_child(scheduler) ? -EOWNERDEAD : 0;
}

int htw_scheduler_set_time(struct htw_scheduler *scheduler, int64_t time_ns) {
    int error = begin_manual(scheduler, time_ns);
    if (error != 0)
        return error;
    struct htw_scheduler *advancing ENDS_MANUAL = scheduler;
    atomic_store_explicit(&scheduler->manual_ns, time_ns, memory_order_relaxed);
    run_until(scheduler, time_ns);
    return htw__is_child(scheduler) ? -EOWNERDEAD : 0;
}

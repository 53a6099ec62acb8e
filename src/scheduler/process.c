/* SPDX-License-Identifier: MIT */
/* process.c - embedded mode and manual time: process(), advance() and set_clock(). */
#include "clocks.h"
#include "expirer.h"
#include "workers.h"

#include <htw/loop.h>

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
    int64_t next_ns = HTW_NEVER_NS;
    for (uint32_t i = 0; i < scheduler->expirer_count; i++) {
        int64_t ns = htw__expirer_next_ns(&scheduler->expirers[i]);
        next_ns = ns < next_ns ? ns : next_ns;
    }
    return next_ns;
}

static size_t process(struct htw_scheduler *scheduler, size_t budget, bool *ret_more) {
    struct htw__expirer *expirer = &scheduler->expirers[0];
    htw__alarm_clear(&expirer->waker.alarm);
    htw__alarm_reset(&expirer->waker.alarm);
    expirer->woken = true;
    HTW__PROBE2(wake, scheduler, expirer->index);
    struct htw__present present = htw__present_of(scheduler);
    size_t count = htw__expirer_run_due(expirer, NULL, &present, budget);
    htw__expirer_clean_up(expirer, true);
    *ret_more = htw__expirer_left_ns(expirer, &present) == 0; /* the budget is spent */
    htw__expirer_plan_alarm(expirer, *ret_more ? present.ns[0] : HTW_NEVER_NS);
    htw__life_end_processing(&scheduler->life);
    return count;
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
    if (ret_count != NULL)
        *ret_count = count;
    return budget != 0 && more ? HTW_MORE : HTW_DONE;
}

/* ---- manual time */

/* Lets all clocks go on. */
static void pass_time(struct htw_scheduler *scheduler, int64_t delta_ns) {
    for (unsigned i = 0; i < HTW__CLOCK_COUNT; i++) {
        /* order: Manual time: a number alone. */
        int64_t now_ns = atomic_load_explicit(&scheduler->manual_ns[i], memory_order_relaxed);
        atomic_store_explicit(&scheduler->manual_ns[i], htw__after_ns(now_ns, delta_ns),
                              memory_order_relaxed);
    }
}

/* Lets time pass and runs all that becomes due, tick by tick. */
static void run_for(struct htw_scheduler *scheduler, int64_t delta_ns) {
    struct htw__expirer *expirer = &scheduler->expirers[0];
    for (;;) {
        struct htw__present present = htw__present_of(scheduler);
        int64_t step_ns = htw__expirer_left_ns(expirer, &present);
        if (step_ns > delta_ns || step_ns == HTW_NEVER_NS)
            break;
        pass_time(scheduler, step_ns);
        delta_ns -= step_ns;
        present = htw__present_of(scheduler);
        expirer->woken = true;
        htw__expirer_run_due(expirer, NULL, &present, SIZE_MAX);
        if (!htw__workers_wait_until_idle(scheduler))
            return; /* stopped */
    }
    pass_time(scheduler, delta_ns);
}

static int begin_manual(struct htw_scheduler *scheduler, int64_t argument) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (!htw__is_manual(scheduler))
        return -ENOTSUP;
    return argument < 0 ? -EINVAL : begin_processing(scheduler);
}

static int end_manual(struct htw_scheduler *scheduler) {
    htw__expirer_clean_up(&scheduler->expirers[0], true);
    htw__life_end_processing(&scheduler->life);
    return 0;
}

int htw_scheduler_advance(struct htw_scheduler *scheduler, int64_t delta_ns) {
    int error = begin_manual(scheduler, delta_ns);
    if (error != 0)
        return error;
    run_for(scheduler, delta_ns);
    return end_manual(scheduler);
}

int htw_scheduler_set_clock(struct htw_scheduler *scheduler, enum htw_clock clock,
                            int64_t time_ns) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    const struct htw__clock *set = htw__clock_for(scheduler, clock);
    if (htw__is_manual(scheduler) && set == NULL)
        return -EINVAL;
    int error = begin_manual(scheduler, time_ns);
    if (error != 0)
        return error;
    /* order: Manual time: a number alone. */
    atomic_store_explicit(&scheduler->manual_ns[set->name], time_ns, memory_order_relaxed);
    run_for(scheduler, 0);
    return end_manual(scheduler);
}

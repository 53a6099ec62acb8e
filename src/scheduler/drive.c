/* SPDX-License-Identifier: MIT */
/* drive.c - embedded mode and manual time: the caller takes the place of the expirer. */
#include "drive.h"

#include "expirer.h"
#include "wake.h"
#include "steady.h"
#include "workers.h"

#include <errno.h>

int htw__drive_begin(struct htw_scheduler *scheduler) {
    if (htw__is_inside(scheduler))
        return -EDEADLK;
    htw__mutex_lock(&scheduler->life.mutex);
    int error = scheduler->life.phase != HTW__ALIVE ? -ESHUTDOWN
                : scheduler->life.driven            ? -EBUSY
                                                    : 0;
    if (error == 0)
        scheduler->life.driven = true;
    htw__mutex_unlock(&scheduler->life.mutex);
    return error;
}

void htw__drive_end(struct htw_scheduler *scheduler) {
    htw__mutex_lock(&scheduler->life.mutex);
    scheduler->life.driven = false;
    pthread_cond_broadcast(&scheduler->life.changed);
    htw__mutex_unlock(&scheduler->life.mutex);
}

/* ---- embedded */

static bool is_embedded(const struct htw_scheduler *scheduler) {
    return scheduler->embedded && scheduler->clock != HTW_CLOCK_MANUAL;
}

int htw_scheduler_fd(struct htw_scheduler *scheduler) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    return is_embedded(scheduler) ? scheduler->expirers[0].alarm.fd : -ENOTSUP;
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

struct look {
    struct htw_scheduler *scheduler;
    int64_t now_ns;
    bool *ret_more;
};

/* The end of process(), also where a callback does not return but leaves it (see end_pass() in
   run.c): the alarm must be set for what is left. */
static void end_look(struct look *look) {
    struct htw_scheduler *scheduler = look->scheduler;
    struct htw__expirer *expirer = &scheduler->expirers[0];
    if (htw__is_child(scheduler))
        return;
    htw__expirer_clean(expirer, true);
    uint64_t next = htw__expirer_next_tick(expirer);
    *look->ret_more = next <= htw__tick_at(scheduler, look->now_ns); /* the budget is spent */
    if (*look->ret_more)
        htw__alarm_set(&expirer->alarm, look->now_ns);
    else
        htw__wake_at(expirer, htw__tick_ns(scheduler, next));
    htw__alarm_disarm(&expirer->alarm);
    htw__drive_end(scheduler);
}

static size_t process(struct htw_scheduler *scheduler, size_t budget, bool *ret_more) {
    struct htw__expirer *expirer = &scheduler->expirers[0];
    struct look look
        __attribute__((cleanup(end_look))) = { scheduler, htw__now_ns(scheduler), ret_more };
    htw__alarm_clear(&expirer->alarm);
    htw__alarm_reset(&expirer->alarm);
    htw__clock_watch_look(scheduler);
    return htw__expirer_serve(expirer, look.now_ns, budget);
}

int htw_scheduler_process(struct htw_scheduler *scheduler, size_t budget, size_t *ret_count) {
    int error = htw__scheduler_refusal(scheduler);
    if (error == 0 && !is_embedded(scheduler))
        error = -ENOTSUP;
    if (error == 0)
        error = htw__drive_begin(scheduler);
    if (error != 0)
        return error;
    bool more;
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
        htw__expirer_serve(expirer, now_ns, SIZE_MAX);
        if (htw__is_child(scheduler) || !htw__pool_wait_quiet(scheduler))
            return; /* or stopped */
    }
}

static int begin_manual(struct htw_scheduler *scheduler, int64_t argument) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (scheduler->clock != HTW_CLOCK_MANUAL)
        return -ENOTSUP;
    return argument < 0 ? -EINVAL : htw__drive_begin(scheduler);
}

/* Also where a callback leaves the call: see end_pass() in run.c. */
static void end_manual(struct htw_scheduler **scheduler) {
    if (htw__is_child(*scheduler))
        return;
    htw__expirer_clean(&(*scheduler)->expirers[0], true);
    htw__drive_end(*scheduler);
}

#define ENDS_MANUAL __attribute__((cleanup(end_manual), unused))

int htw_scheduler_advance(struct htw_scheduler *scheduler, int64_t delta_ns) {
    int error = begin_manual(scheduler, delta_ns);
    if (error != 0)
        return error;
    struct htw_scheduler *driven ENDS_MANUAL = scheduler;
    int64_t until_ns = htw__after_ns(htw__now_ns(scheduler), delta_ns);
    run_until(scheduler, until_ns);
    atomic_store_explicit(&scheduler->manual_ns, until_ns, memory_order_relaxed);
    return htw__is_child(scheduler) ? -EOWNERDEAD : 0;
}

int htw_scheduler_set_time(struct htw_scheduler *scheduler, int64_t time_ns) {
    int error = begin_manual(scheduler, time_ns);
    if (error != 0)
        return error;
    struct htw_scheduler *driven ENDS_MANUAL = scheduler;
    atomic_store_explicit(&scheduler->manual_ns, time_ns, memory_order_relaxed);
    run_until(scheduler, time_ns);
    return htw__is_child(scheduler) ? -EOWNERDEAD : 0;
}

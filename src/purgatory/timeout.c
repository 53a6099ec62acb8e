/* SPDX-License-Identifier: MIT */
/*
 * timeout.c - sets, changes and cancels the timeout of a request, and finds the next due one.
 *
 * Most requests end before their timeout, so arming and cancelling are two stores each in the wheel
 * of a CPU. A timer of the scheduler for each would cost a record, a handle and a second lock.
 */
#include "timeout.h"

#include "alarms.h"
#include "owner.h"

/* Steps in the wheel for which the lock is held at most. */
#define BUDGET 64u

static uint64_t tick_after(int64_t time_ns) {
    return ((uint64_t)time_ns + (HTW__TIMEOUT_TICK_NS - 1)) / HTW__TIMEOUT_TICK_NS;
}

/* The tick in which a timeout is due; the last tick if the sum does not fit. Under the lock. */
static uint64_t deadline_of(struct htw__cpu *cpu, int64_t now_ns, int64_t timeout_ns) {
    uint64_t now = htw__cpu_tick(cpu, now_ns);
    if (timeout_ns <= 0)
        return now;
    return tick_after(timeout_ns < HTW_NEVER_NS - now_ns ? now_ns + timeout_ns : HTW_NEVER_NS);
}

/* Puts a timeout into the wheel, or moves it there, and sets an alarm if it is the earliest. Under
   the lock. */
static int schedule(struct htw__cpu *cpu, struct htw_request *request, uint64_t tick) {
    int error = htw_wheel_schedule(cpu->wheel, &request->_timeout, tick);
    if (error == 0 && tick < cpu->alarm_tick)
        error = htw__alarms_set(cpu);
    return error;
}

int htw__timeout_arm(struct htw_request *request, int64_t timeout_ns) {
    struct htw_purgatory *purgatory = request->_purgatory;
    struct htw__cpu *cpu = htw__cpu_here(purgatory);
    int64_t now_ns = htw__steady_now_ns(purgatory->scheduler);
    htw__wait_histogram_begin(&cpu->waits, request, now_ns);
    if (timeout_ns > 0 && timeout_ns >= HTW_NEVER_NS - now_ns)
        return 0; /* past the end of time */
    htw_timer_init(&request->_timeout);
    htw__lock_acquire(&cpu->lock);
    int error = schedule(cpu, request, deadline_of(cpu, now_ns, timeout_ns));
    if (error != 0)
        htw_wheel_cancel(cpu->wheel, &request->_timeout);
    /* From now on htw__timeout_move() finds the timeout; it takes the lock. */
    __atomic_store_n(&request->_cpu, (uint16_t)(cpu - purgatory->cpus), __ATOMIC_RELAXED);
    htw__lock_release(&cpu->lock);
    if (error == 0)
        request->_flags |= HTW__REQUEST_ARMED;
    return error;
}

/* The wheel has had a timer for that deadline: its level exists, and this cannot fail. */
static void schedule_surely(struct htw__cpu *cpu, struct htw_timer *timer, uint64_t deadline) {
    int error = htw_wheel_schedule(cpu->wheel, timer, deadline);
    HTW_ASSERT(error == 0);
    (void)error;
}

int htw__timeout_move(struct htw_purgatory *purgatory, struct htw_request *request,
                      int64_t timeout_ns) {
    uint16_t number = __atomic_load_n(&request->_cpu, __ATOMIC_RELAXED);
    if (number == HTW__NO_CPU)
        return -ENOENT;
    struct htw__cpu *cpu = &purgatory->cpus[number];
    int64_t now_ns = htw__cpu_steady_now_ns(cpu);
    int error = -ENOENT;
    htw__lock_acquire(&cpu->lock);
    if (htw_timer_is_pending(&request->_timeout)) {
        uint64_t before = htw_timer_deadline(&request->_timeout);
        error = schedule(cpu, request, deadline_of(cpu, now_ns, timeout_ns));
        if (error != 0)
            schedule_surely(cpu, &request->_timeout, before);
    }
    htw__lock_release(&cpu->lock);
    return error;
}

void htw__timeout_disarm(struct htw_request *request) {
    struct htw__cpu *cpu = &request->_purgatory->cpus[request->_cpu];
    htw__lock_acquire(&cpu->lock);
    htw_wheel_cancel(cpu->wheel, &request->_timeout);
    htw__lock_release(&cpu->lock);
}

static struct htw_request *request_of(struct htw_timer *timer) {
    return HTW_CONTAINER_OF(timer, struct htw_request, _timeout);
}

struct htw_request *htw__timeout_next_due(struct htw__cpu *cpu, bool *ret_more) {
    uint64_t now = htw__cpu_tick(cpu, htw__cpu_steady_now_ns(cpu));
    struct htw_timer *timer = NULL;
    size_t count;
    htw_wheel_poll_batch(cpu->wheel, now, &timer, 1, BUDGET, &count);
    /* If a manual clock was set back without memory for a new wheel, the wheel is ahead of it. */
    if (timer != NULL && htw_timer_deadline(timer) > now) {
        schedule_surely(cpu, timer, htw_timer_deadline(timer));
        timer = NULL;
    }
    *ret_more = htw_wheel_next(cpu->wheel) <= now;
    return timer != NULL && htw__request_own_expired(request_of(timer)) ? request_of(timer) : NULL;
}

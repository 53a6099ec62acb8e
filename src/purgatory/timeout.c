/* SPDX-License-Identifier: MIT */
/*
 * timeout.c - sets, changes and cancels the timeout of a request, and finds the next due one; the
 * alarms: timers of the scheduler that expire when a timeout of a CPU is due.
 *
 * Most requests end before their timeout, so arming and cancelling are two stores each in the wheel
 * of a CPU. A timer of the scheduler for each would cost a record, a handle and a second lock.
 *
 * Two alarms repeat, with a period of years: they keep their records, so setting one cannot fail.
 * One is set to the earliest timeout; its callback (end.c) ends the requests that are due. A
 * repeating timer does not expire while its callback runs, so before each hook the callback sets
 * the other alarm: a slow hook delays no other request while a worker is free. If both callbacks
 * are in hooks, a third alarm is created, which does not repeat. If the scheduler refuses it
 * (memory, max_pending), the next timeout waits until a hook returns.
 */
#include "timeout.h"

#include "../scheduler/rebase.h"
#include "owner.h"

/* A tick of the wheel, of the steady clock. Deadlines are rounded up to it. */
#define TICK_NS 1000u

/* The wheel has many levels, since its ticks are fine. Those for timeouts of up to 17 minutes are
   created with it. */
#define WHEEL_SIZE 64u
#define HORIZON_TICKS (UINT64_C(1) << 30)

/* Steps in the wheel for which the lock is held at most. */
#define BUDGET 64u

/* The alarm that does not repeat. */
#define SINGLE (HTW__ALARMS - 1)

/* ---- the wheel of a CPU; under its lock */

static uint64_t tick_before(int64_t time_ns) {
    return (uint64_t)time_ns / TICK_NS;
}

static uint64_t tick_after(int64_t time_ns) {
    return ((uint64_t)time_ns + (TICK_NS - 1)) / TICK_NS;
}

static int create_wheel(const struct htw__cpu *cpu, uint64_t start, struct htw_wheel **ret_wheel) {
    const struct htw_purgatory *purgatory = cpu->purgatory;
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.size = WHEEL_SIZE;
    options.start = start;
    options.allocator = &purgatory->allocator;
    /* With a manual clock, timeouts may move here from another wheel, and must all fit. */
    bool is_manual = htw__steady_is_manual(purgatory->scheduler);
    return htw__wheel_create_reserved(ret_wheel, &options,
                                      is_manual ? HTW_NEVER_TICK : HORIZON_TICKS);
}

int htw__timeout_create_wheel(struct htw__cpu *cpu) {
    return create_wheel(cpu, tick_before(htw__cpu_steady_now_ns(cpu)), &cpu->wheel);
}

/* All under one lock, since a manual clock is for tests. Without memory for another wheel new timeouts may
   end only when the time reaches the clock of this one. */
static void set_back(struct htw__cpu *cpu, uint64_t tick) {
    struct htw_wheel *wheel;
    if (create_wheel(cpu, tick, &wheel) != 0)
        return;
    while (!htw__wheel_rebase(cpu->wheel, wheel))
        ;
    htw_wheel_destroy(cpu->wheel);
    cpu->wheel = wheel;
}

/* `now_ns` is of the steady clock. The clock of the wheel may be ahead of it if this thread was stopped
   after it read that clock. If a manual clock was set back, the timeouts move to a new wheel. */
static uint64_t present_tick(struct htw__cpu *cpu, int64_t now_ns) {
    uint64_t tick = tick_before(now_ns), clock = htw_wheel_now(cpu->wheel);
    if (tick >= clock)
        return tick;
    if (!htw__steady_is_manual(cpu->purgatory->scheduler))
        return clock;
    tick = tick_before(htw__cpu_steady_now_ns(cpu));
    if (tick < clock)
        set_back(cpu, tick);
    return tick;
}

/* ---- alarms; under the lock of the CPU */

static bool repeats(const struct htw__timeout_alarm *alarm) {
    return alarm != &alarm->cpu->alarms[SINGLE];
}

static void release_alarm(void *arg);

/* 0, or the error of the scheduler. */
static int create_alarm(struct htw__timeout_alarm *alarm, int64_t at_ns) {
    struct htw__cpu *cpu = alarm->cpu;
    struct htw_purgatory *purgatory = cpu->purgatory;
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.site = purgatory->timeouts; /* its argument: a struct htw__timeout_alarm */
    spec.arg = alarm;
    spec.absolute = true;
    spec.when_ns = at_ns;
    spec.clock = htw__steady_clock(purgatory->scheduler);
    spec.period_ns = repeats(alarm) ? HTW_NEVER_NS : 0;
    spec.repeat = HTW_REPEAT_AFTER;
    spec.group = purgatory->callbacks;
    spec.release = release_alarm;
    htw__outstanding_add(&purgatory->outstanding);
    int error = htw_schedule_spec(purgatory->scheduler, &spec, &alarm->handle, NULL);
    if (error != 0)
        htw__outstanding_remove(&purgatory->outstanding);
    return error;
}

/* Creates the alarms that repeat, where they are missing. 0 if there is at least one. */
static int create_missing(struct htw__cpu *cpu) {
    int error = 0;
    for (unsigned i = 0; i < SINGLE && error == 0; i++)
        if (cpu->alarms[i].handle == 0)
            error = create_alarm(&cpu->alarms[i], HTW_NEVER_NS);
    return cpu->alarms[0].handle != 0 ? 0 : error;
}

/* An alarm that can be set: the current one if possible. NULL: the callbacks of all are running. */
static struct htw__timeout_alarm *find_alarm(struct htw__cpu *cpu) {
    for (unsigned i = 0; i < HTW__ALARMS; i++) {
        struct htw__timeout_alarm *alarm = &cpu->alarms[(cpu->current_alarm + i) % HTW__ALARMS];
        if (alarm->handle != 0 && !alarm->in_callback)
            return alarm;
    }
    return NULL;
}

/* As htw_reschedule_at(), for an alarm that is gone only if the scheduler was stopped. If it has no memory
   for a far deadline, it gets an earlier one. */
static int move_alarm(struct htw__timeout_alarm *alarm, int64_t at_ns) {
    struct htw_scheduler *scheduler = alarm->cpu->purgatory->scheduler;
    int64_t now_ns = htw__steady_now_ns(scheduler);
    int result;
    while ((result = htw_reschedule_at(scheduler, alarm->handle, at_ns)) == -ENOMEM &&
           at_ns > now_ns)
        at_ns = now_ns + (at_ns - now_ns) / 2;
    return result == HTW_GONE ? -ESHUTDOWN : result;
}

/* The time of the steady clock at which an alarm for a tick expires. */
static int64_t alarm_time_ns(uint64_t tick) {
    return tick > INT64_MAX / TICK_NS ? HTW_NEVER_NS : (int64_t)(tick * TICK_NS);
}

/* 0, or the error of the scheduler. Under the lock. */
static int set_alarm(struct htw__cpu *cpu, uint64_t tick) {
    int64_t at_ns = alarm_time_ns(tick);
    int result = create_missing(cpu);
    if (result != 0)
        return result;
    struct htw__timeout_alarm *alarm = find_alarm(cpu);
    if (alarm != NULL) {
        result = move_alarm(alarm, at_ns);
    } else {
        alarm = &cpu->alarms[SINGLE];
        int error = create_alarm(alarm, at_ns);
        if (error != 0) /* the callbacks that are running set an alarm when they return */
            return error == -ESHUTDOWN ? error : 0;
        result = HTW_MOVED;
    }
    if (result == HTW_MOVED) { /* HTW_RUNNING: its callback sets an alarm when it has the lock */
        cpu->current_alarm = (uint8_t)(alarm - cpu->alarms);
        cpu->alarm_tick = tick;
    }
    return result < 0 ? result : 0;
}

/* Sets an alarm for the earliest timeout of the wheel, unless one is set for it. 0, or the error of
   the scheduler; then no alarm may be set. */
static int set_alarm_for_earliest(struct htw__cpu *cpu) {
    uint64_t tick = htw_wheel_next(cpu->wheel);
    return tick < cpu->alarm_tick ? set_alarm(cpu, tick) : 0;
}

/* The release hook. The single alarm has expired; or the scheduler was stopped, which the next submission must
   notice. */
static void release_alarm(void *arg) {
    struct htw__timeout_alarm *alarm = arg;
    struct htw__cpu *cpu = alarm->cpu;
    struct htw_purgatory *purgatory = cpu->purgatory;
    htw__lock_acquire(&cpu->lock);
    cpu->alarm_tick = HTW_NEVER_TICK;
    htw__lock_release(&cpu->lock);
    htw__outstanding_remove(&purgatory->outstanding);
}

/* ---- timeouts */

/* The tick in which a timeout is due; the last tick if the sum does not fit. Under the lock. */
static uint64_t deadline_of(struct htw__cpu *cpu, int64_t now_ns, int64_t timeout_ns) {
    uint64_t now = present_tick(cpu, now_ns);
    if (timeout_ns <= 0)
        return now;
    return tick_after(timeout_ns < HTW_NEVER_NS - now_ns ? now_ns + timeout_ns : HTW_NEVER_NS);
}

/* Puts a timeout into the wheel, or moves it there, and sets an alarm if it is the earliest. Under
   the lock. */
static int schedule_timeout(struct htw__cpu *cpu, struct htw_request *request, uint64_t tick) {
    int error = htw_wheel_schedule(cpu->wheel, &request->_timeout, tick);
    if (error == 0 && tick < cpu->alarm_tick)
        error = set_alarm_for_earliest(cpu);
    return error;
}

/* From now on htw__timeout_move() finds the timeout; it takes the lock. */
static int count_and_schedule(struct htw__cpu *cpu, struct htw_request *request, uint64_t tick) {
    int error = tick == HTW_NEVER_TICK ? 0 : schedule_timeout(cpu, request, tick);
    if (error != 0) {
        htw_wheel_cancel(cpu->wheel, &request->_timeout);
        return error;
    }
    htw__counts_begin(&cpu->counts, request);
    /* order: Under the lock of the CPU, which the reader takes. */
    __atomic_store_n(&request->_cpu, (uint16_t)(cpu - cpu->purgatory->cpus), __ATOMIC_RELAXED);
    return 0;
}

static int begin_without_timeout(struct htw__cpu *cpu, struct htw_request *request) {
    if (htw__scheduler_is_stopped(cpu->purgatory->scheduler))
        return -ESHUTDOWN;
    htw__wait_begin_without_clock(cpu, request);
    htw__lock_acquire(&cpu->lock);
    int error = count_and_schedule(cpu, request, HTW_NEVER_TICK);
    htw__lock_release(&cpu->lock);
    return error;
}

int htw__timeout_begin(struct htw_request *request, int64_t timeout_ns) {
    struct htw_purgatory *purgatory = request->_purgatory;
    struct htw__cpu *cpu = htw__cpu_here(purgatory);
    htw_timer_init(&request->_timeout);
    if (timeout_ns == HTW_NEVER_NS)
        return begin_without_timeout(cpu, request);
    int64_t now_ns = htw__steady_now_ns(purgatory->scheduler);
    htw__wait_begin(cpu, request, now_ns);
    request->_flags |= HTW__REQUEST_DELAYED;
    bool is_past_time = timeout_ns > 0 && timeout_ns >= HTW_NEVER_NS - now_ns;
    htw__lock_acquire(&cpu->lock);
    int error = count_and_schedule(
        cpu, request, is_past_time ? HTW_NEVER_TICK : deadline_of(cpu, now_ns, timeout_ns));
    htw__lock_release(&cpu->lock);
    return error;
}

int htw__timeout_move(struct htw_purgatory *purgatory, struct htw_request *request,
                      int64_t timeout_ns) {
    /* order: The lock of the CPU orders what is read next. */
    uint16_t number = __atomic_load_n(&request->_cpu, __ATOMIC_RELAXED);
    if (number == HTW__NO_CPU)
        return -ENOENT;
    struct htw__cpu *cpu = &purgatory->cpus[number];
    int64_t now_ns = htw__cpu_steady_now_ns(cpu);
    int error = -ENOENT;
    htw__lock_acquire(&cpu->lock);
    if (htw_timer_is_pending(&request->_timeout)) {
        uint64_t before = htw_timer_deadline(&request->_timeout);
        error = schedule_timeout(cpu, request, deadline_of(cpu, now_ns, timeout_ns));
        if (error != 0)
            htw__wheel_schedule_surely(cpu->wheel, &request->_timeout, before);
    }
    htw__lock_release(&cpu->lock);
    return error;
}

void htw__timeout_end(struct htw_request *request, enum htw_reason reason) {
    struct htw_purgatory *purgatory = request->_purgatory;
    bool is_counted = (request->_flags & HTW__REQUEST_COUNTED) != 0;
    struct htw__cpu *cpu = is_counted ? &purgatory->cpus[request->_cpu] : htw__cpu_here(purgatory);
    htw__lock_acquire(&cpu->lock);
    if (is_counted)
        htw_wheel_cancel(cpu->wheel, &request->_timeout);
    htw__counts_end(cpu, request, reason);
    htw__lock_release(&cpu->lock);
}

static struct htw_request *request_of(struct htw_timer *timer) {
    return HTW_CONTAINER_OF(timer, struct htw_request, _timeout);
}

/* ---- the callback of an alarm */

/* The alarm is not set any more. Under the lock. */
static void begin_callback(struct htw__timeout_alarm *alarm) {
    struct htw__cpu *cpu = alarm->cpu;
    alarm->in_callback = repeats(alarm);
    if (!repeats(alarm))
        alarm->handle = 0;
    if (alarm == &cpu->alarms[cpu->current_alarm])
        cpu->alarm_tick = HTW_NEVER_TICK;
}

struct htw_request *htw__timeout_next_due(struct htw__timeout_alarm *alarm, bool is_first,
                                          bool *ret_more) {
    struct htw__cpu *cpu = alarm->cpu;
    struct htw_request *request = NULL;
    struct htw_timer *timer = NULL;
    size_t count;
    htw__lock_acquire(&cpu->lock);
    if (is_first)
        begin_callback(alarm);
    uint64_t now = present_tick(cpu, htw__cpu_steady_now_ns(cpu));
    htw_wheel_poll_batch(cpu->wheel, now, &timer, 1, BUDGET, &count);
    /* If a manual clock was set back without memory for a new wheel, the wheel is ahead of it. */
    if (timer != NULL && htw_timer_deadline(timer) > now)
        htw__wheel_schedule_surely(cpu->wheel, timer, htw_timer_deadline(timer));
    else if (timer != NULL && htw__request_own_expired(request_of(timer)))
        request = request_of(timer);
    *ret_more = htw_wheel_next(cpu->wheel) <= now;
    (void)set_alarm_for_earliest(cpu);
    htw__lock_release(&cpu->lock);
    return request;
}

void htw__alarm_end_callback(struct htw__timeout_alarm *alarm) {
    htw__lock_acquire(&alarm->cpu->lock);
    alarm->in_callback = false;
    (void)set_alarm_for_earliest(alarm->cpu);
    htw__lock_release(&alarm->cpu->lock);
}

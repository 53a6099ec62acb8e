/* SPDX-License-Identifier: MIT */
/*
 * timeout.c - the timeouts of requests, and the timers of the scheduler that stand for them.
 *
 * A timer of the scheduler for each request would cost a record, a handle and a second lock. Most
 * requests end before their time is up, so that what counts is arming and disarming: two stores
 * each in a wheel of the purgatory's own. Of the scheduler's, a CPU has alarms: timers that are
 * set to the earliest deadline.
 *
 * Two alarms repeat, every so many years. They keep their place and their memory, so that to set
 * one cannot be refused. One is set to the earliest deadline. When it rings, its callback takes the
 * requests that are due, one after the other, and calls their hooks without the lock. A repeating
 * timer does not ring while its own callback runs, so the other alarm is set before each hook: to
 * now, if more is due. So a hook that takes long keeps nothing else waiting while there is another
 * worker, and a burst is spread over the workers. While both callbacks are in hooks, a third alarm
 * is created, which does not repeat. If it is refused (memory, max_pending), what comes next waits
 * until one of the hooks returns.
 *
 * An executor may drop any alarm. The other one is set instead, and a new one is created. If the
 * scheduler refuses that, and the other one is dropped as well, the next submission sets an alarm,
 * or is refused.
 *
 * A tick of the wheel is a microsecond of the steady clock (../scheduler/steady.h), the finest that
 * a scheduler has. Deadlines are rounded up to it, and the alarm by the scheduler to its own tick:
 * never early, and as late as a timer of the scheduler. Only HTW_CLOCK_MANUAL can be set back. Then
 * the timeouts move to another wheel, all under one lock: that clock is for tests.
 */
#include "timeout.h"

#include "../base/assert.h"
#include "request.h"
#include "waits.h"

#include <errno.h>

#define TICK_NS 1000u

/* Buckets a level: with ticks so fine there are some levels. Those for timeouts of up to 17 minutes
   are there from the beginning. */
#define WHEEL_SIZE 64u
#define HORIZON_TICKS (UINT64_C(1) << 30)

/* Steps in the wheel for which the lock is held at most. */
#define BUDGET 64u

/* How often a callback looks for what is due before the scheduler has its thread back, and the next
   alarm rings: requests may be submitted again and again with no time at all. */
#define TURNS 4096u

/* An executor that drops alarms is given the next one at once so many times, and then later and
   later, up to a second. */
#define DROPS_AT_ONCE 8
#define DROPS_MAX (DROPS_AT_ONCE + 10)

/* The alarm that does not repeat. */
#define SINGLE (HTW__TIMEOUT_ALARMS - 1)

static uint64_t tick_before(int64_t time_ns) {
    return (uint64_t)time_ns / TICK_NS;
}

static uint64_t tick_after(int64_t time_ns) {
    return ((uint64_t)time_ns + (TICK_NS - 1)) / TICK_NS;
}

static int64_t steady_now_ns(const struct htw__cpu *cpu) {
    return htw__steady_now_ns(cpu->purgatory->scheduler);
}

/* ---- the wheel */

static int create_wheel(const struct htw__cpu *cpu, uint64_t start, struct htw_wheel **ret_wheel) {
    const struct htw_purgatory *purgatory = cpu->purgatory;
    bool is_manual = htw__steady_is_manual(purgatory->scheduler);
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    struct htw_wheel *wheel;
    options.size = WHEEL_SIZE;
    options.start = start;
    options.allocator = &purgatory->allocator;
    int error = htw_wheel_create(&wheel, &options);
    if (error != 0)
        return error;
    /* With a manual clock, what another wheel had a place for must have one here. */
    error = htw_wheel_reserve(wheel, is_manual ? HTW_NEVER_TICK : HORIZON_TICKS);
    if (error != 0)
        htw_wheel_destroy(wheel);
    else
        *ret_wheel = wheel;
    return error;
}

/* The clock was set back, and a wheel's cannot be: the timeouts move to a new wheel. For want of
   memory they stay: then new ones may come as late as the old wheel's clock. Under the lock. */
static void follow_back(struct htw__cpu *cpu, uint64_t time) {
    struct htw_wheel *wheel;
    struct htw_timer *timer;
    if (create_wheel(cpu, time, &wheel) != 0)
        return;
    while ((timer = htw_wheel_drain(cpu->wheel)) != NULL) {
        int error = htw_wheel_schedule(wheel, timer, htw_timer_deadline(timer));
        HTW_ASSERT(error == 0);
        (void)error;
    }
    htw_wheel_destroy(cpu->wheel);
    cpu->wheel = wheel;
}

/* The tick that it is. The wheel's clock may be later where a thread has read the clock and was
   then stopped. Under the lock. */
static uint64_t wheel_time(struct htw__cpu *cpu, int64_t now_ns) {
    uint64_t time = tick_before(now_ns), clock = htw_wheel_now(cpu->wheel);
    if (time >= clock)
        return time;
    if (!htw__steady_is_manual(cpu->purgatory->scheduler))
        return clock;
    time = tick_before(steady_now_ns(cpu));
    if (time < clock)
        follow_back(cpu, time);
    return time;
}

int htw__timeouts_init(struct htw__cpu *cpu, struct htw_purgatory *purgatory) {
    *cpu = (struct htw__cpu) { .alarm_tick = HTW_NEVER_TICK, .purgatory = purgatory };
    htw__lock_init(&cpu->lock, HTW__RANK_PURGATORY_CPU);
    htw__lock_init(&cpu->key_pool_lock, HTW__RANK_KEY_POOL);
    htw__key_pool_init(&cpu->key_pool, &purgatory->allocator);
    for (unsigned i = 0; i < HTW__TIMEOUT_ALARMS; i++)
        cpu->alarms[i].cpu = cpu;
    return create_wheel(cpu, tick_before(steady_now_ns(cpu)), &cpu->wheel);
}

void htw__timeouts_stop(struct htw__cpu *cpu) {
    htw__lock_acquire(&cpu->lock);
    cpu->is_stopped = true;
    htw__lock_release(&cpu->lock);
}

bool htw__timeouts_is_quiet(struct htw__cpu *cpu) {
    htw__lock_acquire(&cpu->lock);
    bool quiet = cpu->created == cpu->released;
    htw__lock_release(&cpu->lock);
    return quiet;
}

void htw__timeouts_fini(struct htw__cpu *cpu) {
    htw_wheel_destroy(cpu->wheel);
    htw__lock_fini(&cpu->lock);
    htw__lock_fini(&cpu->key_pool_lock);
}

/* ---- alarms */

static bool repeats(const struct htw__timeout_alarm *alarm) {
    return alarm != &alarm->cpu->alarms[SINGLE];
}

static void ring(void *arg, const struct htw_expiration *expiration);
static void release_alarm(void *arg);

static int create_alarm(struct htw__timeout_alarm *alarm, int64_t at_ns) {
    struct htw__cpu *cpu = alarm->cpu;
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = ring;
    spec.arg = alarm;
    spec.absolute = true;
    spec.when_ns = at_ns;
    spec.period_ns = repeats(alarm) ? HTW_NEVER_NS : 0;
    spec.repeat = HTW_REPEAT_AFTER;
    spec.group = cpu->purgatory->callbacks;
    spec.release = release_alarm;
    int error = htw_schedule_spec(cpu->purgatory->scheduler, &spec, &alarm->handle, NULL);
    cpu->created += error == 0;
    return error;
}

/* Creates those that repeat, where they are missing. 0 if there is one. */
static int provide_alarms(struct htw__cpu *cpu) {
    int error = 0;
    bool has_one = false;
    for (unsigned i = 0; i < SINGLE; i++) {
        if (cpu->alarms[i].handle == 0 && error == 0)
            error = create_alarm(&cpu->alarms[i], HTW_NEVER_NS);
        has_one |= cpu->alarms[i].handle != 0;
    }
    return has_one ? 0 : error;
}

/* One that can be set; if possible the one that is set. NULL: all are ringing. */
static struct htw__timeout_alarm *find_alarm(struct htw__cpu *cpu) {
    for (unsigned i = 0; i < HTW__TIMEOUT_ALARMS; i++) {
        struct htw__timeout_alarm *alarm = &cpu->alarms[(cpu->standing + i) % HTW__TIMEOUT_ALARMS];
        if (alarm->handle != 0 && !alarm->is_ringing)
            return alarm;
    }
    return NULL;
}

/* As htw_reschedule_at(), or sets the third one. The scheduler may lack memory for a deadline that
   is far: then the alarm rings too early, at one that needs none. */
static int move_alarm(struct htw__timeout_alarm *alarm, int64_t at_ns) {
    struct htw_scheduler *scheduler = alarm->cpu->purgatory->scheduler;
    int64_t now_ns = htw_scheduler_now(scheduler);
    int result;
    while ((result = htw_reschedule_at(scheduler, alarm->handle, at_ns)) == -ENOMEM &&
           at_ns > now_ns)
        at_ns = now_ns + (at_ns - now_ns) / 2;
    if (result == HTW_GONE)
        alarm->handle = 0; /* dropped */
    return result;
}

/* When the scheduler is to ring for a tick. */
static int64_t alarm_time_ns(const struct htw__cpu *cpu, uint64_t tick) {
    int64_t at_ns = tick > INT64_MAX / TICK_NS ? HTW_NEVER_NS : (int64_t)(tick * TICK_NS);
    if (cpu->drops > DROPS_AT_ONCE) {
        int64_t patience_ns = HTW_MILLISECOND << (cpu->drops - DROPS_AT_ONCE);
        int64_t then_ns = steady_now_ns(cpu) + patience_ns;
        at_ns = at_ns < then_ns ? then_ns : at_ns;
    }
    return htw__steady_to_clock_ns(cpu->purgatory->scheduler, at_ns);
}

/* Under the lock. 0, or what the scheduler answers. */
static int set_alarm(struct htw__cpu *cpu, uint64_t tick) {
    int64_t at_ns = alarm_time_ns(cpu, tick);
    struct htw__timeout_alarm *alarm;
    int result = HTW_GONE;
    while (result == HTW_GONE) {
        int error = cpu->is_stopped ? -ESHUTDOWN : provide_alarms(cpu);
        if (error != 0)
            return error;
        alarm = find_alarm(cpu);
        if (alarm == NULL)
            break;
        result = move_alarm(alarm, at_ns);
    }
    if (alarm == NULL) {
        alarm = &cpu->alarms[SINGLE];
        int error = create_alarm(alarm, at_ns);
        if (error != 0) /* those that are ringing look again */
            return error == -ESHUTDOWN ? error : 0;
        result = HTW_MOVED;
    }
    if (result == HTW_MOVED) { /* HTW_RUNNING: ring() is about to take the lock, and to set one */
        cpu->standing = (uint8_t)(alarm - cpu->alarms);
        cpu->alarm_tick = tick;
    }
    return result < 0 ? result : 0;
}

/* For the earliest deadline, unless one is set for that. Under the lock. */
static int set_alarm_for_next(struct htw__cpu *cpu) {
    uint64_t tick = htw_wheel_next(cpu->wheel);
    return tick < cpu->alarm_tick ? set_alarm(cpu, tick) : 0;
}

/* ---- what is due */

static struct htw_request *request_of(struct htw_timer *timer) {
    return HTW_CONTAINER_OF(timer, struct htw_request, _timeout);
}

/* Takes the next request that is due and not busy; the owners of busy ones end them. `*ret_more`:
   there may be others. */
static struct htw_request *take_due(struct htw__cpu *cpu, bool *ret_more) {
    uint64_t now = wheel_time(cpu, steady_now_ns(cpu));
    struct htw_timer *timer = NULL;
    size_t count;
    htw_wheel_poll_batch(cpu->wheel, now, &timer, 1, BUDGET, &count);
    if (timer != NULL && htw_timer_deadline(timer) > now) { /* see follow_back() */
        (void)htw_wheel_schedule(cpu->wheel, timer, htw_timer_deadline(timer));
        timer = NULL;
    }
    *ret_more = htw_wheel_next(cpu->wheel) <= now;
    return timer != NULL && htw__request_expire(request_of(timer)) ? request_of(timer) : NULL;
}

/* The alarm's callback begins. Under the lock. */
static void begin_to_ring(struct htw__timeout_alarm *alarm) {
    struct htw__cpu *cpu = alarm->cpu;
    cpu->drops = 0;
    alarm->is_ringing = repeats(alarm);
    if (!repeats(alarm))
        alarm->handle = 0;
    if (alarm == &cpu->alarms[cpu->standing])
        cpu->alarm_tick = HTW_NEVER_TICK;
}

static void end_what_is_due(struct htw__frame *frame, struct htw__timeout_alarm *alarm) {
    struct htw__cpu *cpu = alarm->cpu;
    htw__lock_acquire(&cpu->lock);
    begin_to_ring(alarm);
    bool more = true;
    for (unsigned turn = 0; more && turn < TURNS; turn++) {
        struct htw_request *request = take_due(cpu, &more);
        (void)set_alarm_for_next(cpu); /* refused only by a scheduler that was stopped */
        htw__lock_release(&cpu->lock);
        if (request != NULL)
            htw__request_end(frame, request, HTW_REASON_EXPIRED);
        if (htw__purgatory_is_child(cpu->purgatory))
            return;
        htw__lock_acquire(&cpu->lock);
    }
    alarm->is_ringing = false;
    (void)set_alarm_for_next(cpu);
    htw__lock_release(&cpu->lock);
}

/* The callback of an alarm. */
static void ring(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    struct htw__timeout_alarm *alarm = arg;
    struct htw__frame frame = { 0 };
    htw__frame_push(&frame, alarm->cpu->purgatory);
    end_what_is_due(&frame, alarm);
    htw__frame_pop(&frame);
}

/* The release hook of an alarm. One that repeats was dropped by an executor, or is no longer
   needed; of the other it cannot be told here whether it has rung. */
static void release_alarm(void *arg) {
    struct htw__timeout_alarm *alarm = arg;
    struct htw__cpu *cpu = alarm->cpu;
    htw__lock_acquire(&cpu->lock);
    cpu->released++;
    if (repeats(alarm) && cpu->drops < DROPS_MAX)
        cpu->drops++;
    cpu->alarm_tick = HTW_NEVER_TICK;
    (void)set_alarm_for_next(cpu);
    htw__lock_release(&cpu->lock);
}

/* ---- for the rest of the purgatory */

/* The tick in which a timeout is over. At the end of time for one that is longer. Under the lock.
 */
static uint64_t tick_of(struct htw__cpu *cpu, int64_t now_ns, int64_t timeout_ns) {
    uint64_t now = wheel_time(cpu, now_ns);
    if (timeout_ns <= 0)
        return now;
    return tick_after(timeout_ns < HTW_NEVER_NS - now_ns ? now_ns + timeout_ns : HTW_NEVER_NS);
}

/* Puts a timeout into the wheel, or moves it there, and sees to it that an alarm is set for it.
   Under the lock. */
static int file(struct htw__cpu *cpu, struct htw_request *request, uint64_t tick) {
    int error = htw_wheel_schedule(cpu->wheel, &request->_timeout, tick);
    if (error == 0 && tick < cpu->alarm_tick)
        error = set_alarm_for_next(cpu);
    return error;
}

int htw__timeouts_arm(struct htw_request *request, int64_t timeout_ns) {
    struct htw_purgatory *purgatory = request->_purgatory;
    struct htw__cpu *cpu = htw__cpu_here(purgatory);
    int64_t now_ns = htw__steady_now_ns(purgatory->scheduler);
    htw__wait_begin(cpu, request, now_ns);
    if (timeout_ns > 0 && timeout_ns >= HTW_NEVER_NS - now_ns)
        return 0; /* time ends before */
    htw_timer_init(&request->_timeout);
    htw__lock_acquire(&cpu->lock);
    int error = file(cpu, request, tick_of(cpu, now_ns, timeout_ns));
    if (error != 0)
        htw_wheel_cancel(cpu->wheel, &request->_timeout);
    /* From now on htw__timeouts_move() finds it, and takes the lock. */
    __atomic_store_n(&request->_cpu, (uint16_t)(cpu - purgatory->cpus), __ATOMIC_RELAXED);
    htw__lock_release(&cpu->lock);
    if (error == 0)
        request->_flags |= HTW__REQUEST_ARMED;
    return error;
}

int htw__timeouts_move(struct htw_purgatory *purgatory, struct htw_request *request,
                       int64_t timeout_ns) {
    uint16_t number = __atomic_load_n(&request->_cpu, __ATOMIC_RELAXED);
    if (number == HTW__NO_CPU)
        return -ENOENT;
    struct htw__cpu *cpu = &purgatory->cpus[number];
    int64_t now_ns = steady_now_ns(cpu);
    int error = -ENOENT;
    htw__lock_acquire(&cpu->lock);
    if (htw_timer_is_pending(&request->_timeout)) {
        uint64_t before = htw_timer_deadline(&request->_timeout);
        error = file(cpu, request, tick_of(cpu, now_ns, timeout_ns));
        if (error != 0) /* for which the wheel has a place */
            (void)htw_wheel_schedule(cpu->wheel, &request->_timeout, before);
    }
    htw__lock_release(&cpu->lock);
    return error;
}

void htw__timeouts_disarm(struct htw_request *request) {
    struct htw__cpu *cpu = &request->_purgatory->cpus[request->_cpu];
    htw__lock_acquire(&cpu->lock);
    htw_wheel_cancel(cpu->wheel, &request->_timeout);
    htw__lock_release(&cpu->lock);
}

void htw__timeouts_clock_was_set(struct htw__cpu *cpu) {
    htw__lock_acquire(&cpu->lock);
    if (cpu->alarm_tick != HTW_NEVER_TICK)
        (void)set_alarm(cpu, cpu->alarm_tick);
    htw__lock_release(&cpu->lock);
}

void htw__timeouts_add(struct htw__cpu *cpu, struct htw_purgatory_stats *stats) {
    struct htw_wheel_stats own = HTW_WHEEL_STATS_INIT;
    htw__lock_acquire(&cpu->lock);
    htw_wheel_get_stats(cpu->wheel, &own);
    stats->memory_bytes += sizeof(*cpu) + own.memory_bytes;
    htw__waits_add(&cpu->waits, stats);
    for (unsigned i = 0; i < HTW__TIMEOUT_ALARMS; i++)
        stats->alarms += htw_is_pending(cpu->purgatory->scheduler, cpu->alarms[i].handle);
    htw__lock_release(&cpu->lock);
    htw__lock_acquire(&cpu->key_pool_lock);
    stats->memory_bytes += htw__key_pool_memory(&cpu->key_pool);
    htw__lock_release(&cpu->key_pool_lock);
}

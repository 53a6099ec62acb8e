/* SPDX-License-Identifier: MIT */
/*
 * alarms.c - the timers of the scheduler that expire when a timeout of a CPU is due.
 *
 * Two alarms repeat, with a period of years: they keep their records, so setting one cannot fail.
 * One is set to the earliest timeout; its callback (expire.c) ends the requests that are due. A
 * repeating timer does not expire while its callback runs, so before each hook the callback sets
 * the other alarm: a slow hook delays no other request while a worker is free. If both callbacks
 * are in hooks, a third alarm is created, which does not repeat. If the scheduler refuses it
 * (memory, max_pending), the next timeout waits until a hook returns.
 *
 * If an executor drops an alarm, the other one is set, and a new one is created. If both were
 * dropped, the next submission sets an alarm, or fails.
 */
#include "alarms.h"

/* After this many drops the next alarm is delayed, twice as long each time, up to a second. */
#define DROPS_AT_ONCE 8
#define DROPS_MAX (DROPS_AT_ONCE + 10)

/* The alarm that does not repeat. */
#define SINGLE (HTW__ALARMS - 1)

static bool repeats(const struct htw__timeout_alarm *alarm) {
    return alarm != &alarm->cpu->alarms[SINGLE];
}

static void release_alarm(void *arg);

/* 0, or the error of the scheduler; -ESHUTDOWN also if the purgatory is being destroyed. */
static int create_alarm(struct htw__timeout_alarm *alarm, int64_t at_ns) {
    struct htw__cpu *cpu = alarm->cpu;
    struct htw_purgatory *purgatory = cpu->purgatory;
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = cpu->on_alarm;
    spec.arg = alarm;
    spec.absolute = true;
    spec.when_ns = at_ns;
    spec.period_ns = repeats(alarm) ? HTW_NEVER_NS : 0;
    spec.repeat = HTW_REPEAT_AFTER;
    spec.group = purgatory->callbacks;
    spec.release = release_alarm;
    if (!htw__outstanding_add(&purgatory->outstanding))
        return -ESHUTDOWN;
    int error = htw_schedule_spec(purgatory->scheduler, &spec, &alarm->handle, NULL);
    if (error != 0)
        htw__outstanding_remove(&purgatory->outstanding);
    return error;
}

/* Creates the alarms that repeat, where they are missing. 0 if there is at least one. */
static int create_missing(struct htw__cpu *cpu) {
    int error = 0;
    bool has_one = false;
    for (unsigned i = 0; i < SINGLE; i++) {
        if (cpu->alarms[i].handle == 0 && error == 0)
            error = create_alarm(&cpu->alarms[i], HTW_NEVER_NS);
        has_one |= cpu->alarms[i].handle != 0;
    }
    return has_one ? 0 : error;
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

/* As htw_reschedule_at(). If the scheduler has no memory for a far deadline, it gets an earlier
   one. */
static int move_alarm(struct htw__timeout_alarm *alarm, int64_t at_ns) {
    struct htw_scheduler *scheduler = alarm->cpu->purgatory->scheduler;
    int64_t now_ns = htw_scheduler_now(scheduler);
    int result;
    while ((result = htw_reschedule_at(scheduler, alarm->handle, at_ns)) == -ENOMEM &&
           at_ns > now_ns)
        at_ns = now_ns + (at_ns - now_ns) / 2;
    if (result == HTW_GONE)
        alarm->handle = 0; /* an executor has dropped it */
    return result;
}

/* The time of the scheduler's clock at which an alarm for a tick expires. */
static int64_t alarm_time_ns(const struct htw__cpu *cpu, uint64_t tick) {
    int64_t at_ns = tick > INT64_MAX / HTW__TIMEOUT_TICK_NS
                        ? HTW_NEVER_NS
                        : (int64_t)(tick * HTW__TIMEOUT_TICK_NS);
    if (cpu->drops > DROPS_AT_ONCE) {
        int64_t delay_ns = HTW_MILLISECOND << (cpu->drops - DROPS_AT_ONCE);
        int64_t earliest_ns = htw__cpu_steady_now_ns(cpu) + delay_ns;
        at_ns = at_ns < earliest_ns ? earliest_ns : at_ns;
    }
    return htw__steady_to_clock_ns(cpu->purgatory->scheduler, at_ns);
}

/* 0, or the error of the scheduler. Under the lock. */
static int set_alarm(struct htw__cpu *cpu, uint64_t tick) {
    int64_t at_ns = alarm_time_ns(cpu, tick);
    struct htw__timeout_alarm *alarm = NULL;
    int result = HTW_GONE;
    while (result == HTW_GONE) {
        int error = create_missing(cpu);
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

int htw__alarms_set(struct htw__cpu *cpu) {
    uint64_t tick = htw_wheel_next(cpu->wheel);
    return tick < cpu->alarm_tick ? set_alarm(cpu, tick) : 0;
}

void htw__alarms_begin_callback(struct htw__timeout_alarm *alarm) {
    struct htw__cpu *cpu = alarm->cpu;
    cpu->drops = 0;
    alarm->in_callback = repeats(alarm);
    if (!repeats(alarm))
        alarm->handle = 0;
    if (alarm == &cpu->alarms[cpu->current_alarm])
        cpu->alarm_tick = HTW_NEVER_TICK;
}

void htw__alarms_end_callback(struct htw__timeout_alarm *alarm) {
    alarm->in_callback = false;
    (void)htw__alarms_set(alarm->cpu);
}

/* The release hook. An executor has dropped the alarm, or it was cancelled; or the single one has
   expired. */
static void release_alarm(void *arg) {
    struct htw__timeout_alarm *alarm = arg;
    struct htw__cpu *cpu = alarm->cpu;
    struct htw_purgatory *purgatory = cpu->purgatory;
    htw__lock_acquire(&cpu->lock);
    if (repeats(alarm) && cpu->drops < DROPS_MAX)
        cpu->drops++;
    cpu->alarm_tick = HTW_NEVER_TICK;
    (void)htw__alarms_set(cpu);
    htw__lock_release(&cpu->lock);
    htw__outstanding_remove(&purgatory->outstanding);
}

void htw__alarms_clock_was_set(struct htw__cpu *cpu) {
    htw__lock_acquire(&cpu->lock);
    if (cpu->alarm_tick != HTW_NEVER_TICK)
        (void)set_alarm(cpu, cpu->alarm_tick);
    htw__lock_release(&cpu->lock);
}

/* SPDX-License-Identifier: MIT */
/*
 * alarm.c - the alarms of a CPU: timers of the scheduler that expire when one of its timeouts is due.
 *
 * Two alarms repeat, with a period of years: they keep their records, so setting one cannot fail.
 * One is set to the earliest timeout; its callback (end.c) ends the requests that are due. A
 * repeating timer does not expire while its callback runs, so before each hook the callback sets
 * the other alarm: a slow hook delays no other request while a worker is free. If both callbacks
 * are in hooks, a third alarm is created, which does not repeat. If the scheduler refuses it
 * (memory, max_pending), the next timeout waits until a hook returns.
 */
#include "alarm.h"

#include "../scheduler/notes.h"

/* The alarm that does not repeat. */
#define SINGLE (HTW__ALARMS - 1)

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

/* As htw_reschedule_at(), for an alarm that is gone only if the scheduler was stopped. */
static int move_alarm(struct htw__timeout_alarm *alarm, int64_t at_ns) {
    int result = htw_reschedule_at(alarm->cpu->purgatory->scheduler, alarm->handle, at_ns);
    return result == HTW_GONE ? -ESHUTDOWN : result;
}

int htw__timeout_alarm_set(struct htw__cpu *cpu) {
    uint64_t tick = htw_wheel_next(cpu->wheel);
    if (tick >= cpu->alarm_tick)
        return 0;
    int result = create_missing(cpu);
    if (result != 0)
        return result;
    int64_t at_ns = tick > INT64_MAX / HTW__TIMEOUT_TICK_NS
                        ? HTW_NEVER_NS
                        : (int64_t)(tick * HTW__TIMEOUT_TICK_NS);
    struct htw__timeout_alarm *alarm = find_alarm(cpu);
    if (alarm != NULL) {
        result = move_alarm(alarm, at_ns);
    } else {
        alarm = &cpu->alarms[SINGLE];
        int error = create_alarm(alarm, at_ns);
        if (error == -ESHUTDOWN)
            return error;
        if (error != 0) { /* the callbacks that are running set an alarm when they return */
            htw__note(cpu->purgatory->scheduler, HTW__NOTE_NO_ALARM, 0);
            return 0;
        }
        result = HTW_MOVED;
    }
    if (result == HTW_MOVED) { /* HTW_RUNNING: its callback sets an alarm when it has the lock */
        cpu->current_alarm = (uint8_t)(alarm - cpu->alarms);
        cpu->alarm_tick = tick;
    }
    return result < 0 ? result : 0;
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

void htw__timeout_alarm_begin(struct htw__timeout_alarm *alarm) {
    struct htw__cpu *cpu = alarm->cpu;
    alarm->in_callback = repeats(alarm);
    if (!repeats(alarm))
        alarm->handle = 0;
    if (alarm == &cpu->alarms[cpu->current_alarm])
        cpu->alarm_tick = HTW_NEVER_TICK;
}

void htw__timeout_alarm_end(struct htw__timeout_alarm *alarm) {
    htw__lock_acquire(&alarm->cpu->lock);
    alarm->in_callback = false;
    (void)htw__timeout_alarm_set(alarm->cpu);
    htw__lock_release(&alarm->cpu->lock);
}

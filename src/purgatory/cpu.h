/* SPDX-License-Identifier: MIT */
/*
 * cpu.h - the data of a purgatory for each CPU: a wheel for timeouts, its alarms, the memory of
 * keys, and a histogram. A thread uses those of the CPU on which it runs, so threads seldom meet.
 *
 * A tick of the wheel is a microsecond of the steady clock. Deadlines are rounded up to it.
 */
#ifndef HTW_SRC_PURGATORY_CPU_H
#define HTW_SRC_PURGATORY_CPU_H

#include "../base/cpu.h"
#include "key_pool.h"
#include "state.h"
#include "wait_histogram.h"

#define HTW__TIMEOUT_TICK_NS 1000u

/* A timer of the scheduler that is set to the earliest timeout: see alarms.c. */
struct htw__timeout_alarm {
    struct htw__cpu *cpu;
    htw_handle handle; /* 0: there is none */
    bool in_callback;  /* it repeats and its callback runs: it cannot expire until that returns */
};

/* Two alarms that repeat, and one that does not. */
#define HTW__ALARMS 3

struct htw__cpu {
    alignas(HTW__CACHE_LINE) struct htw__lock lock; /* guards the members up to key_pool_lock */
    uint8_t current_alarm;                          /* the alarm that was set last */
    uint8_t drops;       /* alarms that an executor has dropped since one expired */
    uint64_t alarm_tick; /* for which the current alarm is set; HTW_NEVER_TICK: for none */
    struct htw_wheel *wheel;
    struct htw_purgatory *purgatory;
    htw_callback *on_alarm;
    struct htw__wait_histogram waits;
    struct htw__timeout_alarm alarms[HTW__ALARMS];
    alignas(HTW__CACHE_LINE) struct htw__lock key_pool_lock; /* guards the pool */
    struct htw__key_pool key_pool;
};

/* Creates the wheel. `on_alarm` is the callback of the alarms; its argument is a struct
   htw__timeout_alarm. 0 or -ENOMEM. */
int htw__cpu_init(struct htw__cpu *cpu, struct htw_purgatory *purgatory, htw_callback *on_alarm);

/* `cpu` may be zeroed instead of initialised. */
void htw__cpu_fini(struct htw__cpu *cpu);

void htw__cpu_add_stats(struct htw__cpu *cpu, struct htw_purgatory_stats *stats);

/* The present tick; `now_ns` is of the steady clock. If a manual clock was set back, the timeouts
   move to a new wheel. Under the lock. */
uint64_t htw__cpu_tick(struct htw__cpu *cpu, int64_t now_ns);

static inline int64_t htw__cpu_steady_now_ns(const struct htw__cpu *cpu) {
    return htw__steady_now_ns(cpu->purgatory->scheduler);
}

/* Of the CPU on which this thread runs. */
static inline struct htw__cpu *htw__cpu_here(const struct htw_purgatory *purgatory) {
    uint32_t number = htw__cpu_current();
    if (number >= purgatory->cpu_count) /* seldom: so that the common case does not divide */
        number %= purgatory->cpu_count;
    return &purgatory->cpus[number];
}

#endif /* HTW_SRC_PURGATORY_CPU_H */

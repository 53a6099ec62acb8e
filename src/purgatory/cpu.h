/* SPDX-License-Identifier: MIT */
/*
 * cpu.h - the data of a purgatory for each CPU: a wheel for timeouts, its alarms (alarm.h), counts of requests,
 * the memory of cells, and a histogram of waits. A thread uses those of the CPU on which it runs, so
 * threads seldom meet.
 */
#ifndef HTW_SRC_PURGATORY_CPU_H
#define HTW_SRC_PURGATORY_CPU_H

#include "../port/system.h"
#include "cell_pool.h"
#include "state.h"

#include <htw/purgatory_inspect.h>

/* A timer of the scheduler that is set to the earliest timeout. */
struct htw__timeout_alarm {
    struct htw__cpu *cpu;
    htw_handle handle; /* 0: there is none */
    bool in_callback;  /* it repeats and its callback runs: it cannot expire until that returns */
};

/* Two alarms that repeat, and one that does not. */
#define HTW__ALARMS 3

/* A tick of the wheel, of the steady clock. Deadlines are rounded up to it. */
#define HTW__TIMEOUT_TICK_NS 1000u

/* In `_cpu` of a request: no CPU counts it yet. */
#define HTW__NO_CPU UINT16_MAX

/*
 * How long requests waited: a sampled histogram.
 *
 * To read the clock twice for each request would take a seventh of its time. So each CPU measures
 * only 16 requests in a millisecond; the others cost two comparisons. A request with a
 * timeout has read the clock anyway. One without reads it if it is measured, and otherwise in one
 * case of 16, to notice the next millisecond.
 */
struct htw__wait_histogram {
    uint64_t begun_ms; /* the last millisecond in which a request began to wait */
    uint64_t begun;    /* requests in it */
    uint64_t sum_ms;   /* of all waits measured */
    uint64_t buckets[HTW_PURGATORY_WAIT_BUCKETS];
};

#define HTW__REASONS 4

/* A request counts where it began to wait, also for its end. */
struct htw__counts {
    uint64_t begun, ended[HTW__REASONS];
    uint64_t ended_at_once[HTW__REASONS]; /* in their submission, before they began to wait */
    uint64_t watched;                     /* of those that wait */
    uint64_t bytes;                       /* of their blocks of watches */
};

struct htw__cpu {
    alignas(HTW__CACHE_LINE) struct htw__lock lock; /* guards the members up to `cells` */
    uint8_t current_alarm;                          /* the alarm that was set last */
    uint64_t alarm_tick; /* for which the current alarm is set; HTW_NEVER_TICK: for none */
    struct htw_wheel *wheel;
    struct htw_purgatory *purgatory;
    struct htw__counts counts;
    struct htw__wait_histogram waits;
    struct htw__timeout_alarm alarms[HTW__ALARMS];
    alignas(HTW__CACHE_LINE) struct htw__cell_pool cells;
};

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

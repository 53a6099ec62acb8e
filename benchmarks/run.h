/* SPDX-License-Identifier: MIT */
/*
 * run.h - what a workload has in hand: an implementation, its timers, a clock, and where its
 * figures go. A run has a process to itself, so whatever fails ends the process.
 */
#ifndef HTW_BENCH_RUN_H
#define HTW_BENCH_RUN_H

#include "bench.h"
#include "measurement.h"
#include "population.h"
#include "random.h"

#include <time.h>

struct run {
    const struct bench_implementation *implementation;
    size_t n;            /* timers */
    uint64_t operations; /* pairs or moves to measure, where n does not tell */
    bool has_end;        /* what is still armed afterwards is let expire, and the implementation is
                            destroyed; to check both can take longer than what is measured */
    struct random random;
    int output; /* where the measurement goes */

    void *self; /* the implementation's */
    struct population population;
    struct bench_tally tally;
    struct measurement measurement;
};

/* Creates the implementation for `count` timers, and these; none is armed, the clock is 0. */
void run_open(struct run *run, size_t count);
/* Destroys both if the run has an end. It may be opened again. */
void run_close(struct run *run);

/* Adds a figure: `value` of `quantity` for each `unit` in `phase`. */
void run_report(struct run *run, const char *phase, const char *quantity, const char *unit,
                double value);
/* Reports nanoseconds a `unit`: `count` of these took `elapsed_ns`. */
void run_report_ns(struct run *run, const char *phase, const char *unit, uint64_t elapsed_ns,
                   uint64_t count);

/* Sends the measurement and ends the process. */
_Noreturn void run_deliver(struct run *run);
/* The same with a failure: the run is invalid. */
_Noreturn void run_fail(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Advances to `last` tick by tick, so that no timer can be early or late unnoticed, and checks
 * the end as below. Does nothing where timers do not fire, or the run has no end. */
void run_drain(struct run *run, uint64_t last, uint64_t fired);
/* Fails unless `fired` timers have fired, each once, in time, and none is left. */
void run_check_end(struct run *run, uint64_t fired);
/* Fails unless `count` timers are armed, where the implementation can tell. */
void run_check_count(struct run *run, size_t count);

/* Whether timers fire: not for those that only mark what is the least to pay. */
static inline bool run_can_expire(const struct run *run) {
    return !run->implementation->counts_only && run->implementation->advance != NULL;
}

static inline uint64_t run_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void *run_timer(const struct run *run, size_t index) {
    return population_timer(&run->population, index);
}

static inline struct bench_record *run_record(void *timer) {
    return (struct bench_record *)timer - 1;
}

static inline void run_schedule(struct run *run, void *timer, uint64_t deadline) {
    run_record(timer)->deadline = deadline;
    run->implementation->schedule(run->self, timer, deadline);
}

/* A pair: cancels a timer that is armed, and arms it again. */
static inline void run_pair(struct run *run, void *timer, uint64_t deadline) {
    run->implementation->cancel(run->self, timer);
    run_schedule(run, timer, deadline);
}

static inline void run_move(struct run *run, void *timer, uint64_t deadline) {
    run_record(timer)->deadline = deadline;
    run->implementation->move(run->self, timer, deadline);
}

static inline void run_advance(struct run *run, uint64_t now) {
    run->tally.before = run->tally.now;
    run->tally.now = now;
    run->implementation->advance(run->self, now);
}

#endif /* HTW_BENCH_RUN_H */

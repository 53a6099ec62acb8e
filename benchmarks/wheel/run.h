/* SPDX-License-Identifier: MIT */
/*
 * run.h - what a workload works with: an implementation, its timers, and a clock. A run has a
 * process to itself, and a failure ends that process (report_failure()).
 */
#ifndef BENCH_WHEEL_RUN_H
#define BENCH_WHEEL_RUN_H

#include "../common/random.h"
#include "options.h"

struct run {
    const struct bench_implementation *implementation;
    size_t n;            /* timers */
    uint64_t operations; /* pairs or moves to measure, where n does not say how many */
    bool has_end;        /* see struct options */
    struct random random;

    void *self;    /* the implementation's */
    char *objects; /* bench.h shows one */
    size_t stride; /* bytes from one object to the next */
    struct bench_tally tally;
};

/* What a workload needs of an implementation. */
enum run_needs {
    RUN_NEEDS_NOTHING = 0,
    RUN_NEEDS_EXPIRY = 1, /* timers that fire */
    RUN_NEEDS_NEXT = 2,   /* next() */
    RUN_NEEDS_SLACK = 4   /* schedule_within() */
};

/* Returns the run of this process. Ends the process with a report if the implementation lacks
 * something. */
struct run *run_begin(const struct options *options, unsigned needs);

/* Creates the implementation for `count` timers, none of which is armed. The clock is at 0. The run may be opened again. */
void run_open(struct run *run, size_t count);

/* Reports nanoseconds: `count` operations took `elapsed_ns`. */
void run_report_ns(const char *metric, int64_t elapsed_ns, uint64_t count);

/* Advances to `last` tick by tick, so that no timer can be early or late unnoticed, and checks the
 * end as below. Does nothing if timers do not fire, or if the run has no end. */
void run_drain(struct run *run, uint64_t last, uint64_t fired);
/* Fails unless `fired` timers have fired, each once and in time, and none is armed. */
void run_check_end(struct run *run, uint64_t fired);
/* Fails unless `count` timers are armed, if the implementation knows the number. */
void run_check_count(struct run *run, size_t count);

/* Whether timers fire: null and relink have none that do. */
static inline bool run_can_expire(const struct run *run) {
    return !run->implementation->counts_only && run->implementation->advance != NULL;
}

static inline void *run_timer(const struct run *run, size_t index) {
    return run->objects + index * run->stride + sizeof(struct bench_record);
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

#endif /* BENCH_WHEEL_RUN_H */

/* SPDX-License-Identifier: MIT */
/* workload.h - what is done with a peer. One workload is run by a process. */
#ifndef BENCH_SCHEDULER_WORKLOAD_H
#define BENCH_SCHEDULER_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

struct options;

struct workload {
    const char *name;
    bool many_producers;
    bool has_lag;
    double seconds;  /* of measured time, unless told otherwise */
    uint64_t timers; /* the same; 0: does not heed them */
    uint64_t quick_timers;
    /* Starts the peer, and prints what came of it. */
    void (*run)(const struct options *options);
};

/* The list ends with NULL. */
extern const struct workload *const workloads[];

#endif

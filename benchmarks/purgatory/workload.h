/* SPDX-License-Identifier: MIT */
/* workload.h - what is done with a purgatory. One workload is run by a process. */
#ifndef BENCH_PURGATORY_WORKLOAD_H
#define BENCH_PURGATORY_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

struct options;

struct workload {
    const char *name;
    bool many_threads;
    bool chooses_keys; /* heeds --keys and --own-keys or --distinct, and has a case */
    double seconds;    /* of measured time, unless told otherwise; 0: does not heed them */
    uint64_t requests; /* how many are pending, the same */
    uint64_t quick_requests;
    /* Prints what came of it. */
    void (*run)(const struct options *options);
};

/* The list ends with NULL. */
extern const struct workload *const workloads[];

#endif

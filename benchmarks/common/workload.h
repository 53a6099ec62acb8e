/* SPDX-License-Identifier: MIT */
/* workload.h - what a measuring program can measure. A process runs one workload. */
#ifndef BENCH_COMMON_WORKLOAD_H
#define BENCH_COMMON_WORKLOAD_H

#include <stdint.h>

struct options; /* each program has its own */

struct workload {
    const char *name;
    const char *about; /* one line for --help */

    /* Defaults of the options of these names. */
    double seconds; /* of measured time */
    uint64_t count; /* timers or requests */
    uint64_t quick_count;

    /* Measures, and prints the figures. */
    void (*run)(const struct options *options);
};

/* Each program defines this list, which ends with NULL. */
extern const struct workload *const workloads[];

#endif

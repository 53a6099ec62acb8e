/* SPDX-License-Identifier: MIT */
/* child.h - one measurement, in a process of its own: none inherits the heap, the caches of
 * the allocator or the faults of another. */
#ifndef HTW_BENCH_CHILD_H
#define HTW_BENCH_CHILD_H

#include "workload.h"

enum child_end {
    CHILD_DONE,     /* there are figures */
    CHILD_TOO_SLOW, /* it was ended after the time limit */
    CHILD_FAILED    /* it crashed, or found itself wrong: `failure` tells */
};

struct child_task {
    const struct workload *workload;
    const struct bench_implementation *implementation;
    size_t n;
    uint64_t operations;
    bool has_end; /* run.h */
    uint64_t seed;
    unsigned limit_s;
};

enum child_end child_measure(const struct child_task *task, struct measurement *ret_measurement);

#endif /* HTW_BENCH_CHILD_H */

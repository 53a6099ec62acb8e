/* SPDX-License-Identifier: MIT */
/* workload.h - what there is to measure; a file workload_*.c each, or two that are alike. */
#ifndef HTW_BENCH_WORKLOAD_H
#define HTW_BENCH_WORKLOAD_H

#include "run.h"

#define WORKLOAD_SIZES_MAX 4

struct workload {
    const char *name;
    const char *about;                /* one line */
    size_t sizes[WORKLOAD_SIZES_MAX]; /* the numbers of timers to measure it with, then zeros */
    bool has_fixed_size;              /* there is one such number, and no other will do */
    bool is_exact;                    /* one repetition tells all */
    bool needs_expiry;                /* what it needs of an implementation: timers that fire, */
    bool needs_next;                  /* next(), */
    bool needs_slack;                 /* schedule_within() */
    void (*measure)(struct run *run);
};

/* All workloads, and NULL. */
extern const struct workload *const workloads[];

/* Why the workload cannot be measured with this implementation, or NULL. */
const char *workload_excludes(const struct workload *workload,
                              const struct bench_implementation *implementation);

#endif /* HTW_BENCH_WORKLOAD_H */

/* SPDX-License-Identifier: MIT */
/* plan.h - what is measured, and in which order. */
#ifndef HTW_BENCH_PLAN_H
#define HTW_BENCH_PLAN_H

#include "options.h"
#include "result.h"

struct plan {
    const struct options *options;
    struct result *results; /* by workload, then number of timers, then implementation */
    size_t count;
};

/* Lists what the options ask for; false when there is no memory. */
bool plan_init(struct plan *plan, const struct options *options);
void plan_fini(struct plan *plan);

/*
 * Measures everything. Of one workload and number of timers, each implementation is measured
 * once before any is measured again, so that a machine that changes its speed meanwhile
 * changes it for all. False when something failed; what did is told on standard error.
 */
bool plan_run(struct plan *plan);

#endif /* HTW_BENCH_PLAN_H */

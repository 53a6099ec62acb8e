/* SPDX-License-Identifier: MIT */
#include "workload.h"

extern const struct workload workload_churn, workload_fifo, workload_fifo_time, workload_expire,
    workload_long, workload_keep_alive, workload_sparse, workload_slack, workload_phase,
    workload_memory;

const struct workload *const workloads[] = {
    &workload_churn,
    &workload_fifo,
    &workload_fifo_time,
    &workload_expire,
    &workload_long,
    &workload_slack,
    &workload_keep_alive,
    &workload_sparse,
    &workload_phase,
    &workload_memory,
    NULL,
};

const char *workload_excludes(const struct workload *workload,
                              const struct bench_implementation *implementation) {
    if (workload->needs_expiry && implementation->counts_only)
        return "its timers do not fire";
    if (workload->needs_expiry && implementation->advance == NULL)
        return "its clock cannot be set";
    if (workload->needs_next && implementation->next == NULL)
        return "it does not tell when to wake up";
    if (workload->needs_slack && implementation->schedule_within == NULL)
        return "its deadlines have no slack";
    return NULL;
}

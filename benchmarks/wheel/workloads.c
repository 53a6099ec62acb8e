/* SPDX-License-Identifier: MIT */
/* workloads.c - the list of workloads; each is in a file workload_*.c. */
#include "../common/workload.h"

#include <stddef.h>

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

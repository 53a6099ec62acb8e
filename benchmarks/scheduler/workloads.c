/* SPDX-License-Identifier: MIT */
#include "../common/workload.h"

#include <stddef.h>

extern const struct workload workload_threads, workload_foreign, workload_headline,
    workload_lateness, workload_stall, workload_idle, workload_memory, workload_pair;

const struct workload *const workloads[] = {
    &workload_threads,  &workload_foreign, &workload_headline,
    &workload_lateness, &workload_stall,   &workload_idle,
    &workload_memory,   &workload_pair,    NULL,
};

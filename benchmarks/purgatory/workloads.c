/* SPDX-License-Identifier: MIT */
#include "../common/workload.h"

#include <stddef.h>

extern const struct workload workload_pair, workload_memory, workload_arrivals, workload_wake,
    workload_expire;

const struct workload *const workloads[] = {
    &workload_pair, &workload_memory, &workload_arrivals, &workload_wake, &workload_expire, NULL,
};

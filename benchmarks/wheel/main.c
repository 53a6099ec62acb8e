/* SPDX-License-Identifier: MIT */
/*
 * main.c - htw-bench-wheel: runs one workload with one implementation of timers, and prints its
 * figures. A process runs one of each, so that none inherits the heap or the faults of another.
 */
#include "../common/report.h"
#include "options.h"

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

int main(int argc, char **argv) {
    struct options options;
    options_read(&options, argc, argv);
    report_init("\"workload\":\"%s\",\"peer\":\"%s\",\"timers\":%llu", options.workload->name,
                options.implementation->name, (unsigned long long)options.timers);
    options.workload->run(&options);
    report_end();
}

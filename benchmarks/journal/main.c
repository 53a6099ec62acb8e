/* SPDX-License-Identifier: MIT */
/*
 * main.c - htw-bench-journal: runs one workload with one peer, and prints its figures. A process
 * runs one of each, in a folder of its own.
 */
#include "../common/report.h"
#include "options.h"

#include <stddef.h>

extern const struct workload workload_cycle, workload_put, workload_queue, workload_queue_durable,
    workload_latency, workload_lateness, workload_space, workload_restart;

const struct workload *const workloads[] = {
    &workload_cycle,         &workload_put,     &workload_queue,
    &workload_queue_durable, &workload_latency, &workload_lateness,
    &workload_space,         &workload_restart, NULL,
};

int main(int argc, char **argv) {
    struct options options;
    options_read(&options, argc, argv);
    report_init("\"workload\":\"%s\",\"peer\":\"%s\",\"place\":\"%s\",\"case\":\"%s\","
                "\"threads\":%u",
                options.workload->name, options.peer->name, options.place, options.case_name,
                (unsigned)options.threads);
    options.workload->run(&options);
    report_end();
}

/* SPDX-License-Identifier: MIT */
/*
 * main.c - htw-bench-scheduler: runs one workload with one peer, and prints its figures. A process
 * runs one of each, so that no peer inherits memory or threads of another.
 */
#include "../common/report.h"
#include "options.h"

#include <stddef.h>

extern const struct workload workload_threads, workload_foreign, workload_headline,
    workload_lateness, workload_stall, workload_idle, workload_memory, workload_pair;

const struct workload *const workloads[] = {
    &workload_threads,  &workload_foreign, &workload_headline,
    &workload_lateness, &workload_stall,   &workload_idle,
    &workload_memory,   &workload_pair,    NULL,
};

int main(int argc, char **argv) {
    struct options options;
    options_read(&options, argc, argv);
    report_init("\"workload\":\"%s\",\"peer\":\"%s\",\"producers\":%u", options.workload->name,
                options.peer_name, (unsigned)options.producers);
    options.workload->run(&options);
    report_end();
}

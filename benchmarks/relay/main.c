/* SPDX-License-Identifier: MIT */
/*
 * main.c - htw-bench-relay: what the benchmark of the relay needs besides the relay, in C so that it
 * takes little of the machine: a producer, and a fixed ladder of delay topics.
 */
#include "../common/report.h"
#include "options.h"

#include <stddef.h>

extern const struct workload workload_load, workload_ladder;

const struct workload *const workloads[] = { &workload_load, &workload_ladder, NULL };

int main(int argc, char **argv) {
    struct options options;
    options_read(&options, argc, argv);
    report_init("\"workload\":\"%s\"", options.workload->name);
    options.workload->run(&options);
    report_end();
}

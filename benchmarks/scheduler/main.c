/* SPDX-License-Identifier: MIT */
/*
 * main.c - htw-bench-scheduler: runs one workload with one peer, and prints its figures. A process
 * runs one of each, so that no peer inherits memory or threads of another.
 */
#include "../common/report.h"
#include "options.h"

int main(int argc, char **argv) {
    struct options options;
    options_read(&options, argc, argv);
    report_init("\"workload\":\"%s\",\"peer\":\"%s\",\"producers\":%u", options.workload->name,
                options.peer_name, (unsigned)options.producers);
    options.workload->run(&options);
    report_end();
}

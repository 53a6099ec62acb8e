/* SPDX-License-Identifier: MIT */
/* main.c - htw-bench-serve: runs one workload with one server, which it starts, and prints the figures. */
#include "../common/report.h"
#include "options.h"

#include <stddef.h>

extern const struct workload workload_put, workload_cycle, workload_hand, workload_beside,
    workload_delayed, workload_lateness, workload_waiting;

const struct workload *const workloads[] = {
    &workload_put,     &workload_cycle,    &workload_hand,    &workload_beside,
    &workload_delayed, &workload_lateness, &workload_waiting, NULL,
};

int main(int argc, char **argv) {
    struct options options;
    options_read(&options, argc, argv);
    report_init("\"workload\":\"%s\",\"peer\":\"%s\",\"mode\":\"%s\",\"clients\":%u",
                options.workload->name, options.peer, options.is_durable ? "durable" : "memory",
                (unsigned)options.clients);
    options.workload->run(&options);
    report_end();
}

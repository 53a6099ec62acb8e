/* SPDX-License-Identifier: MIT */
/* main.c - htw-bench-purgatory: runs one workload, and prints its figures. */
#include "../common/report.h"
#include "options.h"

#include <stddef.h>

extern const struct workload workload_pair, workload_memory, workload_arrivals, workload_wake,
    workload_expire;

const struct workload *const workloads[] = {
    &workload_pair, &workload_memory, &workload_arrivals, &workload_wake, &workload_expire, NULL,
};

int main(int argc, char **argv) {
    struct options options;
    options_read(&options, argc, argv);
    report_init("\"workload\":\"%s\",\"case\":\"%s\",\"peer\":\"%s\",\"threads\":%u",
                options.workload->name, options.case_name, options.peer_name,
                (unsigned)options.threads);
    options.workload->run(&options);
    report_end();
}

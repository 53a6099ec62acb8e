/* SPDX-License-Identifier: MIT */
/* main.c - runs one workload with one purgatory, and prints what came of it. */
#include "options.h"

#include "../scheduler/report.h"

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct options options;
    options_parse(&options, argc, argv);
    report_init("htw-bench-purgatory",
                "\"workload\":\"%s\",\"case\":\"%s\",\"peer\":\"%s\",\"threads\":%d",
                options.workload->name, options.case_name, options.peer_name, options.threads);
    options.workload->run(&options);
    fflush(stdout);
    _exit(0); /* every workload has checked its end by itself */
}

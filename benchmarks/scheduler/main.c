/* SPDX-License-Identifier: MIT */
/*
 * main.c - runs one workload with one peer, and prints what came of it. One of each, so that
 * nothing that one peer leaves behind is there when the next is measured.
 */
#include "options.h"
#include "report.h"

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct options options;
    options_parse(&options, argc, argv);
    report_init("htw-bench-scheduler", "\"workload\":\"%s\",\"peer\":\"%s\",\"producers\":%d",
                options.workload->name, options.peer_name, options.producers);
    options.workload->run(&options);
    fflush(stdout);
    _exit(0); /* millions of pending timers are not worth an orderly end */
}

/* SPDX-License-Identifier: MIT */
/* options.h - what the command line of htw-bench-scheduler asks for. */
#ifndef BENCH_SCHEDULER_OPTIONS_H
#define BENCH_SCHEDULER_OPTIONS_H

#include "../common/workload.h"
#include "peer.h"

struct options {
    const struct workload *workload;
    const struct peer *peer;
    char peer_name[60]; /* with "-w1" if there is --workers, and "-lag5" if there is --lag */
    uint64_t producers;
    int workers; /* -1: the peer's own choice */
    double seconds;
    double warmup;
    uint64_t timers; /* of stall and memory */
    uint64_t lag;    /* of threads: how many timers of a producer are pending */
};

/* Ends the process if the command line is wrong or asks for help. */
void options_read(struct options *options, int argc, char **argv);

#endif

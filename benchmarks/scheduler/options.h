/* SPDX-License-Identifier: MIT */
/* options.h - what the command line asks for. */
#ifndef BENCH_SCHEDULER_OPTIONS_H
#define BENCH_SCHEDULER_OPTIONS_H

#include "peer.h"
#include "workload.h"

struct options {
    const struct workload *workload;
    const struct peer *peer;
    char peer_name[40]; /* with "-w1" where --workers was given, and so on */
    int producers;
    int workers; /* -1: the peer's own choice */
    double seconds;
    double warmup;
    uint64_t timers; /* of stall and memory */
    int lag;         /* of threads: how many are pending; 0: the usual number */
};

/* Ends the process when the command line is wrong, or asks for help. */
void options_parse(struct options *options, int argc, char **argv);

#endif

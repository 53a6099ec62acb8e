/* SPDX-License-Identifier: MIT */
/* options.h - what the command line of htw-bench-scheduler asks for. */
#ifndef BENCH_SCHEDULER_OPTIONS_H
#define BENCH_SCHEDULER_OPTIONS_H

#include "../common/program.h"
#include "peer.h"

struct options {
    const struct peer *peer;
    uint64_t producers;
    int workers;     /* -1: the peer's own choice */
    uint64_t timers; /* of stall and memory */
};

#endif

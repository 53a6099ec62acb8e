/* SPDX-License-Identifier: MIT */
/* options.h - what the command line of htw-bench-wheel asks for. */
#ifndef BENCH_WHEEL_OPTIONS_H
#define BENCH_WHEEL_OPTIONS_H

#include "../common/program.h"
#include "bench.h"

struct options {
    const struct bench_implementation *implementation;
    uint64_t timers;
    uint64_t operations; /* pairs or moves to measure, where the timers do not say how many */
    uint64_t seed;
    bool has_end; /* let what is armed at the end expire, and check that; it can take longer than
                     what is measured */
};

#endif

/* SPDX-License-Identifier: MIT */
/* measurement.h - what one run of a workload yields; it travels through a pipe as it is. */
#ifndef HTW_BENCH_MEASUREMENT_H
#define HTW_BENCH_MEASUREMENT_H

#include <stddef.h>

/* The most figures of a workload (slack has six). */
#define FIGURES_MAX 8

/* One quantity of one phase, such as 12.5 ns a timer while they are added. */
struct figure {
    char phase[16];
    char quantity[16]; /* ns, advances, wakeups, bytes */
    char unit[16];     /* what there is so much for: pair, timer, … */
    double value;
};

struct measurement {
    size_t figure_count;
    struct figure figures[FIGURES_MAX];
    char failure[160]; /* empty when the run was valid */
};

#endif /* HTW_BENCH_MEASUREMENT_H */

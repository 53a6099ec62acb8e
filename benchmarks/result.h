/* SPDX-License-Identifier: MIT */
/* result.h - what came out for one workload, implementation and number of timers. */
#ifndef HTW_BENCH_RESULT_H
#define HTW_BENCH_RESULT_H

#include "workload.h"

enum result_state {
    RESULT_MEASURED, /* or about to be */
    RESULT_LEFT_OUT, /* the workload cannot be measured so: `reason` */
    RESULT_TOO_SLOW, /* a repetition took longer than the limit */
    RESULT_FAILED    /* a repetition crashed or was wrong: `reason` */
};

struct result {
    const struct workload *workload;
    const struct bench_implementation *implementation;
    size_t n;
    enum result_state state;
    char reason[160];
    size_t count; /* of measurements; all have the same figures, in the same order */
    struct measurement *measurements;
};

/* A figure over all repetitions. */
struct summary {
    const struct figure *figure; /* for its names */
    double median, min, max;
};

/* How many figures there are: none unless it was measured. */
size_t result_figure_count(const struct result *result);
struct summary result_summary(const struct result *result, size_t index);

/* What to call the state in a report. */
const char *result_state_name(enum result_state state);

#endif /* HTW_BENCH_RESULT_H */

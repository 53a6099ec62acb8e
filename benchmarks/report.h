/* SPDX-License-Identifier: MIT */
/* report.h - results, for programs and for people. */
#ifndef HTW_BENCH_REPORT_H
#define HTW_BENCH_REPORT_H

#include "machine.h"
#include "plan.h"

#include <stdio.h>

/*
 * One JSON object a line: the machine; then one for each workload, phase, implementation and
 * number of timers, with the median, the minimum and the maximum of each quantity. Where
 * there are no figures, the state and the reason stand instead of a phase.
 */
void report_json(FILE *file, const struct machine *machine, const struct plan *plan);

/* A block for each workload, phase and quantity: implementations down, numbers of timers
 * across, medians inside. */
void report_table(FILE *file, const struct machine *machine, const struct plan *plan);

#endif /* HTW_BENCH_REPORT_H */

/* SPDX-License-Identifier: MIT */
/*
 * report.h - prints results to stdout, a JSON object a line, a line a metric; units are in the
 * names. The same lines as benchmarks/jvm/Report.java. And the ends of a run that has none.
 */
#ifndef BENCH_SCHEDULER_REPORT_H
#define BENCH_SCHEDULER_REPORT_H

#include "histogram.h"

#include <stdint.h>

/*
 * Takes the name of the program, which is kept, and the members with which every line begins.
 * To be called before the rest of this.
 */
void report_init(const char *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void report_count(const char *metric, uint64_t value);
void report_number(const char *metric, double value);

/* The percentiles of a histogram of nanoseconds, in microseconds. */
void report_percentiles(const char *what, const struct histogram *histogram);

/* Ends the process: the peer took more memory than there is. That is a result. */
void report_out_of_memory(void) __attribute__((noreturn, cold));

/* Ends the process: something did not work, or the peer did not do what it was measured for. */
void report_failure(const char *format, ...) __attribute__((noreturn, cold, format(printf, 1, 2)));

#endif

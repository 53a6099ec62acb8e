/* SPDX-License-Identifier: MIT */
/*
 * report.h - what a measuring program prints: one JSON object a line, each with one metric and its
 * unit in the name. jvm/Report.java prints the same lines. Also the ends of a run without figures.
 */
#ifndef BENCH_COMMON_REPORT_H
#define BENCH_COMMON_REPORT_H

#include "histogram.h"

#include <stdint.h>

/* Call this first. Takes the members with which every line begins. */
void report_init(const char *format, ...) __attribute__((format(printf, 1, 2)));

void report_count(const char *metric, uint64_t value);
/* A value that is no number ends the run: nothing was counted in the measured time. */
void report_number(const char *metric, double value);

/* The percentiles of a histogram of nanoseconds, in microseconds. */
void report_percentiles(const char *what, const struct histogram *histogram);

/* Ends the process with exit status 0. Frees nothing and stops no threads: with millions of pending
 * timers that would take longer than the measurement. */
void report_end(void) __attribute__((noreturn));

/* The same, if the peer cannot run the workload. `reason` has no characters that JSON escapes. */
void report_left_out(const char *reason) __attribute__((noreturn, cold));

/* The same, if the peer needs more memory than there is. That is a result. */
void report_out_of_memory(void) __attribute__((noreturn, cold));

/* Ends the process with exit status 1: the peer did something wrong, or a system call failed. */
void report_failure(const char *format, ...) __attribute__((noreturn, cold, format(printf, 1, 2)));

#endif

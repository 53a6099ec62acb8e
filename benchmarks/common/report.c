/* SPDX-License-Identifier: MIT */
/* report.c - prints the figures of a run, or why there are none. */
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static char run[200];

void report_init(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run, sizeof(run), format, arguments);
    va_end(arguments);
}

void report_count(const char *metric, uint64_t value) {
    printf("{%s,\"metric\":\"%s\",\"value\":%llu}\n", run, metric, (unsigned long long)value);
}

void report_number(const char *metric, double value) {
    if (!isfinite(value)) /* a division by what was counted in the measured time */
        report_failure("%s cannot be told: the run was too short", metric);
    printf("{%s,\"metric\":\"%s\",\"value\":%.6g}\n", run, metric, value);
}

static void percentile(const char *what, const char *name, int64_t ns) {
    char metric[80];
    snprintf(metric, sizeof(metric), "%s_%s_us", what, name);
    report_number(metric, (double)ns / 1e3);
}

void report_percentiles(const char *what, const struct histogram *histogram) {
    percentile(what, "p50", histogram_quantile_ns(histogram, 0.5));
    percentile(what, "p99", histogram_quantile_ns(histogram, 0.99));
    percentile(what, "p99.9", histogram_quantile_ns(histogram, 0.999));
    percentile(what, "max", histogram->max_ns);
}

void report_end(void) {
    int error = fflush(stdout);
    _exit(error == 0 ? 0 : 1);
}

void report_left_out(const char *reason) {
    printf("{%s,\"metric\":\"state\",\"value\":\"left out: %s\"}\n", run, reason);
    report_end();
}

void report_out_of_memory(void) {
    report_count("out_of_memory", 1);
    report_end();
}

void report_failure(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: {%s} ", program_invocation_short_name, run);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    _exit(1); /* without waiting for threads that may hang */
}

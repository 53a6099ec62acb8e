/* SPDX-License-Identifier: MIT */
/* load.c - the clock, errors and output of htw-bench-blpop. */
#include "load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int64_t load_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void load_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("htw-bench-blpop: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void load_report(const struct load *load, const char *metric, double value) {
    printf("{\"workload\":\"%s\",\"clients\":%u,\"keys\":%u,\"metric\":\"%s\",\"value\":%.9g}\n",
           load->workload, load->count, load->keys, metric, value);
}

static int compare(const void *one, const void *other) {
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

void load_report_percentiles(const struct load *load, const char *what, int64_t *values_ns,
                             size_t count) {
    static const struct {
        const char *name;
        double quantile;
    } wanted[] = { { "p50", 0.5 }, { "p99", 0.99 }, { "p99.9", 0.999 }, { "max", 1 } };
    qsort(values_ns, count, sizeof(*values_ns), compare);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        size_t index = (size_t)((double)count * wanted[i].quantile);
        char metric[64];
        snprintf(metric, sizeof(metric), "%s_%s_us", what, wanted[i].name);
        load_report(load, metric, (double)values_ns[index < count ? index : count - 1] / 1e3);
    }
}

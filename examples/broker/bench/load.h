/* SPDX-License-Identifier: MIT */
/* load.h - the options of a run of htw-bench-blpop, and its output. */
#ifndef BROKER_BENCH_LOAD_H
#define BROKER_BENCH_LOAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct load {
    const char *workload;
    unsigned port;
    pid_t server;    /* of memory: its process */
    unsigned count;  /* number of clients */
    unsigned keys;   /* client i blocks on key i % keys */
    unsigned pushes; /* of wake: pushes that are measured */
    unsigned idle_s; /* of memory: how long clients stay blocked */
    unsigned low_ms; /* each timeout is from low_ms to high_ms; 0: for ever */
    unsigned high_ms;
};

/* CLOCK_MONOTONIC. */
int64_t load_now_ns(void);

/* Prints an error, and ends the program. */
__attribute__((noreturn, format(printf, 1, 2))) void load_fail(const char *format, ...);

/* Prints a line of JSON. */
void load_report(const struct load *load, const char *metric, double value);

/* Sorts the values, and prints their p50, p99, p99.9 and maximum, in microseconds. */
void load_report_percentiles(const struct load *load, const char *what, int64_t *values_ns,
                             size_t count);

/* The workloads; each has a file of its name. */
void wake_run(const struct load *load);
void timeouts_run(const struct load *load);
void memory_run(const struct load *load);

#endif

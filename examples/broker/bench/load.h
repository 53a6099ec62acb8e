/* SPDX-License-Identifier: MIT */
/*
 * load.h - what a run of htw-bench-blpop is asked for, and what it prints.
 */
#ifndef BROKER_BENCH_LOAD_H
#define BROKER_BENCH_LOAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct load {
    const char *workload;
    unsigned port;
    pid_t server;      /* whose memory is read */
    unsigned count;    /* of clients */
    unsigned keys;     /* client i waits on key i modulo this */
    unsigned pushes;   /* of wake: those that are measured */
    unsigned settle_s; /* of memory: between its two looks */
    unsigned low_ms;   /* each BLPOP has a timeout from here to high_ms; 0: for ever */
    unsigned high_ms;
};

/* CLOCK_MONOTONIC. */
int64_t load_now_ns(void);

/* Says what is wrong, and ends the program. */
__attribute__((noreturn, format(printf, 1, 2))) void load_fail(const char *format, ...);

/* Prints a line of JSON. */
void load_report(const struct load *load, const char *metric, double value);

/* Sorts `values`, and prints their p50, p99 and p99.9 and the largest, in microseconds. */
void load_report_percentiles(const struct load *load, const char *what, int64_t *values_ns,
                             size_t count);

/* The workloads; each a file of its name. */
void wake_run(const struct load *load);
void timeouts_run(const struct load *load);
void memory_run(const struct load *load);

#endif

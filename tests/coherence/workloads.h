/* SPDX-License-Identifier: MIT */
/* workloads.h - operations of the scheduler and the purgatory, as many CPUs make them at once. */
#ifndef TESTS_COHERENCE_WORKLOADS_H
#define TESTS_COHERENCE_WORKLOADS_H

#include <stdint.h>

struct workload {
    const char *name, *about;
    double lines_max; /* the most that may change hands in an operation, with any number of CPUs */
    unsigned warming; /* operations of all CPUs together before those that count */
    void (*create)(unsigned cpus);  /* before the run, on CPU 0 */
    void (*begin)(unsigned number); /* on each CPU, before its first operation; may be NULL */
    void (*operate)(unsigned number);
    void (*end)(unsigned number); /* on each CPU; may be NULL */
    void (*destroy)(void);
};

/* Ends with one whose name is NULL. */
extern const struct workload scheduler_workloads[], purgatory_workloads[];

/* False sharing on purpose. */
extern const struct workload mistaken_workload;

/* Reproducible random numbers of a CPU; 0 to `limit` - 1. */
uint32_t workload_draw(unsigned number, uint32_t limit);

/* If an error is not 0, prints it and exits. */
void workload_require(int error, const char *what);

#endif /* TESTS_COHERENCE_WORKLOADS_H */

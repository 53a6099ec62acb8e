/* SPDX-License-Identifier: MIT */
/*
 * main_real.c - what the workloads take on one and two real CPUs, and what a cache line costs that changes
 * hands between them: the prices for the simulation, and what its predictions are compared with.
 */
#include "cpus.h"
#include "run.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 7
#define WARMING 20000u
#define OPERATIONS 100000u
#define PASSES 200000u

static _Atomic unsigned passed;

/* The line is read when the other CPU has written it, and then written: it changes hands twice. */
static void pass_line(unsigned number, void *context) {
    (void)context;
    cpus_begin();
    for (unsigned i = number; i < PASSES; i += 2) {
        while (atomic_load_explicit(&passed, memory_order_acquire) != i)
            cpus_yield();
        atomic_store_explicit(&passed, i + 1, memory_order_release);
    }
    cpus_end();
}

static double measure_line(void) {
    cpus_set_count(2);
    atomic_store(&passed, 0);
    return cpus_run(1, pass_line, NULL) / PASSES / 2;
}

static int compare(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return one < other ? -1 : one > other ? 1 : 0;
}

static double median(double *values) {
    qsort(values, ROUNDS, sizeof(*values), compare);
    return values[ROUNDS / 2];
}

int main(void) {
    const struct workload *workload;
    double values[ROUNDS];
    unsigned cpus_max = cpus_available() < 2 ? 1 : 2;
    for (int i = 0; i < ROUNDS && cpus_max == 2; i++)
        values[i] = measure_line();
    if (cpus_max == 2)
        printf("line 2 %.1f\n", median(values));
    for (unsigned i = 0; (workload = run_workload_at(i)) != NULL; i++)
        for (unsigned cpus = 1; cpus <= cpus_max; cpus++) {
            for (int j = 0; j < ROUNDS; j++)
                values[j] = run_workload(workload, cpus, WARMING, OPERATIONS);
            printf("%s %u %.1f\n", workload->name, cpus, median(values));
            fflush(stdout);
        }
    return 0;
}

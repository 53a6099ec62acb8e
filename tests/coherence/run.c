/* SPDX-License-Identifier: MIT */
/* run.c - runs a workload on virtual CPUs. */
#include "run.h"

#include "cpus.h"
#include "memory.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX 64u
#define SEED 1

struct run {
    const struct workload *workload;
    unsigned warming, operations;
};

static struct { alignas(64) uint64_t state; } randoms[CPUS_MAX];

uint32_t workload_draw(unsigned number, uint32_t limit) {
    uint64_t *state = &randoms[number].state;
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 32) * limit >> 32);
}

void workload_require(int error, const char *what) {
    if (error == 0)
        return;
    fprintf(stderr, "coherence: %s: %d\n", what, error);
    exit(2);
}

const struct workload *run_workload_at(unsigned number) {
    const struct workload *lists[] = { scheduler_workloads, purgatory_workloads };
    for (unsigned i = 0; i < 2; i++)
        for (const struct workload *workload = lists[i]; workload->name != NULL; workload++)
            if (number-- == 0)
                return workload;
    return NULL;
}

const struct workload *run_find_workload(const char *name) {
    const struct workload *workload;
    for (unsigned i = 0; (workload = run_workload_at(i)) != NULL; i++)
        if (strcmp(workload->name, name) == 0)
            return workload;
    return strcmp(mistaken_workload.name, name) == 0 ? &mistaken_workload : NULL;
}

static void body(unsigned number, void *context) {
    const struct run *run = context;
    if (run->workload->begin != NULL)
        run->workload->begin(number);
    for (unsigned i = 0; i < run->warming; i++)
        run->workload->operate(number);
    cpus_begin();
    for (unsigned i = 0; i < run->operations; i++)
        run->workload->operate(number);
    cpus_end();
    if (run->workload->end != NULL)
        run->workload->end(number);
}

void run_workload(const struct workload *workload, unsigned cpus, unsigned warming,
                  unsigned operations) {
    struct run run = { workload, warming, operations };
    memory_reset();
    for (unsigned i = 0; i < CPUS_MAX; i++)
        randoms[i].state = i;
    cpus_set_count(cpus);
    workload->create(cpus);
    cpus_run(SEED, body, &run);
    workload->destroy();
}

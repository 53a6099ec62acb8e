/* SPDX-License-Identifier: MIT */
/* run.h - runs a workload on virtual CPUs. */
#ifndef TESTS_COHERENCE_RUN_H
#define TESTS_COHERENCE_RUN_H

#include "workloads.h"

/* All workloads, by number; NULL: there are no more. And by name; NULL: there is none. */
const struct workload *run_workload_at(unsigned number);
const struct workload *run_find_workload(const char *name);

/* Runs `operations` on each CPU, after `warming` others. */
void run_workload(const struct workload *workload, unsigned cpus, unsigned warming,
                  unsigned operations);

#endif /* TESTS_COHERENCE_RUN_H */

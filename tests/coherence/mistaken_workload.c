/* SPDX-License-Identifier: MIT */
/* mistaken_workload.c - false sharing on purpose, which the simulation must find: this file is compiled
   as the library is. */
#include "memory.h"
#include "workloads.h"

#include "../../src/base/histogram.h"

/* Of each CPU, but eight of them lie in one line. */
static struct htw__counter *counters;

static void create(unsigned cpus) {
    counters = memory_allocate(cpus * sizeof(*counters));
}

static void operate(unsigned number) {
    htw__counter_add(&counters[number], 1);
}

static void destroy(void) {
}

const struct workload mistaken_workload = {
    "false_sharing",
    "each CPU counts in a counter of its own, without padding",
    0,
    0,
    create,
    NULL,
    operate,
    NULL,
    destroy,
};

/* SPDX-License-Identifier: MIT */
/* process.h - what the kernel counts for this process. */
#ifndef BENCH_COMMON_PROCESS_H
#define BENCH_COMMON_PROCESS_H

#include <stdint.h>

/* The CPU time of all threads, with those that have ended. */
int64_t process_cpu_ns(void);

/* The resident memory. */
uint64_t process_resident_bytes(void);

/* The memory of the machine that is free, or that the kernel can free. */
uint64_t process_available_bytes(void);

struct thread_counts {
    uint64_t switches;
    int64_t cpu_ns;
};

/* Of all threads together but the main one. */
struct thread_counts process_other_threads(void);

#endif

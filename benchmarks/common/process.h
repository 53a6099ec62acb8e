/* SPDX-License-Identifier: MIT */
/* machine.h - what the operating system has counted for this process. */
#ifndef BENCH_COMMON_MACHINE_H
#define BENCH_COMMON_MACHINE_H

#include <stdint.h>

/* The CPU time of all threads, ended ones included. */
int64_t process_cpu_ns(void);

/* The memory that is resident. */
uint64_t process_resident_bytes(void);

/* The memory of the machine that is free, or soon could be. */
uint64_t process_available_bytes(void);

struct thread_counts {
    uint64_t switches;
    int64_t cpu_ns;
};

/* Of the main thread, and of all the others together. */
void process_threads(struct thread_counts *ret_main, struct thread_counts *ret_others);

#endif

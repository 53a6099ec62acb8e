/* SPDX-License-Identifier: MIT */
/* cpu.c - how many CPUs the machine has, and a number for each thread instead of its CPU. */
#include "cpu.h"

#include <unistd.h>
#ifdef HTW_PORTABLE
#include <stdatomic.h>
#endif

uint32_t htw__cpu_count(uint32_t max) {
#ifdef _SC_NPROCESSORS_ONLN
    long count = sysconf(_SC_NPROCESSORS_ONLN);
#else
    long count = 1;
#endif
    return count < 1 ? 1 : count > (long)max ? max : (uint32_t)count;
}

#ifdef HTW_PORTABLE
/* Successive threads have successive numbers, so a group of threads spreads evenly. */
uint32_t htw__cpu_current(void) {
    static _Atomic uint32_t threads;
    static _Thread_local uint32_t number; /* from 1; 0: none yet */
    /* order: A number for each thread. */
    if (number == 0)
        number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
    return number - 1;
}
#endif

/* SPDX-License-Identifier: MIT */
/* cpu.h - how many CPUs the machine has and which one this is, for objects that are divided by CPU. */
#ifndef HTW_SRC_BASE_CPU_H
#define HTW_SRC_BASE_CPU_H

#include <stdint.h>
#ifndef HTW_PORTABLE
#include <sched.h>
#endif

/* The CPUs that are online: at least 1, even if the system does not say, and at most `max`. */
uint32_t htw__cpu_count(uint32_t max);

/* A number that threads that run at the same time rarely share: that of the CPU, or any number if
   the kernel has no answer. Where a system does not tell it, each thread has a number of its own. */
#ifndef HTW_PORTABLE
static inline uint32_t htw__cpu_current(void) {
    return (uint32_t)sched_getcpu(); /* a load */
}
#else
uint32_t htw__cpu_current(void);
#endif

#endif /* HTW_SRC_BASE_CPU_H */

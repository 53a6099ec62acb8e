/* SPDX-License-Identifier: MIT */
/* cpu.h - how many CPUs the machine has and which one this is, for objects that are divided by CPU. */
#ifndef HTW_SRC_BASE_CPU_H
#define HTW_SRC_BASE_CPU_H

#include "../port/system.h" /* htw__cpu_current() */

/* The CPUs that are online: at least 1, even if the system does not say, and at most `max`. */
uint32_t htw__cpu_count(uint32_t max);

#endif /* HTW_SRC_BASE_CPU_H */

/* SPDX-License-Identifier: MIT */
/* cpu.c - how many CPUs the machine has. */
#include "cpu.h"

#include <unistd.h>

uint32_t htw__cpu_count(uint32_t max) {
#ifdef _SC_NPROCESSORS_ONLN
    long count = sysconf(_SC_NPROCESSORS_ONLN);
#else
    long count = 1;
#endif
    return count < 1 ? 1 : count > (long)max ? max : (uint32_t)count;
}

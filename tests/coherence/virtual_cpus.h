/* SPDX-License-Identifier: MIT */
/* virtual_cpus.h - what the calls of the compiler's hooks do to the virtual CPU that runs. */
#ifndef TESTS_COHERENCE_VIRTUAL_CPUS_H
#define TESTS_COHERENCE_VIRTUAL_CPUS_H

#include "cpus.h"

/* The CPU that runs accesses memory. Another CPU may run before this returns. Does nothing in a thread
   that is no virtual CPU. */
void virtual_cpu_access(const volatile void *memory, size_t size, bool is_write, const void *code);

/* The functions that have been entered, by the addresses behind their calls. */
void virtual_cpu_enter(const void *caller);
void virtual_cpu_leave(void);

/* The caller of the `level`th function from the innermost one; NULL: there are not so many. */
const void *virtual_cpu_caller(unsigned level);

#endif /* TESTS_COHERENCE_VIRTUAL_CPUS_H */

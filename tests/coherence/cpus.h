/* SPDX-License-Identifier: MIT */
/*
 * cpus.h - up to 64 CPUs that a simulation plays: threads that pass a baton, so that one of them runs at a time, and
 * thread-locals are right. Each CPU has a clock. An access to memory takes a step, a cache line that changes hands takes
 * longer; the CPU whose clock is behind runs next. A seed makes the order reproducible.
 */
#ifndef TESTS_COHERENCE_CPUS_H
#define TESTS_COHERENCE_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The library sees `count` CPUs from now on. */
void cpus_set_count(unsigned count);

/* Runs body(number, context) on each of the CPUs. */
void cpus_run(uint64_t seed, void (*body)(unsigned number, void *context), void *context);

/* In a body: waits until all CPUs are here. Between the two, lines that change hands are logged. */
void cpus_begin(void);
void cpus_end(void);

/* In a body: another CPU has to do something first. */
void cpus_yield(void);

/* In a body: what follows is not simulated, which is faster; no other CPU runs meanwhile. */
void cpus_skip(bool on);

/* In a body: the workload itself reads or writes its memory here. */
void cpus_touch(const void *memory, size_t size, bool is_write);

#endif /* TESTS_COHERENCE_CPUS_H */

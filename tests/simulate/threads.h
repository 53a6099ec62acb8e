/* SPDX-License-Identifier: MIT */
/*
 * threads.h - what may happen to the threads of a life at any atomic operation, and to its memory.
 *
 * The threads are those of the explorer's machine. Memory is sequentially consistent here, and races are not looked
 * for: explore does both. So a step takes nanoseconds, and an hour fits in seconds.
 */
#ifndef TESTS_SIMULATE_THREADS_H
#define TESTS_SIMULATE_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ends a life at a random step after this time. */
void threads_crash_after(int64_t at_ns);

/* A life that is to crash does so soon: trouble comes together. */
void threads_crash_soon(void);

/* A place at which a crash may take effect, a thread may be stopped, or another may run. */
void threads_interrupt(void);

/* At the begin of a life. */
void threads_begin(void);

/* Faults happen from now on, or not any more. */
void threads_set_faults(bool are_on);

/* Whether an allocation fails now: also for what has another allocator. */
bool memory_fails(void);

/* The bytes that are allocated now. */
size_t memory_bytes(void);

#endif /* TESTS_SIMULATE_THREADS_H */

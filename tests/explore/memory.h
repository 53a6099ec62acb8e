/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the memory that the threads of a scene share: which accesses race, and which values a load
 * may see.
 *
 * Each atomic word has a list of its last values. A load that is not sequentially consistent may see each
 * of them unless a later one happened before the load, or the thread has seen a later one. A
 * read-modify-write sees the last one. Plain accesses must be ordered with all others: otherwise they race.
 *
 * The accesses of the thread that runs come by access_hooks.h.
 */
#ifndef TESTS_EXPLORE_MEMORY_H
#define TESTS_EXPLORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before each schedule. */
void memory_reset(void);

/* ---- blocks: at the same addresses in each schedule, and never used twice */

void *memory_allocate(size_t size, size_t alignment);
void memory_release(void *block, size_t size);
/* Memory for the stack of a thread; one for each number. */
void *memory_stack(unsigned number, size_t *ret_size);

/* ---- synchronization that is no word: a mutex, a thread that ends */

struct machine_past;
void memory_release_to(struct machine_past *past);
void memory_acquire_from(const struct machine_past *past);

#endif /* TESTS_EXPLORE_MEMORY_H */

/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the memory that the threads of a scene share: which accesses race, and which values a load
 * may see.
 *
 * memory.c: plain accesses must be ordered with all others; otherwise they race.
 *
 * words.c: each atomic word has a list of its last values, in the order of their modification. What a load may see, and
 * where in the list a store may come, is what C11 allows in the form of RC11 (Lahav et al., 2017). litmus.c shows it.
 * Stronger than that:
 *  - Sequentially consistent operations and fences take effect in the order in which they are played, which includes
 *    what relaxed loads have seen.
 *  - Older values than the last eight are forgotten.
 *  - A weak compare-and-swap fails only if the value differs.
 * Weaker: as in C++20 a release sequence goes on with read-modify-writes only.
 *
 * The accesses of the thread that runs come by access_hooks.h.
 */
#ifndef TESTS_EXPLORE_MEMORY_H
#define TESTS_EXPLORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Before each schedule. The second: by the first. */
void memory_reset(void);
void memory_reset_words(void);

/* What has another number than this one is of an earlier schedule. */
extern unsigned memory_run;

/* Whether the accesses of the present thread count: other threads live. */
bool memory_is_recorded(void);
/* An atomic access, for the search for races. */
void memory_note_atomic(const volatile void *word, size_t size, bool is_write, const void *code);

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

/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the memory of a run. Each CPU allocates from a region of its own, and uses again first what it has freed, as the
 * allocators of threaded programs do.
 */
#ifndef TESTS_COHERENCE_MEMORY_H
#define TESTS_COHERENCE_MEMORY_H

#include <htw/base.h>

#include <stddef.h>

extern const struct htw_allocator memory_allocator;

/* Releases all memory. */
void memory_reset(void);

/* Zeroed, and no line of it is shared. */
void *memory_allocate(size_t size);

#endif /* TESTS_COHERENCE_MEMORY_H */

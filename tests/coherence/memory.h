/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the memory of a run, and what lies in it. Each CPU allocates from a region of its own, and
 * uses again first what it has freed, as the allocators of threaded programs do.
 */
#ifndef TESTS_COHERENCE_MEMORY_H
#define TESTS_COHERENCE_MEMORY_H

#include <htw/base.h>

#include <stddef.h>
#include <stdint.h>

extern const struct htw_allocator memory_allocator;

/* Releases all memory. */
void memory_reset(void);

/* Zeroed, and no line of it is shared. */
void *memory_allocate(size_t size);

/* A member of a struct. */
struct memory_field {
    const char *name;
    size_t offset;
};

/* From now on addresses in `count` structs of `size` bytes have names. `fields` is in ascending order
   and ends with a name that is NULL; it may be NULL. */
void memory_name(const void *memory, size_t size, size_t count, const char *name,
                 const struct memory_field *fields);

/* Writes what lies at an address: "shard.lock", or the function that allocated the block. */
void memory_describe(uintptr_t address, char *text, size_t size);

#endif /* TESTS_COHERENCE_MEMORY_H */

/* SPDX-License-Identifier: MIT */
/* alloc.h - the only caller of an allocator. */
#ifndef HTW_SRC_BASE_ALLOC_H
#define HTW_SRC_BASE_ALLOC_H

#include <htw/base.h>

#include <stdbool.h>

/* What large arrays are aligned to: a cache line. */
#define HTW__CACHE_LINE ((size_t)64)

/*
 * From this size on the default allocator gives a block back to the system as soon as it is
 * released. It is far below the pages of a slab, and far above what comes and goes often. To map
 * and unmap a block costs some 4 us: at 64 KiB that is a tenth of what it costs to have its 16
 * pages faulted in, which a fresh block costs wherever it comes from; and what the last page
 * wastes is at most a sixteenth.
 */
#define HTW__LARGE_BLOCK ((size_t)64 * 1024)

/* The allocator that is used when the user gives none: alloc_system.c, or with the option
   `jemalloc` alloc_jemalloc.c. */
extern const struct htw_allocator htw__default_allocator;

/* Whether both functions are there. */
bool htw__allocator_is_valid(const struct htw_allocator *allocator);

/* NULL when there is no memory. */
void *htw__allocate(const struct htw_allocator *allocator, size_t size);

/* `memory` may be NULL; `size` is the one that it was allocated with. */
void htw__release(const struct htw_allocator *allocator, void *memory, size_t size);

#endif /* HTW_SRC_BASE_ALLOC_H */

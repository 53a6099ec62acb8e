/* SPDX-License-Identifier: MIT */
/* alloc.h - the only caller of an allocator. */
#ifndef HTW_SRC_ALLOC_H
#define HTW_SRC_ALLOC_H

#include <htw/base.h>

#include <stdbool.h>

/* What large arrays are aligned to: a cache line. */
#define HTW__CACHE_LINE ((size_t)64)

/* The allocator that is used when the user gives none. */
extern const struct htw_allocator htw__default_allocator;

/* Whether both functions are there. */
bool htw__allocator_is_valid(const struct htw_allocator *allocator);

/* NULL when there is no memory. */
void *htw__allocate(const struct htw_allocator *allocator, size_t size);

/* `memory` may be NULL; `size` is the one that it was allocated with. */
void htw__release(const struct htw_allocator *allocator, void *memory, size_t size);

#endif /* HTW_SRC_ALLOC_H */

/* SPDX-License-Identifier: MIT */
/* alloc.h - allocation through the allocator of the user or the default one. */
#ifndef HTW_SRC_BASE_ALLOC_H
#define HTW_SRC_BASE_ALLOC_H

#include "assert.h"
#include "compiler.h"

#include <htw/base.h>

#include <stdbool.h>

/* The alignment of every block. */
#define HTW__CACHE_LINE ((size_t)64)

/*
 * From this size on the default allocator returns a released block to the system at once. Mapping
 * and unmapping costs some 4 us, which at 64 KiB is a tenth of what the page faults of a fresh
 * block cost anyway. The last page wastes at most a sixteenth.
 */
#define HTW__LARGE_BLOCK ((size_t)64 * 1024)

/* Used when the user gives no allocator: alloc_system.c, or alloc_jemalloc.c with the build option
   `jemalloc`. */
HTW__SHARED extern const struct htw_allocator htw__default_allocator;

/* Whether both of its functions are set. */
HTW__SHARED bool htw__allocator_is_valid(const struct htw_allocator *allocator);

/* NULL: no memory. */
HTW__SHARED void *htw__allocate(const struct htw_allocator *allocator, size_t size);

/* `memory` may be NULL. `size` is the size with which it was allocated. */
HTW__SHARED void htw__release(const struct htw_allocator *allocator, void *memory, size_t size);

/*
 * Objects that have the member `allocator` are known to exist by it: with check_level 1 its end forgets the function,
 * and the memory says so until it is used again.
 */
#define HTW_ASSERT_EXISTS(object, kind)                                \
    HTW_ASSERT_USE((object)->allocator.allocate != NULL, kind, object, \
                   "is used after it was destroyed")

static inline void htw__allocator_forget(struct htw_allocator *allocator) {
    void *(*volatile * allocate)(void *, size_t, size_t) = &allocator->allocate;
    if (HTW_CHECK_LEVEL >= 1)
        *allocate = NULL; /* volatile: it is the last store before the memory is released */
}

#ifdef HTW_ANNOTATE
/*
 * For memory that several threads use under the library's own locks. Where a race detector watches
 * the program (annotate.h), `*allocator` becomes one that takes memory from `*users`, which must
 * stay where it is until all of it is released, and keeps it out of the check. Otherwise both are
 * the same. `*allocator` must be valid; `*users` need not be initialized.
 */
void htw__allocator_hide(struct htw_allocator *allocator, struct htw_allocator *users);
#endif

#endif /* HTW_SRC_BASE_ALLOC_H */

/* SPDX-License-Identifier: MIT */
/* aligned.h - memory that is aligned to 64 bytes, as no allocator has to do more: Windows has functions of its own for that. */
#ifndef TESTS_ALIGNED_H
#define TESTS_ALIGNED_H

#include <stdlib.h>
#ifdef _WIN32
#include <malloc.h>
#endif

/** NULL: no memory. */
static inline void *allocate_aligned(size_t size) {
#ifdef _WIN32
    return _aligned_malloc(size, 64);
#else
    return aligned_alloc(64, (size + 63) / 64 * 64); /* which wants a multiple */
#endif
}

static inline void free_aligned(void *memory) {
#ifdef _WIN32
    _aligned_free(memory);
#else
    free(memory);
#endif
}

#endif /* TESTS_ALIGNED_H */

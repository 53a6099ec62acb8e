/* SPDX-License-Identifier: MIT */
#include "alloc.h"

#include <stdlib.h>

static void *allocate_aligned(void *context, size_t size, size_t alignment) {
    (void)context;
    /* aligned_alloc wants a size that is a multiple of the alignment. */
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    return rounded < size ? NULL : aligned_alloc(alignment, rounded);
}

static void release_aligned(void *context, void *memory, size_t size, size_t alignment) {
    (void)context;
    (void)size;
    (void)alignment;
    free(memory);
}

const struct htw_allocator htw__default_allocator = { allocate_aligned, release_aligned, NULL };

bool htw__allocator_is_valid(const struct htw_allocator *allocator) {
    return allocator->allocate != NULL && allocator->release != NULL;
}

void *htw__allocate(const struct htw_allocator *allocator, size_t size) {
    return allocator->allocate(allocator->context, size, HTW__CACHE_LINE);
}

void htw__release(const struct htw_allocator *allocator, void *memory, size_t size) {
    if (memory != NULL)
        allocator->release(allocator->context, memory, size, HTW__CACHE_LINE);
}

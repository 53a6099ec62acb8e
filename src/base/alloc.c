/* SPDX-License-Identifier: MIT */
/* alloc.c - allocation through the allocator of the user or the default one. */
#include "alloc.h"

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

/* SPDX-License-Identifier: MIT */
/* alloc.c - allocation through the allocator of the user or the default one. */
#include "alloc.h"

#include "annotate.h"

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

/* ---- under a race detector */

#ifdef HTW_ANNOTATE /* not in the amalgamation */

static void *allocate_hidden(void *users, size_t size, size_t alignment) {
    const struct htw_allocator *allocator = users;
    void *memory = allocator->allocate(allocator->context, size, alignment);
    if (memory != NULL)
        HTW__ANNOTATE_ALLOCATED(memory, size);
    return memory;
}

/* `memory` may be the block in which `users` is. */
static void release_hidden(void *users, void *memory, size_t size, size_t alignment) {
    const struct htw_allocator allocator = *(const struct htw_allocator *)users;
    HTW__ANNOTATE_RELEASED(memory, size);
    allocator.release(allocator.context, memory, size, alignment);
}

void htw__allocator_hide(struct htw_allocator *allocator, struct htw_allocator *users) {
    *users = *allocator;
    if (HTW__ANNOTATED())
        *allocator = (struct htw_allocator) { allocate_hidden, release_hidden, users };
}

#endif

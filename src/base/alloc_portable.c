/* SPDX-License-Identifier: MIT */
/*
 * alloc_portable.c - the default allocator of other systems than Linux: malloc for all.
 *
 * Why alloc_system.c maps large blocks is what Linux and glibc do. Other allocators of the C library
 * return large blocks to the system by themselves.
 */
#include "alloc.h"

#include <stdint.h>
#include <stdlib.h>

static void *allocate_from_system(void *context, size_t size, size_t alignment) {
    (void)context;
    if (size > SIZE_MAX - alignment)
        return NULL;
    /* aligned_alloc() needs a multiple of the alignment. */
    return aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
}

static void release_to_system(void *context, void *memory, size_t size, size_t alignment) {
    (void)context;
    (void)size;
    (void)alignment;
    free(memory);
}

const struct htw_allocator htw__default_allocator = { allocate_from_system, release_to_system,
                                                      NULL };

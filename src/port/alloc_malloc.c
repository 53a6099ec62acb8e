/* SPDX-License-Identifier: MIT */
/*
 * alloc_malloc.c - the default allocator of the wheel in two files, which needs nothing but C: malloc,
 * or the functions that HTW_MALLOC and HTW_FREE name. The library has alloc_system.c.
 *
 * The block that malloc returns is larger than what was asked for. The memory begins at its first
 * aligned address, and the byte before that says how far this is from the start of the block. C99 has
 * no aligned_alloc(), and the HTW_MALLOC of a small system may align to less than a pointer.
 */
#include "../base/alloc.h"

#include <stdint.h>

#if defined(HTW_MALLOC) != defined(HTW_FREE)
#error "define both HTW_MALLOC(size) and HTW_FREE(memory), or neither of them"
#endif

#if !defined(HTW_MALLOC) && !defined(HTW_FREESTANDING)
#include <stdlib.h>
#define HTW_MALLOC(size) malloc(size)
#define HTW_FREE(memory) free(memory)
#endif

#ifdef HTW_MALLOC

static void *allocate_by_malloc(void *context, size_t size, size_t alignment) {
    (void)context;
    if (size > SIZE_MAX - alignment)
        return NULL;
    unsigned char *block = HTW_MALLOC(size + alignment);
    if (block == NULL)
        return NULL;
    /* At least 1, so that there is a byte for it, and at most `alignment`, which is at most 64. */
    size_t padding = alignment - ((uintptr_t)block & (alignment - 1));
    block[padding - 1] = (unsigned char)padding;
    return block + padding;
}

static void release_by_free(void *context, void *memory, size_t size, size_t alignment) {
    (void)context, (void)size, (void)alignment;
    unsigned char *begin = memory;
    HTW_FREE(begin - begin[-1]);
}

const struct htw_allocator htw__default_allocator = { allocate_by_malloc, release_by_free, NULL };

#else

/* There is none: htw_wheel_create() refuses options without an allocator. */
const struct htw_allocator htw__default_allocator = { NULL, NULL, NULL };

#endif

/* SPDX-License-Identifier: MIT */
/* image.c - the arena, and the functions of the C library that allocate from it. */
#include "image.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BYTES = 1 << 20, ALIGNMENT = 64 };

static _Alignas(ALIGNMENT) unsigned char arena[ARENA_BYTES];
static size_t used;
static bool is_open;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *memory);

/* Before each block is its size. */
static void *take(size_t size) {
    size_t whole = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
    if (size > ARENA_BYTES || whole > ARENA_BYTES - used) {
        fprintf(stderr, "enumerate: the arena is full\n");
        abort();
    }
    unsigned char *block = arena + used;
    memcpy(block, &size, sizeof(size));
    used += whole;
    return block + ALIGNMENT;
}

static bool is_in_arena(const void *memory) {
    return (uintptr_t)memory - (uintptr_t)arena < ARENA_BYTES;
}

void *__wrap_malloc(size_t size) {
    return is_open ? take(size) : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return is_open ? memset(take(count * size), 0, count * size) : __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return is_open ? take(size) : __real_aligned_alloc(alignment, size);
}

void *__wrap_realloc(void *memory, size_t size) {
    if (!is_open)
        return __real_realloc(memory, size);
    size_t old_size = 0;
    if (memory != NULL)
        memcpy(&old_size, (unsigned char *)memory - ALIGNMENT, sizeof(old_size));
    void *larger = take(size);
    if (memory != NULL)
        memcpy(larger, memory, old_size < size ? old_size : size);
    return larger;
}

void __wrap_free(void *memory) {
    if (!is_in_arena(memory))
        __real_free(memory);
}

void image_clear(void) {
    used = 0;
}

void image_open(void) {
    is_open = true;
}

void image_close(void) {
    is_open = false;
}

void image_save(struct image *image) {
    if (image->capacity < used) {
        __real_free(image->bytes);
        image->capacity = used * 2;
        image->bytes = __real_malloc(image->capacity);
        if (image->bytes == NULL)
            abort();
    }
    memcpy(image->bytes, arena, used);
    image->count = used;
}

void image_restore(const struct image *image) {
    memcpy(arena, image->bytes, image->count);
    used = image->count;
}

void image_fini(struct image *image) {
    __real_free(image->bytes);
    *image = (struct image) { NULL, 0, 0 };
}

/* SPDX-License-Identifier: MIT */
/*
 * failing_malloc.h - lets the n-th allocation fail, of a program that is linked with --wrap for calloc,
 * htw__allocate, malloc and realloc. It defines these: one file of the program includes it.
 */
#ifndef HTW_TESTS_SUPPORT_FAILING_MALLOC_H
#define HTW_TESTS_SUPPORT_FAILING_MALLOC_H

#include <htw/base.h>

#include <stdbool.h>
#include <stddef.h>

/* How many allocations succeed before one fails; negative: all do. */
static int allocations_left = -1;

void *__real_htw__allocate(const struct htw_allocator *allocator, size_t size);
void *__wrap_htw__allocate(const struct htw_allocator *allocator, size_t size);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool fails(void) {
    return allocations_left >= 0 && allocations_left-- == 0;
}

void *__wrap_htw__allocate(const struct htw_allocator *allocator, size_t size) {
    return fails() ? NULL : __real_htw__allocate(allocator, size);
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
    return fails() ? NULL : __real_realloc(memory, size);
}

#endif /* HTW_TESTS_SUPPORT_FAILING_MALLOC_H */

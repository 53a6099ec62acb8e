/* SPDX-License-Identifier: MIT */
/* test_alloc_malloc - the default allocator of the wheel in two files, on a malloc that aligns badly. */
#include "../unit.h"

enum { AREA = 4096, ALIGNMENT = 64 };

static _Alignas(ALIGNMENT) unsigned char area[AREA];
static size_t offset; /* of the next block; AREA: there is no memory */
static size_t asked;
static void *freed;

static void *odd_malloc(size_t size) {
    asked = size;
    return size > AREA - offset ? NULL : area + offset;
}

static void odd_free(void *memory) {
    freed = memory;
}

#define HTW_MALLOC(size) odd_malloc(size)
#define HTW_FREE(memory) odd_free(memory)
#include "../../../src/port/alloc_malloc.c"

static const struct htw_allocator *const allocator = &htw__default_allocator;

UNIT_TEST(alloc_malloc_aligns_each_block_and_frees_what_it_was_given) {
    for (offset = 0; offset < 2 * ALIGNMENT; offset++)
        for (size_t size = 1; size <= 200; size += 199) {
            unsigned char *memory = allocator->allocate(NULL, size, ALIGNMENT);
            assert_non_null(memory);
            assert_int_equal((uintptr_t)memory % ALIGNMENT, 0);
            assert_true(memory > area + offset);
            assert_true(memory + size <= area + offset + asked);
            memset(memory, 0, size);
            freed = NULL;
            allocator->release(NULL, memory, size, ALIGNMENT);
            assert_ptr_equal(freed, area + offset);
        }
}

UNIT_TEST(alloc_malloc_returns_null_without_memory_and_for_sizes_that_overflow) {
    offset = AREA;
    assert_null(allocator->allocate(NULL, 1, ALIGNMENT));
    offset = 0;
    asked = 0;
    assert_null(allocator->allocate(NULL, SIZE_MAX, ALIGNMENT));
    assert_null(allocator->allocate(NULL, SIZE_MAX - ALIGNMENT + 1, ALIGNMENT));
    assert_int_equal(asked, 0);
}

/* SPDX-License-Identifier: MIT */
/* test_alloc - the default allocator: alloc_system.c or alloc_jemalloc.c. */
#include "../../../src/base/alloc.h"

#include "../unit.h"

#include <stdbool.h>
#include <unistd.h>

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
static const bool address_sanitizer = true;
#else
static const bool address_sanitizer = false;
#endif

static const struct htw_allocator *const memory = &htw__default_allocator;

UNIT_TEST(alloc_of_any_size_is_aligned_and_writable) {
    static const size_t sizes[] = { HTW__LARGE_BLOCK - 1,
                                    HTW__LARGE_BLOCK,
                                    HTW__LARGE_BLOCK + 1,
                                    1,
                                    64,
                                    65,
                                    4096,
                                    70001,
                                    1 << 20 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t alignment = sizeof(void *); alignment <= HTW__CACHE_LINE; alignment *= 2) {
            unsigned char *block = memory->allocate(memory->context, sizes[i], alignment);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % alignment, 0);
            memset(block, 1, sizes[i]);
            memory->release(memory->context, block, sizes[i], alignment);
        }
    }
}

UNIT_TEST(alloc_of_more_than_the_address_space_is_refused) {
    assert_null(htw__allocate(memory, SIZE_MAX));
    assert_null(htw__allocate(memory, SIZE_MAX - HTW__CACHE_LINE + 2));
    if (address_sanitizer) {
        print_message("AddressSanitizer ends a program that asks for too much: not tried\n");
        return;
    }
    assert_null(htw__allocate(memory, SIZE_MAX - 4096));
    assert_null(htw__allocate(memory, SIZE_MAX / 8 * 7));
}

UNIT_TEST(release_of_nothing_is_allowed) {
    htw__release(memory, NULL, 1);
    htw__release(memory, NULL, HTW__LARGE_BLOCK);
}

#ifndef _WIN32
/* ---- released memory goes back to the system */

static size_t resident_bytes(void) {
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    assert_non_null(statm);
    assert_int_equal(fscanf(statm, "%*u %lu", &pages), 1);
    fclose(statm);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Whether the resident memory is that of the program, and not of a tool that shadows it. */
static bool runs_by_itself(void) {
    const char *preloaded = getenv("LD_PRELOAD");
    return !address_sanitizer && (preloaded == NULL || strstr(preloaded, "vgpreload") == NULL);
}

/* As a scheduler does it: pages come one by one, and something small and lasting is allocated
   by the application after each, which in a common heap would hold it there. */
UNIT_TEST(alloc_released_pages_are_with_the_system_at_once) {
    if (!runs_by_itself()) {
        print_message("AddressSanitizer and valgrind keep memory of their own: skipped\n");
        skip();
    }
    enum { ROUNDS = 2, PAGES = 256, PAGE_BYTES = 256 * 1024 };
    static const size_t all = (size_t)PAGES * PAGE_BYTES;
    static void *pages[PAGES];
    static void *lasting[ROUNDS][PAGES];
    size_t start = resident_bytes();
    for (size_t i = 0; i < PAGES; i++) {
        void *small = htw__allocate(memory, HTW__LARGE_BLOCK - 1);
        assert_non_null(small);
        htw__release(memory, memset(small, 1, HTW__LARGE_BLOCK - 1), HTW__LARGE_BLOCK - 1);
    }
    assert_true(resident_bytes() < start + all / 16);
    /* glibc's malloc maps large blocks until the first of them is freed, and not after that. */
    for (size_t round = 0; round < ROUNDS; round++) {
        size_t before = resident_bytes();
        for (size_t i = 0; i < PAGES; i++) {
            pages[i] = htw__allocate(memory, PAGE_BYTES);
            assert_non_null(pages[i]);
            memset(pages[i], 1, PAGE_BYTES);
            lasting[round][i] = malloc(100);
            assert_non_null(lasting[round][i]);
        }
        assert_true(resident_bytes() - before >= all - all / 16);
        for (size_t i = 0; i < PAGES; i++) /* all even ones, then all odd ones */
            htw__release(memory, pages[i * 2 % PAGES + i / (PAGES / 2)], PAGE_BYTES);
        assert_true(resident_bytes() < before + all / 16);
    }
    for (size_t i = 0; i < (size_t)ROUNDS * PAGES; i++)
        free(lasting[i / PAGES][i % PAGES]);
}
#endif

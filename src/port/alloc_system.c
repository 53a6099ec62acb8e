/* SPDX-License-Identifier: MIT */
/*
 * alloc_system.c - the default allocator: malloc for small blocks, on Linux mappings for large ones.
 * Other allocators of the C library return large blocks to the system by themselves.
 *
 * malloc would keep large blocks. After the first block that it had mapped is freed, glibc serves
 * that size from its heap (the mmap threshold rises, up to 32 MiB), and a heap returns only its end
 * to the system: one small block above a gigabyte of released slab pages would hold all of it.
 *
 * Each mapped area counts against vm.max_map_count (65 530 by default). The kernel joins
 * neighbours, so the number of areas is often much smaller. 10^8 timers of 64 bytes are 24 400
 * pages of 256 KiB, less than half of the limit even if no two are neighbours. At the limit a block
 * is refused as if there were no memory, and an unmapping may fail: see unmap().
 */
#include "../base/alloc.h"

#include "../base/annotate.h"

#include <stdint.h>
#include <stdlib.h>
#ifdef _WIN32
#include <malloc.h>
#define ALLOCATE_ALIGNED(alignment, size) _aligned_malloc(size, alignment)
#define FREE_ALIGNED _aligned_free
#else
#define ALLOCATE_ALIGNED aligned_alloc
#define FREE_ALIGNED free
#endif
#ifndef HTW_PORTABLE
#include <sys/mman.h>
#include <unistd.h>
#else
#define MAPPED_FROM SIZE_MAX
#endif

/* AddressSanitizer sees neither overruns nor leaks of mapped memory, so then all comes from malloc.
   */
#if defined(__SANITIZE_ADDRESS__)
#define MAPPED_FROM SIZE_MAX
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MAPPED_FROM SIZE_MAX
#endif
#endif
#ifndef MAPPED_FROM
#define MAPPED_FROM HTW__LARGE_BLOCK
#endif

/* 0 on overflow. */
static size_t round_up(size_t size, size_t unit) {
    size_t rounded = (size + unit - 1) & ~(unit - 1);
    return rounded < size ? 0 : rounded;
}

#ifndef HTW_PORTABLE
static size_t whole_pages(size_t size) {
    return round_up(size, (size_t)sysconf(_SC_PAGESIZE));
}

static void *map(size_t size) {
    void *memory =
        mmap(NULL, whole_pages(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) /* also after an overflow: the size is 0 */
        return NULL;
    HTW__ANNOTATE_MAPPED(memory, whole_pages(size));
    return memory;
}

/* Unmapping the middle of an area makes two areas of it, which fails at vm.max_map_count. The
   pages are still returned then; only the addresses stay in use. */
static void unmap(void *memory, size_t size) {
    HTW__ANNOTATE_UNMAPPED(memory, whole_pages(size));
    if (munmap(memory, whole_pages(size)) != 0)
        (void)madvise(memory, whole_pages(size), MADV_DONTNEED);
}
#else /* no block has that size */
static void *map(size_t size) {
    (void)size;
    return NULL;
}

static void unmap(void *memory, size_t size) {
    (void)memory, (void)size;
}
#endif

static void *allocate_from_system(void *context, size_t size, size_t alignment) {
    (void)context;
    if (size >= MAPPED_FROM)
        return map(size); /* aligned to a page, which is enough */
    /* aligned_alloc() needs a multiple of the alignment. */
    size_t rounded = round_up(size, alignment);
    return rounded == 0 ? NULL : ALLOCATE_ALIGNED(alignment, rounded);
}

static void release_to_system(void *context, void *memory, size_t size, size_t alignment) {
    (void)context, (void)alignment;
    if (size >= MAPPED_FROM)
        unmap(memory, size);
    else
        FREE_ALIGNED(memory);
}

const struct htw_allocator htw__default_allocator = { allocate_from_system, release_to_system,
                                                      NULL };

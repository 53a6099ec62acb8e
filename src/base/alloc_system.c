/* SPDX-License-Identifier: MIT */
/* alloc_system.c - the default allocator: malloc, and mappings for large blocks. */
/*
 * alloc_system - the default allocator: malloc's heap for small blocks, mappings of their own
 * for large ones.
 *
 * malloc would do for the large ones but for one thing: it keeps them. Once a block that it had
 * mapped has been freed, glibc serves that size from its heap (its mmap threshold moves up, to
 * 32 MiB), and of a heap only the end goes back to the system: one small block that lives above
 * a gigabyte of released slab pages would hold all of it. So large blocks pass malloc by.
 *
 * Each area of mapped memory counts against vm.max_map_count (65 530 unless changed). The kernel
 * joins neighbours, so that blocks which were allocated one after the other are one area; in the
 * worst case, where no two of the blocks that live are neighbours, each is its own. 10^8 timers
 * of 64 bytes are 24 400 pages of 256 KiB, so that even then they come to less than half of
 * what is allowed. Where a program does reach the limit, a block is refused (as if there were
 * no memory), and a release may be: see unmap().
 */
#include "alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of mapped memory AddressSanitizer would know neither the ends nor the leaks. */
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

/* 0 where that is more than a size_t can say. */
static size_t round_up(size_t size, size_t unit) {
    size_t rounded = (size + unit - 1) & ~(unit - 1);
    return rounded < size ? 0 : rounded;
}

static size_t whole_pages(size_t size) {
    return round_up(size, (size_t)sysconf(_SC_PAGESIZE));
}

static void *map(size_t size) {
    void *memory =
        mmap(NULL, whole_pages(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory; /* 0 bytes, of an overflow, fail as well */
}

/* To unmap the middle of an area makes two of one, which fails at vm.max_map_count. What is in
   the pages can be given back even so; only their addresses remain taken. */
static void unmap(void *memory, size_t size) {
    if (munmap(memory, whole_pages(size)) != 0)
        (void)madvise(memory, whole_pages(size), MADV_DONTNEED);
}

static void *allocate_from_system(void *context, size_t size, size_t alignment) {
    (void)context;
    if (size >= MAPPED_FROM)
        return map(size); /* a page is aligned to more than anybody may ask for */
    /* aligned_alloc wants a size that is a multiple of the alignment. */
    size_t rounded = round_up(size, alignment);
    return rounded == 0 ? NULL : aligned_alloc(alignment, rounded);
}

static void release_to_system(void *context, void *memory, size_t size, size_t alignment) {
    (void)context;
    (void)alignment;
    if (size >= MAPPED_FROM)
        unmap(memory, size);
    else
        free(memory);
}

const struct htw_allocator htw__default_allocator = { allocate_from_system, release_to_system,
                                                      NULL };

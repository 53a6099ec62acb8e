/* SPDX-License-Identifier: MIT */
/* memory.c - the memory of a run. */
#include "memory.h"

#include "cache.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define REGION_BYTES ((size_t)256 << 20) /* addresses; memory only where it is used */
#define CLASSES 32u                      /* free blocks: by powers of two */

struct block {
    struct block *next_free;
};

static char *regions[CACHE_CPUS];
static size_t used[CACHE_CPUS];
static struct block *free_blocks[CACHE_CPUS][CLASSES];

void memory_reset(void) {
    for (unsigned i = 0; i < CACHE_CPUS; i++)
        if (regions[i] != NULL)
            munmap(regions[i], REGION_BYTES);
    memset(regions, 0, sizeof(regions));
    memset(used, 0, sizeof(used));
    memset(free_blocks, 0, sizeof(free_blocks));
}

static unsigned class_of(size_t size) {
    unsigned number = 0;
    while (((size_t)CACHE_LINE << number) < size)
        number++;
    return number;
}

static struct block **free_list(size_t size) {
    return &free_blocks[(unsigned)sched_getcpu() % CACHE_CPUS][class_of(size)];
}

static void *add_block(unsigned cpu, size_t room) {
    if (regions[cpu] == NULL)
        regions[cpu] = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (regions[cpu] == MAP_FAILED || used[cpu] + room > REGION_BYTES) {
        fputs("coherence: out of memory\n", stderr);
        exit(2);
    }
    void *block = regions[cpu] + used[cpu];
    used[cpu] += room;
    return block;
}

static void *allocate(void *context, size_t size, size_t alignment) {
    (void)context, (void)alignment;
    struct block **list = free_list(size), *block = *list;
    if (block == NULL)
        return add_block((unsigned)sched_getcpu() % CACHE_CPUS,
                         (size_t)CACHE_LINE << class_of(size));
    *list = block->next_free;
    return block;
}

static void release(void *context, void *memory, size_t size, size_t alignment) {
    (void)context, (void)alignment;
    struct block **list = free_list(size), *block = memory;
    block->next_free = *list;
    *list = block;
}

const struct htw_allocator memory_allocator = { allocate, release, NULL };

void *memory_allocate(size_t size) {
    return memset(allocate(NULL, size, CACHE_LINE), 0, size);
}

/* SPDX-License-Identifier: MIT */
/* memory.c - the memory of a run, and what lies in it. */
#include "memory.h"

#include "cache.h"
#include "cpus.h"
#include "../support/symbols.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define REGION_BYTES ((size_t)256 << 20) /* addresses; memory only where it is used */
#define CLASSES 32u                      /* free blocks: by powers of two */
#define NAMES_MAX 64u

/* Stands a line before each block. */
struct block {
    const void *allocated_by;
    size_t size;
    struct block *next_free;
};

struct name {
    uintptr_t from;
    size_t size, count;
    const char *text;
    const struct memory_field *fields;
};

static char *regions[CACHE_CPUS];
static size_t used[CACHE_CPUS];
static struct block *free_blocks[CACHE_CPUS][CLASSES];
static struct name names[NAMES_MAX];
static unsigned name_count;

void memory_reset(void) {
    for (unsigned i = 0; i < CACHE_CPUS; i++)
        if (regions[i] != NULL)
            munmap(regions[i], REGION_BYTES);
    memset(regions, 0, sizeof(regions));
    memset(used, 0, sizeof(used));
    memset(free_blocks, 0, sizeof(free_blocks));
    name_count = 0;
}

static unsigned class_of(size_t size) {
    unsigned number = 0;
    while (((size_t)CACHE_LINE << number) < size)
        number++;
    return number;
}

static void *add_block(unsigned cpu, size_t room) {
    if (regions[cpu] == NULL)
        regions[cpu] = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (regions[cpu] == MAP_FAILED || used[cpu] + CACHE_LINE + room > REGION_BYTES) {
        fputs("coherence: out of memory\n", stderr);
        exit(2);
    }
    void *block = regions[cpu] + used[cpu];
    used[cpu] += CACHE_LINE + room;
    return block;
}

static void *allocate(void *context, size_t size, size_t alignment) {
    (void)context, (void)alignment;
    unsigned cpu = (unsigned)sched_getcpu() % CACHE_CPUS, class = class_of(size);
    struct block *block = free_blocks[cpu][class];
    if (block != NULL)
        free_blocks[cpu][class] = block->next_free;
    else
        block = add_block(cpu, (size_t)CACHE_LINE << class);
    /* The caller of htw__allocate(), which is the innermost function. */
    *block = (struct block) { .allocated_by = cpus_caller(), .size = size };
    return (char *)block + CACHE_LINE;
}

static void release(void *context, void *memory, size_t size, size_t alignment) {
    (void)context, (void)alignment;
    struct block *block = (struct block *)(void *)((char *)memory - CACHE_LINE);
    unsigned cpu = (unsigned)sched_getcpu() % CACHE_CPUS, class = class_of(size);
    block->next_free = free_blocks[cpu][class];
    free_blocks[cpu][class] = block;
}

const struct htw_allocator memory_allocator = { allocate, release, NULL };

void *memory_allocate(size_t size) {
    return memset(allocate(NULL, size, CACHE_LINE), 0, size);
}

/* ---- names */

void memory_name(const void *memory, size_t size, size_t count, const char *name,
                 const struct memory_field *fields) {
    if (name_count < NAMES_MAX)
        names[name_count++] = (struct name) { (uintptr_t)memory, size, count, name, fields };
}

static const char *field_at(const struct memory_field *field, size_t offset) {
    const char *name = "?";
    for (; field != NULL && field->name != NULL && field->offset <= offset; field++)
        name = field->name;
    return name;
}

static bool describe_name(uintptr_t address, char *text, size_t size) {
    for (unsigned i = name_count; i-- > 0;) {
        const struct name *name = &names[i];
        if (address < name->from || address >= name->from + name->size * name->count)
            continue;
        size_t offset = (address - name->from) % name->size;
        if (name->fields == NULL)
            snprintf(text, size, "%s", name->text);
        else
            snprintf(text, size, "%s.%s", name->text, field_at(name->fields, offset));
        return true;
    }
    return false;
}

/* The block of an address: blocks follow one another. */
static const struct block *block_at(uintptr_t address) {
    for (unsigned cpu = 0; cpu < CACHE_CPUS; cpu++) {
        uintptr_t from = (uintptr_t)regions[cpu];
        if (from == 0 || address < from || address >= from + used[cpu])
            continue;
        for (;;) {
            const struct block *block = (const struct block *)from;
            uintptr_t end = from + CACHE_LINE + ((size_t)CACHE_LINE << class_of(block->size));
            if (address < end)
                return block;
            from = end;
        }
    }
    return NULL;
}

void memory_describe(uintptr_t address, char *text, size_t size) {
    if (describe_name(address, text, size))
        return;
    const struct block *block = block_at(address);
    if (block == NULL)
        snprintf(text, size, "a stack or a global variable");
    else
        snprintf(text, size, "a block of %zu bytes from %s", block->size,
                 symbols_function((uintptr_t)block->allocated_by));
}

/* SPDX-License-Identifier: MIT */
/* memory.c - accesses that race; blocks of memory. */
#include "memory.h"

#include "../support/access_hooks.h"
#include "explore.h"
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BLOCKS_SIZE (16u << 20)
#define STACK_SIZE (256u << 10)
#define REGION_SIZE (BLOCKS_SIZE + MACHINE_THREADS * STACK_SIZE)

unsigned memory_run;
static char *region, *next_block;

/* ---- the last accesses to each byte */

/* Of eight bytes, as long as all accesses were to all eight; then of each byte. */
struct cell {
    _Alignas(64) unsigned run; /* a cache line holds it */
    bool is_split, is_free;
    uint8_t writer;
    uint16_t written;                                          /* the writer's step; 0: none */
    uint16_t read[MACHINE_THREADS];                            /* plain */
    uint16_t loaded[MACHINE_THREADS], stored[MACHINE_THREADS]; /* atomic */
};

extern char __data_start[], _end[]; /* of the program's variables */

/* Those of eight bytes lie together, since most accesses need no others. */
static struct cells { struct cell *eights, *bytes; } region_cells, variable_cells;

static void *map(size_t size, void *where) {
    void *memory = mmap(where, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("explore: mmap");
        exit(1);
    }
    return memory;
}

static uintptr_t variables(void) {
    return (uintptr_t)__data_start & ~(uintptr_t)7;
}

static struct cells create_cells(size_t bytes) {
    return (struct cells) { map((bytes / 8 + 1) * sizeof(struct cell), NULL),
                            map((bytes + 8) * sizeof(struct cell), NULL) };
}

static void create(void) {
    region = map(REGION_SIZE, (void *)UINT64_C(0x100000000000));
    region_cells = create_cells(REGION_SIZE);
    variable_cells = create_cells((uintptr_t)_end - variables());
}

void memory_reset(void) {
    if (region == NULL)
        create();
    memory_run++;
    next_block = region;
    memory_reset_words();
}

void *memory_stack(unsigned number, size_t *ret_size) {
    *ret_size = STACK_SIZE;
    return region + BLOCKS_SIZE + number * STACK_SIZE;
}

/* Those from the eight bytes on in which `address` is. Without any: nobody can share it. */
static struct cells cells_at(uintptr_t address, size_t size) {
    struct cells cells = { NULL, NULL };
    size_t at = address - (uintptr_t)region;
    if (at < REGION_SIZE && at + size <= REGION_SIZE) {
        cells = region_cells;
    } else {
        at = address - variables();
        if (address >= variables() && address + size <= (uintptr_t)_end)
            cells = variable_cells;
    }
    if (cells.eights == NULL)
        return cells;
    return (struct cells) { cells.eights + at / 8, cells.bytes + at / 8 * 8 };
}

struct access {
    bool is_write, is_atomic, is_release; /* the last: of a block */
    const volatile void *address;
    const void *code;
};

static _Noreturn void fail(const struct access *access, const char *other, unsigned thread) {
    machine_fail("a%s %s of %p by thread %u at %p, and a%s by thread %u",
                 access->is_atomic ? "n atomic" : "", access->is_write ? "write" : "read",
                 (const void *)(uintptr_t)access->address, machine_self->number, access->code,
                 other, thread);
}

/* Whether a step of a thread happened before this thread's present one. */
static bool is_past(unsigned thread, uint32_t step) {
    return step <= machine_self->past.steps[thread];
}

static void check(const struct access *access, const uint16_t steps[], const char *other) {
    for (unsigned i = 0; i < machine_thread_count; i++)
        if (!is_past(i, steps[i]))
            fail(access, other, i);
}

static void record(const struct access *access, struct cell *cell) {
    unsigned me = machine_self->number;
    uint16_t step = (uint16_t)machine_self->past.steps[me];
    if (cell->is_free)
        fail(access, " release of its block", cell->writer);
    if (!is_past(cell->writer, cell->written))
        fail(access, " write", cell->writer);
    if (access->is_write)
        check(access, cell->read, " read");
    if (!access->is_atomic)
        check(access, cell->stored, "n atomic write");
    if (!access->is_atomic && access->is_write)
        check(access, cell->loaded, "n atomic read");
    if (access->is_atomic) {
        (access->is_write ? cell->stored : cell->loaded)[me] = step;
    } else if (access->is_write) {
        cell->writer = (uint8_t)me;
        cell->written = step;
    } else {
        cell->read[me] = step;
    }
    cell->is_free = access->is_release;
}

/* Eight bytes, from `from` to before `to`. */
static void record_in_eight(const struct access *access, struct cells cells, size_t from,
                            size_t to) {
    struct cell *eight = cells.eights;
    if (eight->run != memory_run) {
        memset(eight, 0, sizeof(*eight));
        eight->run = memory_run;
    }
    bool is_whole = from == 0 && to == 8;
    if (!is_whole && !eight->is_split) {
        eight->is_split = true;
        for (size_t i = 0; i < 8; i++)
            cells.bytes[i] = *eight;
    }
    if (!eight->is_split)
        record(access, eight);
    for (size_t i = from; eight->is_split && i < to; i++)
        record(access, &cells.bytes[i]);
}

static void record_all(const struct access *access, size_t size) {
    uintptr_t address = (uintptr_t)access->address, end = address + size;
    struct cells cells = cells_at(address, size);
    if (cells.eights == NULL || size == 0)
        return;
    for (uintptr_t at = address & ~(uintptr_t)7; at < end; at += 8) {
        record_in_eight(access, cells, at < address ? address - at : 0,
                        end - at < 8 ? end - at : 8);
        cells.eights++, cells.bytes += 8;
    }
}

bool memory_is_recorded(void) {
    return machine_self != NULL && machine_is_shared();
}

void hook_read(const volatile void *address, size_t size, const void *code) {
    if (memory_is_recorded())
        record_all(&(struct access) { .address = address, .code = code }, size);
}

void hook_write(const volatile void *address, size_t size, const void *code) {
    if (memory_is_recorded())
        record_all(&(struct access) { .is_write = true, .address = address, .code = code }, size);
}

void memory_note_atomic(const volatile void *word, size_t size, bool is_write, const void *code) {
    record_all(
        &(struct access) { .is_write = is_write, .is_atomic = true, .address = word, .code = code },
        size);
}

void memory_release_to(struct machine_past *past) {
    machine_past_join(past, &machine_self->past);
    machine_self->past.steps[machine_self->number]++;
}

void memory_acquire_from(const struct machine_past *past) {
    machine_past_join(&machine_self->past, past);
}

/* ---- blocks */

void *memory_allocate(size_t size, size_t alignment) {
    char *block = (char *)(((uintptr_t)next_block + alignment - 1) / alignment * alignment);
    if (size > (size_t)(region + BLOCKS_SIZE - block))
        machine_fail("out of memory");
    next_block = block + size;
    return block;
}

void memory_release(void *block, size_t size) {
    if (block != NULL && memory_is_recorded())
        record_all(&(struct access) { .is_write = true,
                                      .is_release = true,
                                      .address = block,
                                      .code = __builtin_return_address(0) },
                   size);
}

static void *allocate(void *context, size_t size, size_t alignment) {
    (void)context;
    return memory_allocate(size, alignment);
}

static void release(void *context, void *memory, size_t size, size_t alignment) {
    (void)context, (void)alignment;
    memory_release(memory, size);
}

const struct htw_allocator explore_allocator = { .allocate = allocate, .release = release };

/* ---- what the machine does not play */

void hook_prefetch(const void *memory) {
    (void)memory;
}

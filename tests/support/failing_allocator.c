/* SPDX-License-Identifier: MIT */
/* failing_allocator.c - blocks in a list, each with what the library asked for. */
#include "failing_allocator.h"

#include "aligned.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct failing_block {
    struct failing_block *next;
    void *memory;
    size_t size, alignment;
};

static void note(struct failing_allocator *self, const char *error) {
    if (self->error == NULL)
        self->error = error;
}

static bool refuses(const struct failing_allocator *self) {
    if (self->fail_at == 0 || self->calls < self->fail_at)
        return false;
    return self->fail_forever || self->calls == self->fail_at;
}

static void lock(struct failing_allocator *self) {
    while (atomic_flag_test_and_set(&self->is_locked))
        sched_yield();
}

static void unlock(struct failing_allocator *self) {
    atomic_flag_clear(&self->is_locked);
}

static void *allocate_locked(struct failing_allocator *self, size_t size, size_t alignment) {
    self->calls++;
    if (size == 0)
        note(self, "zero bytes were asked for");
    if (alignment == 0 || alignment > 64 || (alignment & (alignment - 1)) != 0)
        note(self, "an alignment is no power of two up to 64");
    if (refuses(self)) {
        self->refusals++;
        return NULL;
    }

    struct failing_block *block = malloc(sizeof *block);
    void *memory = allocate_aligned(size);
    if (block == NULL || memory == NULL)
        abort();
    memset(memory, 0xa5, size);
    *block = (struct failing_block) { self->blocks, memory, size, alignment };
    self->blocks = block;
    self->live_bytes += size;
    self->live_blocks++;
    return memory;
}

static void *allocate(void *context, size_t size, size_t alignment) {
    struct failing_allocator *self = context;
    lock(self);
    void *memory = allocate_locked(self, size, alignment);
    unlock(self);
    return memory;
}

static void release_locked(struct failing_allocator *self, void *memory, size_t size,
                           size_t alignment) {
    struct failing_block **place = &self->blocks;
    while (*place != NULL && (*place)->memory != memory)
        place = &(*place)->next;
    struct failing_block *block = *place;
    if (block == NULL) {
        note(self, "memory was released that is not live");
        return;
    }
    if (block->size != size)
        note(self, "a block was released with another size");
    if (block->alignment != alignment)
        note(self, "a block was released with another alignment");
    self->live_bytes -= block->size;
    self->live_blocks--;
    *place = block->next;
    free(block);
    free_aligned(memory);
}

static void release(void *context, void *memory, size_t size, size_t alignment) {
    struct failing_allocator *self = context;
    lock(self);
    release_locked(self, memory, size, alignment);
    unlock(self);
}

void failing_allocator_init(struct failing_allocator *self) {
    *self = (struct failing_allocator) { .is_locked = ATOMIC_FLAG_INIT };
    self->allocator = (struct htw_allocator) { allocate, release, self };
}

void failing_allocator_fini(struct failing_allocator *self) {
    while (self->blocks != NULL) {
        struct failing_block *block = self->blocks;
        self->blocks = block->next;
        free_aligned(block->memory);
        free(block);
    }
}

void failing_allocator_fail(struct failing_allocator *self, size_t nth, bool forever) {
    lock(self);
    self->fail_at = self->calls + nth;
    self->fail_forever = forever;
    unlock(self);
}

void failing_allocator_relent(struct failing_allocator *self) {
    lock(self);
    self->fail_at = 0;
    self->fail_forever = false;
    unlock(self);
}

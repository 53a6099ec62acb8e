/* SPDX-License-Identifier: MIT */
/* cells.c - the memory of keys: small objects out of chunks of 4 KiB. */
#include "cells.h"

#include "../base/assert.h"

#define ALL_FREE ((UINT64_C(1) << HTW__CHUNK_CELLS) - 1)

/* With fewer free cells besides, an empty chunk is kept. */
#define FREE_MIN 16u

struct chunk {
    struct htw__link link; /* in `partial`, while a cell is free */
    uint64_t free;         /* bit n: cell n is free */
    char padding[HTW__CELL_BYTES - sizeof(struct htw__link) - sizeof(uint64_t)];
    char cells[HTW__CHUNK_CELLS][HTW__CELL_BYTES];
};

void htw__cells_init(struct htw__cells *cells, const struct htw_allocator *allocator) {
    *cells = (struct htw__cells) { .allocator = *allocator };
    htw__ring_init(&cells->partial);
}

static struct chunk *add_chunk(struct htw__cells *cells) {
    struct chunk *chunk = htw__allocate(&cells->allocator, sizeof(*chunk));
    if (chunk == NULL)
        return NULL;
    chunk->free = ALL_FREE;
    htw__ring_push_front(&cells->partial, &chunk->link);
    cells->free += HTW__CHUNK_CELLS;
    cells->chunks++;
    return chunk;
}

void *htw__cells_take(struct htw__cells *cells, uint8_t *ret_number) {
    struct chunk *chunk = (struct chunk *)(void *)cells->partial._next;
    if (htw__ring_is_empty(&cells->partial) && (chunk = add_chunk(cells)) == NULL)
        return NULL;
    unsigned number = (unsigned)__builtin_ctzll(chunk->free);
    chunk->free &= chunk->free - 1;
    if (chunk->free == 0)
        htw__link_unlink(&chunk->link);
    cells->free--;
    *ret_number = (uint8_t)number;
    return chunk->cells[number];
}

static void release_chunk(struct htw__cells *cells, struct chunk *chunk) {
    htw__link_unlink(&chunk->link);
    cells->free -= HTW__CHUNK_CELLS;
    cells->chunks--;
    htw__release(&cells->allocator, chunk, sizeof(*chunk));
}

static void release_all(struct htw__cells *cells) {
    while (!htw__ring_is_empty(&cells->partial))
        release_chunk(cells, (struct chunk *)(void *)cells->partial._next);
}

void htw__cells_give(struct htw__cells *cells, void *cell, uint8_t number) {
    struct chunk *chunk = (struct chunk *)(void *)((char *)cell - offsetof(struct chunk, cells) -
                                                   (size_t)number * HTW__CELL_BYTES);
    HTW_ASSERT((chunk->free >> number & 1) == 0);
    if (chunk->free == 0)
        htw__ring_push_front(&cells->partial, &chunk->link);
    chunk->free |= UINT64_C(1) << number;
    cells->free++;
    if (chunk->free == ALL_FREE && cells->free >= HTW__CHUNK_CELLS + FREE_MIN)
        release_chunk(cells, chunk);
    if (cells->free == cells->chunks * HTW__CHUNK_CELLS)
        release_all(cells);
}

size_t htw__cells_memory(const struct htw__cells *cells) {
    return cells->chunks * sizeof(struct chunk);
}

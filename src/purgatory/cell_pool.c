/* SPDX-License-Identifier: MIT */
/* cell_pool.c - the memory of cells, in chunks of 4 KiB. */
#include "cell_pool.h"

#define ALL_FREE ((UINT64_C(1) << HTW__CHUNK_CELLS) - 1)

/* If the other chunks have fewer free cells, an empty chunk is kept. */
#define FREE_MIN 16u

struct chunk {
    struct htw__link link; /* in `partial` while a cell is free */
    uint64_t free;         /* bit n: cell n is free */
    struct htw__cell_pool *pool;
    char padding[sizeof(struct htw__key_cell) - sizeof(struct htw__link) - sizeof(uint64_t) -
                 sizeof(void *)];
    struct htw__key_cell cells[HTW__CHUNK_CELLS];
};

void htw__cell_pool_init(struct htw__cell_pool *pool, const struct htw_allocator *allocator) {
    *pool = (struct htw__cell_pool) { .allocator = *allocator };
    htw__lock_init(&pool->lock, HTW__RANK_CELL_POOL);
    htw__ring_init(&pool->partial);
}

/* ---- under the lock */

static struct chunk *add_chunk(struct htw__cell_pool *pool) {
    struct chunk *chunk = htw__allocate(&pool->allocator, sizeof(*chunk));
    if (chunk == NULL)
        return NULL;
    chunk->free = ALL_FREE;
    chunk->pool = pool;
    htw__ring_push_front(&pool->partial, &chunk->link);
    pool->free += HTW__CHUNK_CELLS;
    pool->chunks++;
    return chunk;
}

static struct htw__key_cell *take_cell(struct htw__cell_pool *pool) {
    struct chunk *chunk = HTW_CONTAINER_OF(pool->partial._next, struct chunk, link);
    if (htw__ring_is_empty(&pool->partial) && (chunk = add_chunk(pool)) == NULL)
        return NULL;
    unsigned number = htw__lowest_bit(chunk->free);
    chunk->free &= chunk->free - 1;
    if (chunk->free == 0)
        htw__link_unlink(&chunk->link);
    pool->free--;
    chunk->cells[number].number = number;
    return &chunk->cells[number];
}

static void release_chunk(struct htw__cell_pool *pool, struct chunk *chunk) {
    htw__link_unlink(&chunk->link);
    pool->free -= HTW__CHUNK_CELLS;
    pool->chunks--;
    htw__release(&pool->allocator, chunk, sizeof(*chunk));
}

static void release_all(struct htw__cell_pool *pool) {
    while (!htw__ring_is_empty(&pool->partial))
        release_chunk(pool, HTW_CONTAINER_OF(pool->partial._next, struct chunk, link));
}

static void put_cell(struct htw__cell_pool *pool, struct chunk *chunk, unsigned number) {
    HTW_ASSERT((chunk->free >> number & 1) == 0);
    if (chunk->free == 0)
        htw__ring_push_front(&pool->partial, &chunk->link);
    chunk->free |= UINT64_C(1) << number;
    pool->free++;
    if (chunk->free == ALL_FREE && pool->free >= HTW__CHUNK_CELLS + FREE_MIN)
        release_chunk(pool, chunk);
    if (pool->free == pool->chunks * HTW__CHUNK_CELLS)
        release_all(pool);
}

/* ---- */

struct htw__key_cell *htw__cell_allocate(struct htw__cell_pool *pool) {
    htw__lock_acquire(&pool->lock);
    struct htw__key_cell *cell = take_cell(pool);
    htw__lock_release(&pool->lock);
    if (cell != NULL)
        *cell = (struct htw__key_cell) { .number = cell->number };
    return cell;
}

void htw__cell_free(struct htw__key_cell *cell) {
    struct chunk *chunk = HTW_CONTAINER_OF(cell - cell->number, struct chunk, cells);
    struct htw__cell_pool *pool = chunk->pool;
    htw__lock_acquire(&pool->lock);
    put_cell(pool, chunk, cell->number);
    htw__lock_release(&pool->lock);
}

size_t htw__cell_pool_memory(struct htw__cell_pool *pool) {
    htw__lock_acquire(&pool->lock);
    size_t bytes = pool->chunks * sizeof(struct chunk);
    htw__lock_release(&pool->lock);
    return bytes;
}

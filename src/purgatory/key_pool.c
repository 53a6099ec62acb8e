/* SPDX-License-Identifier: MIT */
/* key_pool.c - the memory of keys: slots of 64 bytes in chunks of 4 KiB. */
#include "key_pool.h"

#include "../base/assert.h"

#define ALL_FREE ((UINT64_C(1) << HTW__CHUNK_SLOTS) - 1)

/* If the other chunks have fewer free slots, an empty chunk is kept. */
#define FREE_MIN 16u

struct chunk {
    struct htw__link link; /* in `partial` while a slot is free */
    uint64_t free;         /* bit n: slot n is free */
    char padding[HTW__SLOT_BYTES - sizeof(struct htw__link) - sizeof(uint64_t)];
    char slots[HTW__CHUNK_SLOTS][HTW__SLOT_BYTES];
};

void htw__key_pool_init(struct htw__key_pool *pool, const struct htw_allocator *allocator) {
    *pool = (struct htw__key_pool) { .allocator = *allocator };
    htw__ring_init(&pool->partial);
}

static struct chunk *add_chunk(struct htw__key_pool *pool) {
    struct chunk *chunk = htw__allocate(&pool->allocator, sizeof(*chunk));
    if (chunk == NULL)
        return NULL;
    chunk->free = ALL_FREE;
    htw__ring_push_front(&pool->partial, &chunk->link);
    pool->free += HTW__CHUNK_SLOTS;
    pool->chunks++;
    return chunk;
}

void *htw__key_pool_allocate(struct htw__key_pool *pool, uint8_t *ret_number) {
    struct chunk *chunk = (struct chunk *)(void *)pool->partial._next;
    if (htw__ring_is_empty(&pool->partial) && (chunk = add_chunk(pool)) == NULL)
        return NULL;
    unsigned number = (unsigned)__builtin_ctzll(chunk->free);
    chunk->free &= chunk->free - 1;
    if (chunk->free == 0)
        htw__link_unlink(&chunk->link);
    pool->free--;
    *ret_number = (uint8_t)number;
    return chunk->slots[number];
}

static void release_chunk(struct htw__key_pool *pool, struct chunk *chunk) {
    htw__link_unlink(&chunk->link);
    pool->free -= HTW__CHUNK_SLOTS;
    pool->chunks--;
    htw__release(&pool->allocator, chunk, sizeof(*chunk));
}

static void release_all(struct htw__key_pool *pool) {
    while (!htw__ring_is_empty(&pool->partial))
        release_chunk(pool, (struct chunk *)(void *)pool->partial._next);
}

void htw__key_pool_free(struct htw__key_pool *pool, void *slot, uint8_t number) {
    struct chunk *chunk = (struct chunk *)(void *)((char *)slot - offsetof(struct chunk, slots) -
                                                   (size_t)number * HTW__SLOT_BYTES);
    HTW_ASSERT((chunk->free >> number & 1) == 0);
    if (chunk->free == 0)
        htw__ring_push_front(&pool->partial, &chunk->link);
    chunk->free |= UINT64_C(1) << number;
    pool->free++;
    if (chunk->free == ALL_FREE && pool->free >= HTW__CHUNK_SLOTS + FREE_MIN)
        release_chunk(pool, chunk);
    if (pool->free == pool->chunks * HTW__CHUNK_SLOTS)
        release_all(pool);
}

size_t htw__key_pool_memory(const struct htw__key_pool *pool) {
    return pool->chunks * sizeof(struct chunk);
}

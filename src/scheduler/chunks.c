/* SPDX-License-Identifier: MIT */
/* chunks.c - the memory of the buckets of a shard. */
#include "chunks.h"

#include "../base/annotate.h"
#include "../base/assert.h"
#include "../base/compiler.h"

#include <htw/wheel.h>

#define BLOCK_BYTES HTW__LARGE_BLOCK
#define BLOCK_PLACES ((uint32_t)(BLOCK_BYTES / HTW__CHUNK_BYTES))

_Static_assert(sizeof(struct htw__chunk) == HTW__CHUNK_BYTES, "blocks are divided into chunks");

/* In place of the first chunk. */
struct htw__block {
    struct htw__link link; /* in `partial` or `empty`, if it has a free chunk */
    struct htw__chunk *free;
    uint32_t fresh; /* places from here on were never used */
    uint32_t used;  /* chunks in use */
};

void htw__chunks_init(struct htw__chunks *chunks, const struct htw_allocator *allocator) {
    *chunks = (struct htw__chunks) { .allocator = *allocator };
    htw__ring_init(&chunks->partial);
    htw__ring_init(&chunks->empty);
}

void htw__chunks_fini(struct htw__chunks *chunks) {
    struct htw__link *link;
    HTW_ASSERT(htw__ring_is_empty(&chunks->partial));
    while ((link = htw__ring_pop_front(&chunks->empty)) != NULL)
        htw__chunks_release(chunks, HTW_CONTAINER_OF(link, struct htw__block, link));
}

struct htw__block *htw__chunks_allocate(const struct htw__chunks *chunks) {
    return htw__allocate(&chunks->allocator, BLOCK_BYTES);
}

void htw__chunks_release(const struct htw__chunks *chunks, struct htw__block *block) {
    htw__release(&chunks->allocator, block, BLOCK_BYTES);
}

static bool has_room(const struct htw__block *block) {
    return block->free != NULL || block->fresh < BLOCK_PLACES;
}

static void push_empty(struct htw__chunks *chunks, struct htw__block *block) {
    htw__ring_push_front(&chunks->empty, &block->link);
    chunks->empty_count++;
}

void htw__chunks_add(struct htw__chunks *chunks, struct htw__block *block) {
    *block = (struct htw__block) { .fresh = 1 };
    push_empty(chunks, block);
    chunks->free_count += BLOCK_PLACES - 1;
    chunks->block_count++;
}

struct htw__block *htw__chunks_remove(struct htw__chunks *chunks) {
    if (chunks->empty_count < 2)
        return NULL;
    struct htw__link *link = htw__ring_pop_front(&chunks->empty);
    chunks->empty_count--;
    chunks->free_count -= BLOCK_PLACES - 1;
    chunks->block_count--;
    return HTW_CONTAINER_OF(link, struct htw__block, link);
}

struct htw__chunk *htw__chunks_take(struct htw__chunks *chunks) {
    if (chunks->free_count == 0)
        return NULL;
    chunks->free_count--;
    if (htw__ring_is_empty(&chunks->partial)) {
        htw__ring_push_front(&chunks->partial, htw__ring_pop_front(&chunks->empty));
        chunks->empty_count--;
    }
    struct htw__block *block = HTW_CONTAINER_OF(chunks->partial._next, struct htw__block, link);
    struct htw__chunk *chunk = block->free;
    if (chunk != NULL) {
        block->free = chunk->next;
    } else {
        chunk = (struct htw__chunk *)(void *)((char *)block + block->fresh * HTW__CHUNK_BYTES);
        chunk->place = block->fresh++;
    }
    block->used++;
    if (!has_room(block))
        htw__link_unlink(&block->link);
    return chunk;
}

void htw__chunks_put(struct htw__chunks *chunks, struct htw__chunk *chunk) {
    struct htw__block *block =
        (struct htw__block *)(void *)((char *)chunk - chunk->place * HTW__CHUNK_BYTES);
    if (has_room(block))
        htw__link_unlink(&block->link);
    chunk->next = block->free;
    block->free = chunk;
    chunks->free_count++;
    if (--block->used == 0)
        push_empty(chunks, block);
    else /* to the front: what was used last is in the cache */
        htw__ring_push_front(&chunks->partial, &block->link);
}

uint64_t htw__chunks_bytes(const struct htw__chunks *chunks) {
    return (uint64_t)chunks->block_count * BLOCK_BYTES;
}

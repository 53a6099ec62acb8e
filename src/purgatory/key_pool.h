/* SPDX-License-Identifier: MIT */
/*
 * key_pool.h - cells of 64 bytes, out of chunks of 64.
 *
 * A chunk has a header and 63 pool, so that a cell costs 65 bytes where an allocator that keeps
 * alignment takes 80 to 128. A cell is given back with its number in its chunk, which the owner
 * keeps in a byte of it, and which leads to the header. What is free is taken from chunks in use
 * first; a chunk that is empty goes back to the allocator, unless the others are nearly full,
 * so that an owner whose need swings round a full chunk does not allocate at every swing. While no
 * cell is in use, no memory is held. One thread at a time.
 */
#ifndef HTW_SRC_PURGATORY_KEY_POOL_H
#define HTW_SRC_PURGATORY_KEY_POOL_H

#include "../base/alloc.h"
#include "../base/list.h"

#include <stdint.h>

#define HTW__CELL_BYTES 64u
#define HTW__CHUNK_CELLS 63u

struct htw__key_pool {
    struct htw_allocator allocator;
    struct htw__link partial; /* ring of the chunks that have free cells */
    size_t free;              /* free cells in all */
    size_t chunks;
};

/* Must not move afterwards. Copies the allocator. Allocates nothing. */
void htw__key_pool_init(struct htw__key_pool *pool, const struct htw_allocator *allocator);

/* A cell, not initialised, and its number; NULL: there is no memory. */
void *htw__key_pool_allocate(struct htw__key_pool *pool, uint8_t *ret_number);

/* Takes a cell back. */
void htw__key_pool_free(struct htw__key_pool *pool, void *cell, uint8_t number);

/* The bytes that are held. */
size_t htw__key_pool_memory(const struct htw__key_pool *pool);

#endif /* HTW_SRC_PURGATORY_KEY_POOL_H */

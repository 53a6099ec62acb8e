/* SPDX-License-Identifier: MIT */
/*
 * cell_pool.h - the memory of cells, in chunks of 4 KiB. Each CPU has a pool.
 *
 * A chunk has a header and 50 cells, so a cell costs 82 bytes. The number of a cell, which is in the cell, leads to
 * the header. An empty chunk is freed if the others have some free cells, or if no cell is in use: a use that goes up
 * and down by a few cells does not allocate each time.
 */
#ifndef HTW_SRC_PURGATORY_CELL_POOL_H
#define HTW_SRC_PURGATORY_CELL_POOL_H

#include "../base/alloc.h"
#include "../base/list.h"
#include "cell.h"

#define HTW__CHUNK_CELLS 50u

struct htw__cell_pool {
    struct htw__lock lock; /* guards the members below */
    struct htw_allocator allocator;
    struct htw__link partial; /* ring of the chunks that have free cells */
    size_t free;              /* free cells in all chunks */
    size_t chunks;
};

/* The pool must not move afterwards. Copies the allocator. Allocates nothing. */
void htw__cell_pool_init(struct htw__cell_pool *pool, const struct htw_allocator *allocator);

/* A cell of a pool, zeroed except its number; NULL: no memory. */
struct htw__key_cell *htw__cell_allocate(struct htw__cell_pool *pool);

/* Gives a cell back to its pool. */
void htw__cell_free(struct htw__key_cell *cell);

/* The bytes of all chunks. */
size_t htw__cell_pool_memory(struct htw__cell_pool *pool);

#endif /* HTW_SRC_PURGATORY_CELL_POOL_H */

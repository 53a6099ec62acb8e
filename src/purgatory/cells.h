/* SPDX-License-Identifier: MIT */
/*
 * cells.h - cells of 64 bytes, out of chunks of 64.
 *
 * A chunk has a header and 63 cells, so that a cell costs 65 bytes where an allocator that keeps
 * alignment takes 80 to 128. A cell is given back with its number in its chunk, which the owner
 * keeps in a byte of it, and which leads to the header. What is free is taken from chunks in use
 * first; a chunk that is empty goes back to the allocator, unless the others are nearly full,
 * so that an owner whose need swings round a full chunk does not allocate at every swing. While no
 * cell is in use, no memory is held. One thread at a time.
 */
#ifndef HTW_SRC_PURGATORY_CELLS_H
#define HTW_SRC_PURGATORY_CELLS_H

#include "../base/alloc.h"
#include "../base/list.h"

#include <stdint.h>

#define HTW__CELL_BYTES 64u
#define HTW__CHUNK_CELLS 63u

struct htw__cells {
    struct htw_allocator allocator;
    struct htw__link partial; /* ring of the chunks that have free cells */
    size_t free;              /* free cells in all */
    size_t chunks;
};

/* Must not move afterwards. Copies the allocator. Allocates nothing. */
void htw__cells_init(struct htw__cells *cells, const struct htw_allocator *allocator);

/* A cell, not initialised, and its number; NULL: there is no memory. */
void *htw__cells_take(struct htw__cells *cells, uint8_t *ret_number);

/* Takes a cell back. */
void htw__cells_give(struct htw__cells *cells, void *cell, uint8_t number);

/* The bytes that are held. */
size_t htw__cells_memory(const struct htw__cells *cells);

#endif /* HTW_SRC_PURGATORY_CELLS_H */

/* SPDX-License-Identifier: MIT */
/*
 * blocks.h - which blocks of ids are in the file: a row of `block` is there when a job of it is, and goes after its
 * last job has gone.
 *
 * An end does not look for other jobs of its block each time: a look finds some, and so many more ends need none. A
 * block that has become empty may be in use by the next put, so its row stays for a while: it waits in a ring, and is
 * judged again when others have come behind it. A row that was removed too early is made again. A crash forgets the
 * ring; then the reader finds the empty block when its time comes.
 */
#ifndef HTW_SRC_JOURNAL_BLOCKS_H
#define HTW_SRC_JOURNAL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct htw__database;

#define HTW__BLOCKS_STORED 1024u
#define HTW__BLOCKS_LEFT 8192u
#define HTW__BLOCKS_EMPTY 256u

struct htw__empty_block {
    uint64_t place, id; /* any of the block */
};

/* Blocks are in tables by a hash, where a later one displaces an earlier one. */
struct htw__blocks {
    uint64_t stored[HTW__BLOCKS_STORED]; /* that have a row */
    /* How many jobs they have at least: below the number of the block. */
    uint64_t left[HTW__BLOCKS_LEFT];
    struct htw__empty_block empty[HTW__BLOCKS_EMPTY]; /* a ring */
    size_t first, count;
    size_t begun; /* `first` when the transaction began */
};

/* A job with this id, of a new block or not, is to be inserted at the place. */
int htw__blocks_use(struct htw__database *self, uint64_t id, uint64_t place);

/* Whether htw__blocks_leave() needs no place. */
bool htw__blocks_have_more(const struct htw__blocks *self, uint64_t id);

/* A job that was put at the place has gone from its block: its row, or it has one in `moved` now. In a transaction. */
int htw__blocks_leave(struct htw__database *self, uint64_t id, uint64_t place);

/* A block without jobs was found: outside a transaction. */
void htw__blocks_found_empty(struct htw__blocks *self, uint64_t first, uint64_t place);

/* Removes the rows of blocks in the ring that are empty still, until `rest` are left in it. */
#define HTW__BLOCKS_REST (HTW__BLOCKS_EMPTY / 2)
int htw__blocks_sweep(struct htw__database *self, size_t rest);

void htw__blocks_begin(struct htw__blocks *self);

/* The transaction, or a part of it, is undone. */
void htw__blocks_undo(struct htw__blocks *self, bool is_whole);

#endif /* HTW_SRC_JOURNAL_BLOCKS_H */

/* SPDX-License-Identifier: MIT */
/*
 * blocks.h - which blocks of ids are in the file: a row of `block` is there when a job of it is, and goes after its
 * last job has gone.
 *
 * Whether an end was the last one is not asked at each end. The block becomes a CANDIDATE, of which a bounded number
 * waits; those that have waited longest are judged in a later commit, by one look at their rows. By then most of the
 * ends of a block have come. A row that was removed too early, since more jobs of the block are put, is made again
 * with the next of them. A crash forgets candidates; then the reader finds the empty block when its time comes.
 */
#ifndef HTW_SRC_JOURNAL_BLOCKS_H
#define HTW_SRC_JOURNAL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct htw__database;

#define HTW__BLOCKS_KNOWN 1024u
#define HTW__BLOCKS_CANDIDATES 512u

struct htw__block_candidate {
    uint64_t place, id; /* any of the block */
};

/* Numbers of blocks are in tables by a hash, where a later one displaces an earlier one. */
struct htw__blocks {
    uint64_t stored[HTW__BLOCKS_KNOWN];  /* that have a row */
    uint64_t leaving[HTW__BLOCKS_KNOWN]; /* that are candidates */
    struct htw__block_candidate candidates[HTW__BLOCKS_CANDIDATES]; /* a ring */
    size_t first, count;
    size_t begun; /* `first` when the transaction began */
};

/* A job with this id, of a new block or not, is to be inserted at the place. */
int htw__blocks_use(struct htw__database *self, uint64_t id, uint64_t place);

/* Whether htw__blocks_leave() has nothing to do. */
bool htw__blocks_is_leaving(const struct htw__blocks *self, uint64_t id);

/* A job that was put at the place has gone from its block: its row, or it has one in `moved` now. In a transaction. */
int htw__blocks_leave(struct htw__database *self, uint64_t id, uint64_t place);

/* A block without jobs was found: outside a transaction. */
void htw__blocks_found_empty(struct htw__blocks *self, uint64_t first, uint64_t place);

/* Removes the rows of candidates that have no job, until `left` candidates wait. */
#define HTW__BLOCKS_LEFT (HTW__BLOCKS_CANDIDATES / 2)
int htw__blocks_sweep(struct htw__database *self, size_t left);

void htw__blocks_begin(struct htw__blocks *self);

/* The transaction, or a part of it, is undone. */
void htw__blocks_undo(struct htw__blocks *self, bool is_whole);

#endif /* HTW_SRC_JOURNAL_BLOCKS_H */

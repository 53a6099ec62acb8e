/* SPDX-License-Identifier: MIT */
/*
 * blocks.h - ids, and which blocks of them are in the file.
 *
 * Ids are given in BLOCKS of 256, each for one place, so that the rows of a place are beside each other. An id is below
 * 2^53, never changes, and is never given again; within a place ids rise in the order of putting. The blocks that are
 * open, one for each place, are in memory, a bounded number of them. What is left of a block is not used when it is
 * forgotten, or when the journal is opened again.
 *
 * A caller may know an id before it is durable. So each commit RESERVES the ids ahead of those that were given: the file
 * says that they may be in use, and only these are given. A close stores the next one exactly; after a crash those that
 * were reserved are lost.
 *
 * A row of `block` is there when a job of it is, and goes after its last job has gone.
 * An end does not look for other jobs of its block each time: a table knows how many there are at least, by puts and by
 * earlier looks. A block that has become empty may be in use by the next put, so its row stays for a while: it waits in a ring, and is
 * judged again when others have come behind it. A row that was removed too early is made again. A crash forgets the
 * ring; then the reader finds the empty block when its time comes.
 */
#ifndef HTW_SRC_JOURNAL_DATABASE_BLOCKS_H
#define HTW_SRC_JOURNAL_DATABASE_BLOCKS_H

#include "database.h"
#include "place.h"

struct htw__blocks;

/* So many are reserved by each commit. */
#define HTW__IDS_AHEAD (UINT64_C(1) << 20)

#define HTW__IDS_SETS 512u
#define HTW__IDS_WAYS 8u

struct htw__open_block {
    uint64_t place;
    uint64_t next; /* id; at the start of a block: it has none left */
};

struct htw__ids {
    uint64_t next_block; /* its first id */
    uint64_t reserved;   /* as of the last commit: those below are */
    uint64_t end;        /* there are none from here on */
    /* By place; the last used one is first. */
    struct htw__open_block open[HTW__IDS_SETS][HTW__IDS_WAYS];
};

/* An id for a job that is put into the place. Under the lock of the journal; the others are for the thread that has the database. */
uint64_t htw__ids_give(struct htw__ids *self, uint64_t place);

/* Whether so many jobs can each have a block, which are reserved or not. */
static inline bool htw__ids_have(uint64_t next_block, uint64_t end, size_t jobs) {
    return next_block <= end && jobs <= (end - next_block) / HTW__BLOCK_IDS;
}

/* ---- what follows is for this folder alone */

/* Reads up to `capacity` jobs with an id from `*next` to `last`, stores those that were not moved, and
   sets `*next` behind them. Returns how many are stored, or an error. `ret_more`: there may be more. */
int64_t htw__blocks_read(struct htw__database *self, uint64_t *next, uint64_t last,
                         struct htw__scan_row *rows, size_t capacity, bool *ret_more);

/* A job with this id, of a new block or not, is to be inserted at the place. */
int htw__blocks_use(struct htw__database *self, uint64_t id, uint64_t place);

/* Whether htw__blocks_leave() needs no place. */
bool htw__blocks_know(struct htw__blocks *self, uint64_t id);

/* A job that was put at the place has gone from its block: its row, or it has one in `moved` now. In a transaction. */
int htw__blocks_leave(struct htw__database *self, uint64_t id, uint64_t place);

/* A block without jobs was found: outside a transaction. */
void htw__blocks_found_empty(struct htw__blocks *self, uint64_t first, uint64_t place);

/* Removes the rows of blocks in the ring that are empty still, until `rest` are left in it. */
#define HTW__BLOCKS_REST (HTW__BLOCKS_EMPTY / 2)
int htw__blocks_sweep(struct htw__database *self, size_t rest);

void htw__blocks_begin(struct htw__blocks *self);

/* The transaction is undone. */
void htw__blocks_undo(struct htw__blocks *self);

#endif /* HTW_SRC_JOURNAL_DATABASE_BLOCKS_H */

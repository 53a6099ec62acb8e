/* SPDX-License-Identifier: MIT */
/*
 * ids.h - gives ids: in blocks of 256, each for one place, so that the rows of a place are beside each other.
 *
 * An id is below 2^53, never changes, and is never given again; within a place ids rise in the order of putting. The
 * blocks that are open, one for each place, are in memory, a bounded number of them. What is left of a block is not
 * used when it is forgotten, or when the journal is opened again. Under the lock of the journal.
 */
#ifndef HTW_SRC_JOURNAL_IDS_H
#define HTW_SRC_JOURNAL_IDS_H

#include <stdint.h>

/* The greatest id. Those of format 1 are above, with few exceptions: their high bits were the minute of the deadline. */
#define HTW__ID_MAX ((UINT64_C(1) << 53) - 1)
#define HTW__BLOCK_IDS 256u
#define HTW__IDS_SETS 512u
#define HTW__IDS_WAYS 8u

struct htw__open_block {
    uint64_t place;
    uint64_t next; /* id; at the start of a block: it has none left */
};

struct htw__ids {
    uint64_t next_block; /* its first id */
    /* By place; the last used one is first. */
    struct htw__open_block open[HTW__IDS_SETS][HTW__IDS_WAYS];
};

/* An id for a job that is put into the place. */
uint64_t htw__ids_give(struct htw__ids *self, uint64_t place);

#endif /* HTW_SRC_JOURNAL_IDS_H */

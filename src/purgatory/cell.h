/* SPDX-License-Identifier: MIT */
/*
 * cell.h - a cell: a few watches of a key in order of arrival. A watch is the
 * address of a request, so a walk touches of a request only its state.
 *
 * The first cell of a key holds the key, too: its bytes, or a node of the shard's table with the
 * bytes behind it, and then one watch. The others are a list; a cell there goes with its last watch.
 *
 * A watch that goes leaves a gap. The others move up when a watch comes for which there is no place behind them, but
 * not while walks are in the cell (`pins`): so a walk stays where it is without a word to the threads that end
 * requests.
 */
#ifndef HTW_SRC_PURGATORY_CELL_H
#define HTW_SRC_PURGATORY_CELL_H

#include "../base/key_table.h"
#include "../base/lock.h"

#include <htw/purgatory.h>

/* With 4 more keys have several cells: an operation with two requests a key takes 8 % longer. For more than 6 there are
   no bits in `linked`. */
#define HTW__CELL_WATCHES 6u
#define HTW__CELL_ALL ((1u << HTW__CELL_WATCHES) - 1)

/* A key of no more bytes than this is in its first cell. */
#define HTW__KEY_INLINE_BYTES 16u

struct htw__key_cell {
    struct htw__key_cell *more; /* the next cell of the key, or NULL */
    uint16_t pins;              /* walks that are here */
    uint8_t linked : 6;         /* bit i: watches[i] is a watch */
    uint8_t has_second : 1;     /* of a shard's first cell: its second cell is in use ... */
    uint8_t has_table : 1;      /* ... and there are keys in its table */
    uint8_t size : 5;           /* of the key in a cell of a shard, in bytes */
    uint8_t has_key : 1;        /* it is the first cell of a key ... */
    uint8_t is_in_table : 1;    /* ... which is, or was, in the table, and not in its shard */
    uint8_t is_orphan : 1; /* the key cannot be found any more, because the purgatory is closed */
    union {
        uint32_t number;       /* of the cell in its chunk: cell_pool.h */
        struct htw__lock lock; /* of a shard's first cell: that of the shard */
    };
    union {
        char bytes[HTW__KEY_INLINE_BYTES]; /* of a key in its shard */
        struct {
            struct htw__key_cell *back; /* the cell before this one; of the second cell: the last */
            uintptr_t key;              /* as in a watch */
        };
    };
    union {
        struct htw_request *watches[HTW__CELL_WATCHES];
        struct { /* with a key in the table */
            struct htw_request *only_watch;
            struct htw__key_node node;
            char bytes_in_table[HTW__KEY_INLINE_BYTES]; /* or the first of them */
        };
    };
};

_Static_assert(
    sizeof(void *) != 8 || sizeof(struct htw__lock) != 4 ||
        offsetof(struct htw__key_cell, watches[4]) == HTW__CACHE_LINE,
    "on 64-bit machines, four watches are in one cache line with their key and its lock");

#endif /* HTW_SRC_PURGATORY_CELL_H */

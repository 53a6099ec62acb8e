/* SPDX-License-Identifier: MIT */
/*
 * walk.h - visits the requests that wait on a key, in order of arrival, with no lock held in
 * between.
 *
 * The walk keeps the place of the next request, and the end of what had arrived when it began, by pins on the
 * cells there (cell.h). (It would be cheaper to own several requests under one lock, but then hooks could not
 * cancel those requests.)
 */
#ifndef HTW_SRC_PURGATORY_WALK_H
#define HTW_SRC_PURGATORY_WALK_H

#include "state.h"

/* A cell of a key, and the watches there that the walk has not visited: bits as in `linked`. */
struct htw__walk_position {
    struct htw__key_cell *cell;
    unsigned watches;
};

struct htw__walk {
    const struct htw_purgatory *purgatory; /* set by the caller, as are `mark` and `marked` */
    struct htw__purgatory_shard *shard;    /* set by the caller of htw__walk_begin_orphan() */
    uint32_t mark;  /* one of HTW__REQUEST_FORCED; 0 for an event, which does not count `marked` */
    int64_t marked; /* busy requests that this walk has marked */
    struct htw__key_cell *key;      /* NULL: no request follows, and no cell is pinned */
    struct htw__walk_position next; /* where it continues; its cell is pinned */
    struct htw__walk_position
        end; /* the last cell, and what was there when the walk began; likewise */
};

/*
 * Each of these owns the next request of the walk that is not busy, and marks the busy ones before
 * it. NULL: there is none.
 */
struct htw_request *htw__walk_begin(struct htw__walk *walk, const struct htw__key *key);

/* The caller has ended or disowned the request before. */
struct htw_request *htw__walk_next(struct htw__walk *walk);

/* Disowns the request, and owns the next one. False: the request has a mark, and the caller still
   owns it. It ends or disowns it, and calls htw__walk_next(). */
bool htw__walk_pass(struct htw__walk *walk, struct htw_request **request);

/* Ends the walk before its end. The caller still owns the request. */
void htw__walk_stop(struct htw__walk *walk);

/* Of a closed purgatory: takes a key out of the shard, and begins a walk there. NULL: none is left. */
struct htw_request *htw__walk_begin_orphan(struct htw__walk *walk);

/* Counts the requests on a key, the busy ones included, and owns none. */
uint64_t htw__walk_count(struct htw__walk *walk, const struct htw__key *key);

#endif /* HTW_SRC_PURGATORY_WALK_H */

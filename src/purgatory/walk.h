/* SPDX-License-Identifier: MIT */
/*
 * walk.h - visits the requests that wait on a key, in order of arrival, with no lock held in
 * between.
 *
 * A cursor follows the visited request. An end marker, added when the walk begins, excludes the
 * requests that arrive later. Both are watches without a request. (It would be cheaper to own
 * several requests under one lock, but then hooks could not cancel those requests.)
 */
#ifndef HTW_SRC_PURGATORY_WALK_H
#define HTW_SRC_PURGATORY_WALK_H

#include "shard.h"

struct htw__walk {
    const struct htw_purgatory *purgatory; /* set by the caller, as are the next two and `marked` */
    struct htw__purgatory_shard *shard;
    uint32_t mark; /* one of HTW__REQUEST_FORCED; 0 for an event, which does not count `marked` */
    bool has_markers;
    int64_t marked;               /* busy requests that this walk has marked */
    struct htw__watched_key *key; /* NULL: the walk has ended */
    struct htw__watch cursor, end;
};

/*
 * Each of these owns the next request of the walk that is not busy, and marks the busy ones before
 * it. The caller ends or disowns the request before it goes on. NULL: there is none, or this is
 * a child that a hook has forked.
 */
struct htw_request *htw__walk_begin(struct htw__walk *walk, uint64_t hash, const void *key,
                                    size_t size);
struct htw_request *htw__walk_next(struct htw__walk *walk);

/* Closes the shard, takes a key out of its table, and begins a walk there. NULL: none is left. */
struct htw_request *htw__walk_begin_orphan(struct htw__walk *walk);

/* Counts the requests on a key, the busy ones included, and owns none. */
uint64_t htw__walk_count(struct htw__walk *walk, uint64_t hash, const void *key, size_t size);

/* Ends a walk early. Does nothing if it has ended, or in a child that a hook has forked. */
void htw__walk_stop(struct htw__walk *walk);

#endif /* HTW_SRC_PURGATORY_WALK_H */

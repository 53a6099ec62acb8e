/* SPDX-License-Identifier: MIT */
/*
 * walk.h - along the requests that wait on a key, in order of arrival, with no lock held while one
 * is visited.
 *
 * Where a request is not the last, the walk keeps its place by a marker behind it, and ends at
 * another one that it puts at the end of the key when it begins: requests that come meanwhile are
 * behind that, so that it ends, and visits none twice. Markers are watches without a request, in
 * the walk itself. (To take several requests under one lock would be cheaper, but those would be
 * busy while nobody is in a hook of theirs: hooks could not end them.)
 */
#ifndef HTW_SRC_PURGATORY_WALK_H
#define HTW_SRC_PURGATORY_WALK_H

#include "state.h"

struct htw__walk {
    struct htw__purgatory_shard *shard; /* set by the user, as is */
    uint32_t mark;                      /* one of HTW__REQUEST_FORCED, or 0 for an event */
    bool has_markers;
    int64_t marked; /* requests with `mark`: the user sets it to 0 where that is not 0 */
    struct htw__watched_key *key; /* NULL: it is over */
    struct htw__watch cursor, end;
};

/*
 * Takes the first request that waits on a key and is not busy; busy ones are marked. The caller
 * owns it and must settle or end it before it goes on. NULL: there is none.
 */
struct htw_request *htw__walk_begin(struct htw__walk *walk, uint64_t hash, const void *key,
                                    size_t size);

/* Closes the shard, takes some key out of it, and begins there. NULL: there is none left, or this
   is a child that a hook has forked. */
struct htw_request *htw__walk_begin_orphan(struct htw__walk *walk);

/* Takes the next one. NULL: there is none, or this is a child that a hook has forked. */
struct htw_request *htw__walk_next(struct htw__walk *walk);

/* Goes along all requests on a key, busy ones included, and touches none. Returns how many there
   are. */
uint64_t htw__walk_count(struct htw__walk *walk, uint64_t hash, const void *key, size_t size);

/* Leaves a walk that may not be over. In a child that a hook has forked it does nothing. */
void htw__walk_stop(struct htw__walk *walk);

#endif /* HTW_SRC_PURGATORY_WALK_H */

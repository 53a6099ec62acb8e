/* SPDX-License-Identifier: MIT */
/*
 * walk.h - along the requests that wait on a key, in order of arrival, with no lock held while one
 * is visited.
 *
 * A walk keeps its place by a marker behind the watch that it visits, and ends at another one which
 * it puts at the end when it begins: requests that come meanwhile are behind that, so that it ends,
 * and visits none twice. A key with a single watch, which is the rule, needs neither. Markers are
 * watches without a request, on the walker's stack.
 */
#ifndef HTW_SRC_PURGATORY_WALK_H
#define HTW_SRC_PURGATORY_WALK_H

#include "state.h"

struct htw__walk {
    struct htw__purgatory_shard *shard; /* set by the user, as is */
    uint32_t mark;                      /* one of HTW__REQUEST_FORCED, or 0 for an event */
    struct htw__watched_key *key;       /* NULL: it is over */
    bool has_cursor, has_end;
    struct htw__watch cursor, end;
};

/* The first request that waits on a key and is not busy; busy ones are marked. The caller owns
   it and must serve or end it before it goes on. NULL: there is none. */
struct htw_request *htw__walk_begin(struct htw__walk *walk, uint64_t hash, const void *key,
                                    size_t size);

/* Closes the shard, takes some key out of it, and begins there. NULL: there is none left. */
struct htw_request *htw__walk_begin_orphan(struct htw__walk *walk);

/* The next one; NULL: it is over. */
struct htw_request *htw__walk_next(struct htw__walk *walk);

/* Leaves a walk that is not over. */
void htw__walk_stop(struct htw__walk *walk);

#endif /* HTW_SRC_PURGATORY_WALK_H */

/* SPDX-License-Identifier: MIT */
/*
 * walk.h - along the requests that wait on a key, in order of arrival, with no lock held while they
 * are visited.
 *
 * A walk takes a few requests at a time. Where it has not come to the end by then, it keeps its
 * place by a marker behind the last that it has taken, and ends at another one that it puts at the
 * end of the key: requests that come meanwhile are behind that, so that it ends, and visits none
 * twice. Markers are watches without a request, in the walk itself.
 */
#ifndef HTW_SRC_PURGATORY_WALK_H
#define HTW_SRC_PURGATORY_WALK_H

#include "state.h"

/* How many requests are taken at a time at most. Others find them busy meanwhile. */
#define HTW__WALK_BATCH 8u

struct htw__walk {
    struct htw__purgatory_shard *shard; /* set by the user, as is */
    uint32_t mark;                      /* one of HTW__REQUEST_FORCED, or 0 for an event */
    bool has_markers;
    struct htw__watched_key *key; /* NULL: it is over */
    struct htw_request *taken[HTW__WALK_BATCH];
    struct htw__watch cursor, end;
};

/*
 * Takes the first requests that wait on a key and are not busy, up to `max` (at least 1) and the
 * batch, into `taken`; busy ones are marked. The caller owns them and must settle or end each
 * before it goes on. Returns how many; 0: there are none (left).
 */
uint32_t htw__walk_begin(struct htw__walk *walk, uint64_t hash, const void *key, size_t size,
                         uint64_t max);

/* Closes the shard, takes some key out of it, and begins there. 0: there is none left. */
uint32_t htw__walk_begin_orphan(struct htw__walk *walk);

/* Takes the next ones. */
uint32_t htw__walk_next(struct htw__walk *walk, uint64_t max);

/* Leaves a walk that may not be over. */
void htw__walk_stop(struct htw__walk *walk);

#endif /* HTW_SRC_PURGATORY_WALK_H */

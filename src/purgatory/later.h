/* SPDX-License-Identifier: MIT */
/* later.h - checks that are made by the scheduler's threads. */
#ifndef HTW_SRC_PURGATORY_LATER_H
#define HTW_SRC_PURGATORY_LATER_H

#include "state.h"

/*
 * For the owner of a request that others mark again and again: queues a check for later of one of
 * its keys, and gives the request up together with its marks of events, which that check is for.
 * False: it is still the caller's, since it must end, no check can be queued, or no thread is there
 * to make it.
 */
bool htw__later_hand_over(struct htw_request *request);

/* Drops the checks that are queued. Nobody makes any more. */
void htw__later_drop(struct htw__purgatory_shard *shard);

/* Whether of all callbacks the last has come. */
bool htw__later_is_quiet(struct htw__purgatory_shard *shard);

#endif /* HTW_SRC_PURGATORY_LATER_H */

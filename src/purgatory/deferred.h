/* SPDX-License-Identifier: MIT */
/* deferred.h - checks that a callback of the scheduler makes. */
#ifndef HTW_SRC_PURGATORY_DEFERRED_H
#define HTW_SRC_PURGATORY_DEFERRED_H

#include "shard.h"

/*
 * For the owner of a request that other threads mark again and again: queues a check of its first
 * key, and disowns the request together with its marks of events. That check asks the request.
 * False: nothing has changed, because a mark ends the request, or the check cannot be queued, or
 * the scheduler has no thread to make it.
 */
bool htw__deferred_hand_over(struct htw_request *request);

#endif /* HTW_SRC_PURGATORY_DEFERRED_H */

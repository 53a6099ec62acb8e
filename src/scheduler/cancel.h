/* SPDX-License-Identifier: MIT */
/* cancel.h - ending a timer before its callback does. */
#ifndef HTW_SRC_SCHEDULER_CANCEL_H
#define HTW_SRC_SCHEDULER_CANCEL_H

#include "attributes.h"

/*
 * Cancels a record of which the caller knows by handle, key or group. Under the lock of its
 * shard. With HTW_CANCELLED `*ret_ended` must be settled once the lock is given back, and
 * the argument is the caller's if there is no hook.
 */
enum htw_outcome htw__cancel_locked(struct htw__shard *shard, struct htw__record *record,
                                    struct htw__ended *ret_ended);

/* The timer that has a key, in a group or without one; NULL: none. Under the lock. */
struct htw__record *htw__key_find(struct htw__shard *shard, const struct htw_group *group,
                                  uint64_t hash, const void *key, size_t key_size);

/* The shard in which the timer of a key lives. */
struct htw__shard *htw__key_shard(const struct htw_scheduler *scheduler,
                                  const struct htw_group *group, uint64_t hash);

#endif /* HTW_SRC_SCHEDULER_CANCEL_H */

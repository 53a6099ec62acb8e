/* SPDX-License-Identifier: MIT */
/* cancel.h - cancelling a timer whose shard is locked. */
#ifndef HTW_SRC_SCHEDULER_CANCEL_H
#define HTW_SRC_SCHEDULER_CANCEL_H

#include "attributes.h"

/* Cancels a timer. Under the lock of its shard. After HTW_CANCELLED the caller must call
   htw__timer_end_release() with `*ret_ended`, when it has unlocked the shard. */
enum htw_outcome htw__cancel_locked(struct htw__shard *shard, struct htw__record *record,
                                    struct htw__timer_end *ret_ended);

#endif /* HTW_SRC_SCHEDULER_CANCEL_H */

/* SPDX-License-Identifier: MIT */
/* check.h - asks a request again while it has marks, for its owner; and the callback of deferred checks. */
#ifndef HTW_SRC_PURGATORY_CHECK_H
#define HTW_SRC_PURGATORY_CHECK_H

#include "state.h"

/*
 * Calls `try_complete` while there are marks of events. True: the owner must end the request, for
 * `*ret_reason`. False: the request is disowned and must not be touched; its state is `idle`:
 * HTW__REQUEST_PENDING, or 0 (it belongs to the user again).
 */
bool htw__request_must_end(struct htw__frame *frame, struct htw_request *request, uint32_t idle,
                           enum htw_reason *ret_reason);

/* The callback of the timer of a deferred check. */
void htw__make_deferred_check(void *arg, const struct htw_expiration *expiration);

#endif /* HTW_SRC_PURGATORY_CHECK_H */

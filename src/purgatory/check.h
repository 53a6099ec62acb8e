/* SPDX-License-Identifier: MIT */
/* check.h - asks a request whether it can be completed now. For its owner. */
#ifndef HTW_SRC_PURGATORY_CHECK_H
#define HTW_SRC_PURGATORY_CHECK_H

#include "state.h"

/* Calls `try_complete`. True: the owner must end the request. */
bool htw__request_is_ready(struct htw__frame *frame, struct htw_request *request);

/*
 * Calls `try_complete` while there are marks of events. True: the owner must end the request, for
 * `*ret_reason`. False: the request is disowned and must not be touched; its state is `idle`:
 * HTW__REQUEST_PENDING, or 0 (it belongs to the user again).
 */
bool htw__request_must_end(struct htw__frame *frame, struct htw_request *request, uint32_t idle,
                           enum htw_reason *ret_reason);

/* The callback of the checks for later. Its argument: the shard. */
void htw__run_checks(void *arg, const struct htw_expiration *expiration);

#endif /* HTW_SRC_PURGATORY_CHECK_H */

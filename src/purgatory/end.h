/* SPDX-License-Identifier: MIT */
/* end.h - ends a request: unlinks it from everything, and calls its last hooks. */
#ifndef HTW_SRC_PURGATORY_END_H
#define HTW_SRC_PURGATORY_END_H

#include "frame.h"
#include "walk.h"

/* Ends a request. It is released then, and the caller must not touch it any more. The owner only. */
void htw__request_end(struct htw__frame *frame, struct htw_request *request,
                      enum htw_reason reason);

/* The same for the request of a walk on a key. */
void htw__request_end_walked(struct htw__frame *frame, struct htw__walk *walk,
                             struct htw_request *request, enum htw_reason reason);

/* Unlinks a request from its timeout and from its keys or threshold, and counts that: an enum
   htw_reason, or HTW__NO_REASON for a submission that has failed. The owner only. */
void htw__request_unlink(struct htw_request *request, int reason);

#endif /* HTW_SRC_PURGATORY_END_H */

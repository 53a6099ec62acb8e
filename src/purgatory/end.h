/* SPDX-License-Identifier: MIT */
/* end.h - ends a request: unlinks it from everything, and calls its last hooks. */
#ifndef HTW_SRC_PURGATORY_END_H
#define HTW_SRC_PURGATORY_END_H

#include "walk.h"

/* Ends a request. It is released then, and the caller must not touch it any more. `walk`: that on a key
   which has found it; NULL: there is none. The owner only. */
void htw__request_end(struct htw__frame *frame, struct htw__walk *walk, struct htw_request *request,
                      enum htw_reason reason);

/* Instead of an enum htw_reason: the submission has failed, and the request never counted. */
#define HTW__NO_REASON (-1)

/* Unlinks a request from its timeout and from its keys or condition, and counts that: an enum
   htw_reason, or HTW__NO_REASON for a submission that has failed. The owner only. */
void htw__request_unlink(struct htw_request *request, struct htw__walk *walk, int reason);

/* Ends the requests whose timeouts are due: the callback of an alarm. */
void htw__expire_due(void *alarm, const struct htw_expiration *expiration);

#endif /* HTW_SRC_PURGATORY_END_H */

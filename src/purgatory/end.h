/* SPDX-License-Identifier: MIT */
/* end.h - ends a request: unlinks it from everything, and calls its last hooks. */
#ifndef HTW_SRC_PURGATORY_END_H
#define HTW_SRC_PURGATORY_END_H

#include "state.h"

/* Ends a request. It is released then, and the caller must not touch it any more. The owner only. */
void htw__request_end(struct htw__frame *frame, struct htw_request *request,
                      enum htw_reason reason);

/* For a submission that has failed: unlinks the request, which does not count. The owner only. */
void htw__request_withdraw(struct htw_request *request);

/* Ends the requests whose timeouts are due: the callback of an alarm. */
void htw__expire_due(void *alarm, const struct htw_expiration *expiration);

#endif /* HTW_SRC_PURGATORY_END_H */

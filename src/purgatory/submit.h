/* SPDX-License-Identifier: MIT */
/* submit.h - what submissions to keys and to thresholds have in common. */
#ifndef HTW_SRC_PURGATORY_SUBMIT_H
#define HTW_SRC_PURGATORY_SUBMIT_H

#include "state.h"

/* Makes the request this thread's. 0; -EBUSY: it is submitted already; -ESHUTDOWN. */
int htw__submit_begin(struct htw__frame *frame, struct htw_purgatory *purgatory,
                      struct htw_request *request);

/* Ends a submission of which linking returned `error`: arms the timeout, and gives the request up,
   or takes all back. Returns what the call answers. */
int htw__submit_end(struct htw__frame *frame, struct htw_request *request, int64_t timeout_ns,
                    int error);

/* Ends a submission with the end of the request. HTW_FINISHED, unless another thread is about to
   release it. */
int htw__submit_finish(struct htw__frame *frame, struct htw_request *request,
                       enum htw_reason reason);

#endif /* HTW_SRC_PURGATORY_SUBMIT_H */

/* SPDX-License-Identifier: MIT */
/* submit.h - the steps that submissions to keys and to thresholds have in common. */
#ifndef HTW_SRC_PURGATORY_SUBMIT_H
#define HTW_SRC_PURGATORY_SUBMIT_H

#include "frame.h"

/* Makes this thread the owner. 0; -EBUSY: the request is submitted already; -ESHUTDOWN. After 0 the
   caller calls one of the two functions below, which pop the frame and return the answer of the
   public call. */
int htw__submit_begin(struct htw__frame *frame, struct htw_purgatory *purgatory,
                      struct htw_request *request);

/* The request is linked (`error` is 0), or linking has failed: arms the timeout and disowns
   the request, or unlinks it again. */
int htw__submit_wait(struct htw__frame *frame, struct htw_request *request, int64_t timeout_ns,
                     int error);

/* Ends the request. */
int htw__submit_finish(struct htw__frame *frame, struct htw_request *request,
                       enum htw_reason reason);

#endif /* HTW_SRC_PURGATORY_SUBMIT_H */

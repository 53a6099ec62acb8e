/* SPDX-License-Identifier: MIT */
/* request.c - the public calls about one request that has been submitted. */
#include "end.h"
#include "owner.h"
#include "timeout.h"

size_t htw_request_size(void) {
    return sizeof(struct htw_request);
}

void htw_request_init(struct htw_request *request) {
    if (request != NULL)
        *request = (struct htw_request) { 0 };
}

bool htw_request_is_pending(const struct htw_request *request) {
    return request != NULL && htw__request_state(request) != 0;
}

/* True: this call ends the request, or has marked it so that its owner does. */
static bool end_by(struct htw_purgatory *purgatory, struct htw_request *request, uint32_t mark,
                   enum htw_reason reason) {
    if (htw__purgatory_refusal(purgatory) != 0 || request == NULL)
        return false;
    bool marked;
    if (!htw__request_own_to_end(request, mark, &marked))
        return marked;
    struct htw__frame frame = { 0 };
    htw__frame_push(&frame, purgatory);
    htw__request_end(&frame, request, reason);
    htw__frame_pop(&frame);
    return true;
}

bool htw_request_complete(struct htw_purgatory *purgatory, struct htw_request *request) {
    return end_by(purgatory, request, HTW__REQUEST_COMPLETE, HTW_REASON_COMPLETED);
}

bool htw_request_cancel(struct htw_purgatory *purgatory, struct htw_request *request) {
    return end_by(purgatory, request, HTW__REQUEST_CANCEL, HTW_REASON_CANCELLED);
}

int htw_request_set_timeout(struct htw_purgatory *purgatory, struct htw_request *request,
                            int64_t timeout_ns) {
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    return request == NULL ? -EINVAL : htw__timeout_move(purgatory, request, timeout_ns);
}

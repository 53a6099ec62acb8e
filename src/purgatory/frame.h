/* SPDX-License-Identifier: MIT */
/* frame.h - the calls in progress of a thread in which hooks run. */
#ifndef HTW_SRC_PURGATORY_FRAME_H
#define HTW_SRC_PURGATORY_FRAME_H

#include "state.h"

/* Each thread has a stack of them. */
struct htw__frame {
    struct htw_purgatory *purgatory;
    struct htw_request *request; /* whose `try_complete` runs, or NULL */
    struct htw__check *check;    /* the check that this call makes now, or NULL: see check.h */
    struct htw__frame *outer;
    htw_request_visitor *visitor;
    void *visitor_context;
};

extern _Thread_local struct htw__frame *htw__innermost_frame
    __attribute__((tls_model("initial-exec")));

static inline void htw__frame_push(struct htw__frame *frame, struct htw_purgatory *purgatory) {
    frame->purgatory = purgatory;
    frame->outer = htw__innermost_frame;
    htw__innermost_frame = frame;
}

static inline void htw__frame_pop(const struct htw__frame *frame) {
    htw__innermost_frame = frame->outer;
}

/* Whether this thread is in a hook or visitor of the purgatory. */
bool htw__frame_is_inside(const struct htw_purgatory *purgatory);

/* Whether this thread is in `try_complete` of the request. */
bool htw__frame_has_request(const struct htw_request *request);

#endif /* HTW_SRC_PURGATORY_FRAME_H */

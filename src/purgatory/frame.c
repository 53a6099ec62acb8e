/* SPDX-License-Identifier: MIT */
/* frame.c - the calls in progress of a thread in which hooks run. */
#include "frame.h"

_Thread_local struct htw__frame *htw__innermost_frame;

bool htw__frame_is_inside(const struct htw_purgatory *purgatory) {
    for (const struct htw__frame *frame = htw__innermost_frame; frame != NULL; frame = frame->outer)
        if (frame->purgatory == purgatory)
            return true;
    return false;
}

bool htw__frame_has_request(const struct htw_request *request) {
    for (const struct htw__frame *frame = htw__innermost_frame; frame != NULL; frame = frame->outer)
        if (frame->request == request)
            return true;
    return false;
}

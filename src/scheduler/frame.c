/* SPDX-License-Identifier: MIT */
/* frame.c - the callbacks that a thread is in, and which of them wait for another callback. */
#include "frame.h"

_Thread_local struct htw__callback_frame *htw__innermost_callback_frame;

bool htw__is_inside(const struct htw_scheduler *scheduler) {
    for (const struct htw__callback_frame *frame = htw__innermost_callback_frame; frame != NULL;
         frame = frame->outer)
        if (frame->scheduler == scheduler)
            return true;
    return false;
}

static bool has_timer(const struct htw__callback_frame *frame,
                      const struct htw_scheduler *scheduler, htw_handle handle) {
    while (frame != NULL && (frame->scheduler != scheduler || frame->handle != handle))
        frame = frame->outer;
    return frame != NULL;
}

bool htw__is_inside_timer(const struct htw_scheduler *scheduler, htw_handle handle) {
    return has_timer(htw__innermost_callback_frame, scheduler, handle);
}

void htw__cancel_waiters_init(struct htw__cancel_waiters *waiters) {
    htw__mutex_init(&waiters->mutex, HTW__RANK_SCHEDULER_CANCEL_WAITERS);
    htw__system_condition_init(&waiters->ended);
    htw__ring_init(&waiters->all);
}

void htw__cancel_waiters_fini(struct htw__cancel_waiters *waiters) {
    htw__system_condition_fini(&waiters->ended);
    htw__mutex_fini(&waiters->mutex);
}

void htw__cancel_waiters_notify(struct htw__cancel_waiters *waiters) {
    htw__mutex_lock(&waiters->mutex);
    htw__system_condition_broadcast(&waiters->ended);
    htw__mutex_unlock(&waiters->mutex);
}

/* The handle for which the callback of another handle waits; 0: none. */
static htw_handle awaited_by(const struct htw__cancel_waiters *waiters,
                             const struct htw_scheduler *scheduler, htw_handle handle) {
    for (struct htw__link *link = waiters->all._next; link != &waiters->all; link = link->_next) {
        const struct htw__cancel_waiter *waiter =
            HTW_CONTAINER_OF(link, struct htw__cancel_waiter, link);
        if (has_timer(waiter->frames, scheduler, handle))
            return waiter->awaited;
    }
    return 0;
}

bool htw__cancel_waiters_would_deadlock(const struct htw__cancel_waiters *waiters,
                                        const struct htw_scheduler *scheduler, htw_handle handle) {
    while (handle != 0 && !htw__is_inside_timer(scheduler, handle))
        handle = awaited_by(waiters, scheduler, handle);
    return handle != 0;
}

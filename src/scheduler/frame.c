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

bool htw__is_inside_timer(const struct htw_scheduler *scheduler, htw_handle handle) {
    for (const struct htw__callback_frame *frame = htw__innermost_callback_frame; frame != NULL;
         frame = frame->outer)
        if (frame->scheduler == scheduler && frame->handle == handle)
            return true;
    return false;
}

void htw__cancel_waiters_init(struct htw__cancel_waiters *waiters) {
    htw__mutex_init(&waiters->mutex, HTW__RANK_SCHEDULER_CANCEL_WAITERS);
    pthread_cond_init(&waiters->ended, NULL);
    waiters->first = NULL;
}

void htw__cancel_waiters_fini(struct htw__cancel_waiters *waiters) {
    pthread_cond_destroy(&waiters->ended);
    htw__mutex_fini(&waiters->mutex);
}

void htw__cancel_waiters_notify(struct htw__cancel_waiters *waiters) {
    htw__mutex_lock(&waiters->mutex);
    pthread_cond_broadcast(&waiters->ended);
    htw__mutex_unlock(&waiters->mutex);
}

/* The handle for which the callback of another handle waits; 0: none. */
static htw_handle awaited_by(const struct htw__cancel_waiters *waiters, htw_handle handle) {
    for (const struct htw__callback_frame *frame = waiters->first; frame != NULL;
         frame = frame->next_waiting)
        if (frame->handle == handle)
            return frame->awaited;
    return 0;
}

bool htw__cancel_waiters_would_deadlock(const struct htw__cancel_waiters *waiters,
                                        const struct htw_scheduler *scheduler, htw_handle handle) {
    for (htw_handle awaited = handle; awaited != 0; awaited = awaited_by(waiters, awaited))
        if (htw__is_inside_timer(scheduler, awaited))
            return true;
    return false;
}

void htw__cancel_waiters_add(struct htw__cancel_waiters *waiters,
                             const struct htw_scheduler *scheduler, htw_handle handle) {
    for (struct htw__callback_frame *frame = htw__innermost_callback_frame; frame != NULL;
         frame = frame->outer)
        if (frame->scheduler == scheduler) {
            frame->awaited = handle;
            frame->next_waiting = waiters->first;
            waiters->first = frame;
        }
}

void htw__cancel_waiters_remove(struct htw__cancel_waiters *waiters) {
    for (struct htw__callback_frame *frame = htw__innermost_callback_frame; frame != NULL;
         frame = frame->outer) {
        struct htw__callback_frame **place = &waiters->first;
        while (*place != NULL && *place != frame)
            place = &(*place)->next_waiting;
        if (*place != NULL)
            *place = frame->next_waiting;
        frame->awaited = 0;
    }
}

/* SPDX-License-Identifier: MIT */
/* frame.c - the callbacks that a thread is in, and which of them wait for another callback. */
#include "state.h"

_Thread_local struct htw__callback_frame *htw__innermost_callback_frame;

bool htw__is_inside(const struct htw_scheduler *scheduler) {
    for (const struct htw__callback_frame *frame = htw__innermost_callback_frame; frame != NULL;
         frame = frame->outer)
        if (frame->scheduler == scheduler)
            return true;
    return false;
}

static bool is_of(const struct htw__callback_frame *frame, const struct htw_scheduler *scheduler,
                  struct htw__awaited awaited) {
    return frame->scheduler == scheduler &&
           (awaited.scope != NULL ? frame->scope == awaited.scope
                                  : frame->handle == awaited.handle);
}

/* Among these frames of a thread. */
static struct htw__callback_frame *find_frame(struct htw__callback_frame *frame,
                                              const struct htw_scheduler *scheduler,
                                              struct htw__awaited awaited) {
    while (frame != NULL && !is_of(frame, scheduler, awaited))
        frame = frame->outer;
    return frame;
}

struct htw__callback_frame *htw__callback_frame_of(const struct htw_scheduler *scheduler,
                                                   struct htw__awaited awaited) {
    return find_frame(htw__innermost_callback_frame, scheduler, awaited);
}

bool htw__is_inside_timer(const struct htw_scheduler *scheduler, htw_handle handle) {
    return htw__callback_frame_of(scheduler, (struct htw__awaited) { .handle = handle }) != NULL;
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

/* The waiter that is in a callback; NULL: none. Under the mutex. */
static const struct htw__cancel_waiter *waiter_in(const struct htw_scheduler *scheduler,
                                                  struct htw__awaited callback) {
    const struct htw__link *all = &scheduler->cancel_waiters.all;
    for (struct htw__link *link = all->_next; link != all; link = link->_next) {
        const struct htw__cancel_waiter *waiter =
            HTW_CONTAINER_OF(link, struct htw__cancel_waiter, link);
        if (find_frame(waiter->frames, scheduler, callback) != NULL)
            return waiter;
    }
    return NULL;
}

/* Under the mutex. */
static bool would_deadlock(const struct htw_scheduler *scheduler, struct htw__awaited awaited) {
    const struct htw__cancel_waiter *waiter;
    while (htw__callback_frame_of(scheduler, awaited) == NULL) {
        if ((waiter = waiter_in(scheduler, awaited)) == NULL)
            return false;
        awaited = waiter->awaited;
    }
    return true;
}

bool htw__callback_await(struct htw_scheduler *scheduler, struct htw__awaited awaited,
                         bool (*runs)(const struct htw_scheduler *, struct htw__awaited)) {
    struct htw__cancel_waiters *waiters = &scheduler->cancel_waiters;
    struct htw__cancel_waiter waiter = { awaited, htw__innermost_callback_frame, .link = { 0 } };
    htw__mutex_lock(&waiters->mutex);
    bool deadlock = would_deadlock(scheduler, awaited);
    if (!deadlock) {
        htw__ring_push_front(&waiters->all, &waiter.link);
        while (runs(scheduler, awaited))
            htw__mutex_wait(&waiters->mutex, &waiters->ended);
        htw__link_unlink(&waiter.link);
    }
    htw__mutex_unlock(&waiters->mutex);
    return !deadlock;
}

/* SPDX-License-Identifier: MIT */
/*
 * frame.h - the callbacks that a thread is in, and which of them wait for another callback.
 *
 * A frame is on the stack of its thread. From the frames htw_scheduler_stop() detects that it was
 * called from a callback, and htw_cancel_wait() that it would wait for itself. So a frame is pushed
 * wherever the library calls code of the user: callbacks, hooks, visitors and executors.
 */
#ifndef HTW_SRC_SCHEDULER_FRAME_H
#define HTW_SRC_SCHEDULER_FRAME_H

#include "../base/list.h"
#include "../base/lock.h"

#include <htw/scheduler.h>

struct htw__callback_frame {
    const struct htw_scheduler *scheduler;
    htw_handle handle;       /* of the timer whose callback runs; 0: something else */
    struct htw_scope *scope; /* whose callback runs, until that exits it; NULL: something else */
    struct htw__callback_frame *outer; /* of the same thread */
};

/* The innermost frame of this thread; NULL: it is in no callback. */
extern _Thread_local struct htw__callback_frame *htw__innermost_callback_frame
    __attribute__((tls_model("initial-exec")));

static inline void htw__callback_frame_push(struct htw__callback_frame *frame) {
    frame->outer = htw__innermost_callback_frame;
    htw__innermost_callback_frame = frame;
}

static inline void htw__callback_frame_pop(const struct htw__callback_frame *frame) {
    htw__innermost_callback_frame = frame->outer;
}

/* For whose callback a thread waits: one of both. */
struct htw__awaited {
    htw_handle handle;
    struct htw_scope *scope;
};

/* The frame of this thread of that callback; NULL: the thread is not in it. */
struct htw__callback_frame *htw__callback_frame_of(const struct htw_scheduler *scheduler,
                                                   struct htw__awaited awaited);

/* Whether this thread is in a callback, hook, visitor or executor of the scheduler. */
bool htw__is_inside(const struct htw_scheduler *scheduler);

/* Whether this thread is in the callback of the timer. */
bool htw__is_inside_timer(const struct htw_scheduler *scheduler, htw_handle handle);

/* A thread that waits in htw_cancel_wait() or htw_scope_exit(). */
struct htw__cancel_waiter {
    struct htw__awaited awaited;
    struct htw__callback_frame *frames; /* of the thread */
    struct htw__link link;
};

/* Those of a scheduler, and what wakes them. */
struct htw__cancel_waiters {
    struct htw__mutex mutex;
    htw__system_condition ended; /* a callback that is awaited has returned */
    struct htw__link all;        /* ring */
};

void htw__cancel_waiters_init(struct htw__cancel_waiters *waiters);
void htw__cancel_waiters_fini(struct htw__cancel_waiters *waiters);

/* Wakes the waiting threads: a callback that is awaited has returned. Takes the mutex. */
void htw__cancel_waiters_notify(struct htw__cancel_waiters *waiters);

/* Waits until a callback has returned. `runs` tells whether it has not; then its end calls
   htw__cancel_waiters_notify(). Called under the mutex, so that the notification cannot come before the wait. False:
   a callback that this thread is in would wait for itself, directly or through others that wait. */
bool htw__callback_await(struct htw_scheduler *scheduler, struct htw__awaited awaited,
                         bool (*runs)(const struct htw_scheduler *, struct htw__awaited));

#endif /* HTW_SRC_SCHEDULER_FRAME_H */

/* SPDX-License-Identifier: MIT */
/* frame.c - the callbacks that a thread is in, and which of them wait for another callback. */
#include "frame.h"

#include "../base/annotate.h"

_Thread_local struct htw__run *htw__innermost_run;

bool htw__is_inside(const struct htw_scheduler *scheduler) {
    for (const struct htw__run *run = htw__innermost_run; run != NULL; run = run->outer)
        if (run->scheduler == scheduler)
            return true;
    return false;
}

bool htw__is_inside_timer(const struct htw_scheduler *scheduler, htw_handle handle) {
    for (const struct htw__run *run = htw__innermost_run; run != NULL; run = run->outer)
        if (run->scheduler == scheduler && run->handle == handle)
            return true;
    return false;
}

void htw__cancel_waits_init(struct htw__cancel_waits *waits) {
    /* For helgrind a mutex is free before its owner has written to it for the last time. */
    HTW__ANNOTATE_ATOMIC(&waits->mutex, sizeof(waits->mutex));
    htw__mutex_init(&waits->mutex, HTW__RANK_SCHEDULER_WAITS);
    pthread_cond_init(&waits->ended, NULL);
    waits->first = NULL;
}

void htw__cancel_waits_fini(struct htw__cancel_waits *waits) {
    pthread_cond_destroy(&waits->ended);
    htw__mutex_fini(&waits->mutex);
}

void htw__cancel_waits_notify(struct htw__cancel_waits *waits) {
    htw__mutex_lock(&waits->mutex);
    pthread_cond_broadcast(&waits->ended);
    htw__mutex_unlock(&waits->mutex);
}

/* The handle for which the callback of another handle waits; 0: none. */
static htw_handle awaited_by(const struct htw__cancel_waits *waits, htw_handle handle) {
    for (const struct htw__run *run = waits->first; run != NULL; run = run->next_waiting)
        if (run->handle == handle)
            return run->awaited;
    return 0;
}

bool htw__cancel_waits_would_deadlock(const struct htw__cancel_waits *waits,
                                      const struct htw_scheduler *scheduler, htw_handle handle) {
    for (htw_handle awaited = handle; awaited != 0; awaited = awaited_by(waits, awaited))
        if (htw__is_inside_timer(scheduler, awaited))
            return true;
    return false;
}

void htw__cancel_waits_add(struct htw__cancel_waits *waits, const struct htw_scheduler *scheduler,
                           htw_handle handle) {
    for (struct htw__run *run = htw__innermost_run; run != NULL; run = run->outer)
        if (run->scheduler == scheduler) {
            run->awaited = handle;
            run->next_waiting = waits->first;
            waits->first = run;
        }
}

void htw__cancel_waits_remove(struct htw__cancel_waits *waits) {
    for (struct htw__run *run = htw__innermost_run; run != NULL; run = run->outer) {
        struct htw__run **place = &waits->first;
        while (*place != NULL && *place != run)
            place = &(*place)->next_waiting;
        if (*place != NULL)
            *place = run->next_waiting;
        run->awaited = 0;
    }
}

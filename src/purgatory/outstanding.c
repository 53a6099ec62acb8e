/* SPDX-License-Identifier: MIT */
/* outstanding.c - counts the references that destruction must wait for, and waits for them. */
#include "outstanding.h"

#include "../base/assert.h"

#include <htw/group.h>

#include <pthread.h>
#include <time.h>

/* The first sleep of a wait, and about the longest: each is twice as long as the one before. */
#define NAP_MIN_NS 20000L
#define NAP_MAX_NS 5000000L

void htw__outstanding_add(struct htw__outstanding *outstanding) {
    /* order: The caller keeps the object alive. */
    atomic_fetch_add_explicit(&outstanding->count, 1, memory_order_relaxed);
}

/* The release makes what this thread has done visible to the thread that waits. */
void htw__outstanding_remove(struct htw__outstanding *outstanding) {
    HTW__ANNOTATE_HAND_OVER(outstanding);
    /* order: The thread that destroys the object must see what this one has done. [relaxed:
       `destroy-threshold`] */
    uint64_t before = atomic_fetch_sub_explicit(&outstanding->count, 1, memory_order_release);
    HTW_ASSERT(before > 0);
    (void)before;
}

static bool is_none(const struct htw__outstanding *outstanding) {
    /* order: What the other threads have done comes before the destruction. [relaxed:
       `destroy-threshold`] */
    bool none = atomic_load_explicit(&outstanding->count, memory_order_acquire) == 0;
    if (none)
        HTW__ANNOTATE_TAKE_OVER(outstanding);
    return none;
}

void htw__outstanding_wait(struct htw__outstanding *outstanding, struct htw_group *group) {
    struct timespec nap = { 0, NAP_MIN_NS };
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    for (;;) {
        if (group != NULL)
            htw_group_cancel(group, NULL, NULL);
        if (is_none(outstanding))
            break;
        nanosleep(&nap, NULL);
        if (nap.tv_nsec < NAP_MAX_NS)
            nap.tv_nsec *= 2;
    }
    pthread_setcancelstate(cancel_state, NULL);
}

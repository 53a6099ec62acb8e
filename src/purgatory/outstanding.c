/* SPDX-License-Identifier: MIT */
/* outstanding.c - counts the references that destruction must wait for, and waits for them. */
#include "outstanding.h"

#include "../base/assert.h"
#include "../port/system.h"

#include <htw/group.h>

/* The first sleep of a wait, and about the longest: each is twice as long as the one before. */
#define NAP_MIN_NS 20000
#define NAP_MAX_NS 5000000

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
    int64_t nap_ns = NAP_MIN_NS;
    htw__cancel_state cancel_state = htw__disable_cancel();
    for (;;) {
        if (group != NULL)
            htw_group_cancel(group, NULL, NULL);
        if (is_none(outstanding))
            break;
        htw__system_sleep(nap_ns);
        if (nap_ns < NAP_MAX_NS)
            nap_ns *= 2;
    }
    htw__restore_cancel(cancel_state);
}

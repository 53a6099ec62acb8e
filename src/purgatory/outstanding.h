/* SPDX-License-Identifier: MIT */
/*
 * outstanding.h - counts what still refers to an object, and waits for the last of it.
 *
 * A purgatory counts its callbacks: each from before the scheduler is asked for the timer until the
 * last step of its release hook. A threshold counts its requests: each from when it is linked until
 * its last hook has returned. The thread that destroys the object waits until nothing is counted.
 *
 * Add before the reference exists, and remove in its last step: the object may be gone afterwards.
 * So a thread that stops in between, in a hook or before one, only makes destroy wait.
 */
#ifndef HTW_SRC_PURGATORY_OUTSTANDING_H
#define HTW_SRC_PURGATORY_OUTSTANDING_H

#include "../base/annotate.h"

#include <htw/scheduler.h>

#include <stdatomic.h>

struct htw__outstanding {
    _Atomic uint64_t state; /* twice the count, and 1 when it is closed */
};

static inline void htw__outstanding_init(struct htw__outstanding *outstanding) {
    atomic_init(&outstanding->state, 0);
    HTW__ANNOTATE_ATOMIC(&outstanding->state, sizeof(outstanding->state));
}

/* Counts one more. False: it is closed. The caller must be in a public call, or counted itself. */
bool htw__outstanding_add(struct htw__outstanding *outstanding);

/* Counts one less. Then the object may be gone. */
void htw__outstanding_remove(struct htw__outstanding *outstanding);

/* From now on none is added. */
void htw__outstanding_close(struct htw__outstanding *outstanding);

/*
 * Waits until none is left. The timers of `group` (may be NULL) are cancelled each time before it
 * looks: a thread that was counted before the close may schedule one at any time, and no thread may
 * be there to run it. The group's own count is no help: a timer leaves it before its release hook
 * is called. The caller is not cancelled as a thread meanwhile, since its object is half destroyed.
 */
void htw__outstanding_wait(struct htw__outstanding *outstanding, struct htw_group *group);

#endif /* HTW_SRC_PURGATORY_OUTSTANDING_H */

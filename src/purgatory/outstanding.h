/* SPDX-License-Identifier: MIT */
/*
 * outstanding.h - counts the references that destruction must wait for, and waits for them.
 *
 * A purgatory counts its callbacks, from before each is scheduled until the last step of its
 * release hook. A threshold counts its requests, from when each is linked until its last hook has
 * returned. If a thread is delayed between these steps, destroy waits for it.
 */
#ifndef HTW_SRC_PURGATORY_OUTSTANDING_H
#define HTW_SRC_PURGATORY_OUTSTANDING_H

#include "../base/annotate.h"

#include <htw/scheduler.h>

#include <stdatomic.h>

/* All zero: none. */
struct htw__outstanding {
    /* Where a member of 64 bits is aligned to 4 bytes only (i386), it could lie in two cache lines, and each change of it
       would lock the bus: up to milliseconds. */
    _Alignas(8) _Atomic uint64_t count;
};

/* Counts one more. The caller must be in a public call, or counted itself. */
void htw__outstanding_add(struct htw__outstanding *outstanding);

/* Counts one less. Then the object may be gone. */
void htw__outstanding_remove(struct htw__outstanding *outstanding);

/*
 * Waits until none is left. Cancels the timers of `group` (may be NULL) again and again, since a
 * thread that is counted may still schedule one. (The group's own count does not
 * help: a timer leaves the group before its release hook.) Not a cancellation point.
 */
void htw__outstanding_wait(struct htw__outstanding *outstanding, struct htw_group *group);

#endif /* HTW_SRC_PURGATORY_OUTSTANDING_H */

/* SPDX-License-Identifier: MIT */
/*
 * expiry.h - keys that expire.
 *
 * Each such key has a timer of the scheduler, so it is deleted even if no command uses it. The
 * timer may be late on a busy machine. So a look-up compares the deadline with the time; see
 * store_find().
 *
 * Call these functions under the store's lock. Timers run under it, too (see loop.c). So no
 * callback runs during a command, and a timer can always be cancelled or moved.
 */
#ifndef BROKER_EXPIRY_H
#define BROKER_EXPIRY_H

#include "store.h"

/* Sets the deadline of a key, by the scheduler's clock. Returns false if there is no memory: then
   the old deadline stays. */
bool expiry_set(struct entry *entry, int64_t deadline_ns);

/* Removes the deadline of a key. Returns false if it had none. */
bool expiry_clear(struct entry *entry);

/* Returns the milliseconds until the deadline, rounded up; -1 if there is none. */
int64_t expiry_remaining_ms(const struct entry *entry);

#endif /* BROKER_EXPIRY_H */

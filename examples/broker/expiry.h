/* SPDX-License-Identifier: MIT */
/*
 * expiry.h - keys that go when their time has come: each has a timer of the scheduler, so that
 * one which nobody touches is gone, too.
 *
 * The entry's `deadline_ns` is what holds; the timer follows it. A timer that has started while
 * a command had the lock finds a later deadline when it gets the lock, and arms itself anew, or
 * finds that its entry was deleted, and frees it. All is called with the store's lock held.
 */
#ifndef BROKER_EXPIRY_H
#define BROKER_EXPIRY_H

#include "store.h"

/* Gives a key a deadline, of the scheduler's clock, in place of the one that it had. false: no
   memory; then it has the old one. */
bool expiry_set(struct entry *entry, int64_t deadline_ns);

/* The key stays. false: it would have anyway. */
bool expiry_clear(struct entry *entry);

/* Milliseconds from now, rounded up; -1: it stays. */
int64_t expiry_remaining_ms(const struct entry *entry);

/* For store_delete(): true: nobody refers to the entry any more; false: its timer is going
   to free it. */
bool expiry_abandon(struct entry *entry);

#endif /* BROKER_EXPIRY_H */

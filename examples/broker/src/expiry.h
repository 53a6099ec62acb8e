/* SPDX-License-Identifier: MIT */
/*
 * expiry.h - keys that go when their time has come.
 *
 * Each such key has a timer of the scheduler, so that one which no command touches is deleted, too.
 * A look-up does not rely on the timer, which may be late on a busy machine: it compares the
 * deadline with the time (see store_find()).
 *
 * Everything here is called with the store's lock held, and timers run with it held (see loop.c).
 * So a command never meets a callback half way, and to cancel or move a timer always succeeds.
 */
#ifndef BROKER_EXPIRY_H
#define BROKER_EXPIRY_H

#include "store.h"

/* Bytes that a timer takes in the scheduler. */
#define EXPIRY_COST 64

/* Gives a key a deadline, of the scheduler's clock, in place of the one that it had. false: no
   memory; then it has the old one. */
bool expiry_set(struct entry *entry, int64_t deadline_ns);

/* The key stays. false: it would have anyway. */
bool expiry_clear(struct entry *entry);

/* Milliseconds from now, rounded up; -1: it stays. */
int64_t expiry_remaining_ms(const struct entry *entry);

/* For a key that is deleted: nothing refers to the entry any more. */
void expiry_cancel(struct entry *entry);

#endif /* BROKER_EXPIRY_H */

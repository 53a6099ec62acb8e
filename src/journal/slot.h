/* SPDX-License-Identifier: MIT */
/*
 * slot.h - the timers of the scheduler that deliver.
 *
 * A slot delivers what is due, one job after the other, a slice at a time; there are as many slots
 * as `deliver` may run at once. The slots that do not run are armed for what comes next: one for an
 * instant in the future; for what is due now, one after the other, as long as jobs are left. A slot
 * is a timer that repeats, because such a timer keeps its memory and its place under max_pending:
 * it can always be armed again in its callback. Under the lock.
 */
#ifndef HTW_SRC_JOURNAL_SLOT_H
#define HTW_SRC_JOURNAL_SLOT_H

#include "state.h"

/* Creates the slots and their timers. 0 or a negative errno. Without the lock. */
int htw__slots_create(struct htw_journal *journal, uint32_t count);

/* Cancels the timers, and waits until no slot runs. 0 or -EDEADLK. Without the lock. */
int htw__slots_cancel(struct htw_journal *journal);

void htw__slots_destroy(struct htw_journal *journal);

/* Arms a slot for what comes next, and wakes the writer if there is something to read. */
void htw__slots_arm(struct htw_journal *journal);

#endif /* HTW_SRC_JOURNAL_SLOT_H */

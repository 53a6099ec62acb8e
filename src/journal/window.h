/* SPDX-License-Identifier: MIT */
/*
 * window.h - moves the windows of queues (queue.h): forward where few READY jobs are left in memory and the file has
 * more, and back where memory has no room. Jobs that memory forgets are in a place of READY in the file; those that
 * became ready by the clock are moved there by a change first. For the writer.
 */
#ifndef HTW_SRC_JOURNAL_WINDOW_H
#define HTW_SRC_JOURNAL_WINDOW_H

#include "state.h"

/* Whether READY jobs have no room in memory, until some have gone to the file. */
bool htw__window_is_full(const struct htw_journal *journal);

/* Whether a window is to be moved. */
bool htw__window_has_work(const struct htw_journal *journal);

/* One step. With the lock, which it releases meanwhile. */
void htw__window_step(struct htw_journal *journal);

#endif /* HTW_SRC_JOURNAL_WINDOW_H */

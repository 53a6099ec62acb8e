/* SPDX-License-Identifier: MIT */
/* commit.h - a batch: all changes of the queue, in one transaction. */
#ifndef HTW_SRC_JOURNAL_COMMIT_H
#define HTW_SRC_JOURNAL_COMMIT_H

#include "change.h"

/* Takes the queue, writes it, and tells the callers. With the lock held, which it releases meanwhile;
   `is_in_use` must not be set. */
void htw__commit_queue(struct htw_journal *journal);

/* Whether a caller may commit its change by itself, because nothing else is to be done. */
bool htw__commit_is_idle(const struct htw_journal *journal);

#endif /* HTW_SRC_JOURNAL_COMMIT_H */

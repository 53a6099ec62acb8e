/* SPDX-License-Identifier: MIT */
/* commit.h - a batch: all changes of the queue, in one transaction. For the writer. */
#ifndef HTW_SRC_JOURNAL_COMMIT_H
#define HTW_SRC_JOURNAL_COMMIT_H

#include "change.h"

/* Takes the queue, writes it, and tells the callers. With the lock held, which it releases meanwhile.
   False: the process has forked in a notice, and this is the child. */
bool htw__commit_queue(struct htw_journal *journal);

#endif /* HTW_SRC_JOURNAL_COMMIT_H */

/* SPDX-License-Identifier: MIT */
/*
 * history.h - jobs that are done and stay for a time: in places of DONE, by the minute of their end. The writer removes
 * a minute when the time of its last job is over, some jobs in a commit.
 */
#ifndef HTW_SRC_JOURNAL_HISTORY_H
#define HTW_SRC_JOURNAL_HISTORY_H

#include "state.h"

/* Under the lock: whether some are to be removed now. */
bool htw__history_has_work(const struct htw_journal *journal);

/* Under the lock, in the writer: adds a change to the queue that removes some. */
void htw__history_step(struct htw_journal *journal);

/* In the transaction: a job ends, and is kept. `where` is changed. 0 or an error. */
int htw__history_keep(struct htw_journal *journal, uint64_t id, uint32_t queue,
                      struct htw__whereabouts *where);

#endif /* HTW_SRC_JOURNAL_HISTORY_H */

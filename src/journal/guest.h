/* SPDX-License-Identifier: MIT */
/*
 * guest.h - the inbox of a guest: a journal whose tables are in the file of a program.
 *
 * Anyone who can write to the file puts a job by an INSERT into `htw_inbox`, in a transaction of their own. The writer
 * looks at it when it is woken, and at intervals, and TAKES IN what is there: in one transaction the row leaves the
 * inbox and becomes a job. That has the same id, which is of no block, so it counts as moved (rows.h).
 *
 * Until then it can be ended, by its id or its key, and is no job for anything else.
 */
#ifndef HTW_SRC_JOURNAL_GUEST_H
#define HTW_SRC_JOURNAL_GUEST_H

#include "change.h"

/* When the writer is to look: by the monotonic clock; HTW_NEVER_NS: it is not. Under the lock. */
int64_t htw__guest_due_ns(const struct htw_journal *journal);

/* The writer looks, and makes a change of what is there. Under the lock, which it releases meanwhile. */
void htw__guest_look(struct htw_journal *journal);

#endif /* HTW_SRC_JOURNAL_GUEST_H */

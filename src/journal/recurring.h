/* SPDX-License-Identifier: MIT */
/*
 * recurring.h - the rules by which jobs come again, and putting these.
 *
 * When the instant of a rule has come, the writer reads the rule, and adds a change to the queue that puts the jobs and gives
 * the rule its next instant. It is made only if the rule is still the one that was read, so no instant comes twice, and
 * none is lost. Rules that are due are read in ROUNDS: behind a cursor, until there are no more, so that one which fails
 * is not in the way of others.
 */
#ifndef HTW_SRC_JOURNAL_RECURRING_H
#define HTW_SRC_JOURNAL_RECURRING_H

#include "change.h"

/* Whether what a caller says is valid. Sets `next_ns`. 0, or an error with its sentence. */
int htw__recurring_prepare(const struct htw_journal *journal, const struct htw_recurring *wanted,
                           struct htw_recurring *ret_rule);

/* In the transaction of a change: stores a rule, or removes it (`schedule` NULL). 0, -ENOENT or an error. */
int htw__recurring_write(struct htw_journal *journal, const struct htw_recurring *rule);

/* Under the lock: whether rules are to be read. */
bool htw__recurring_has_work(const struct htw_journal *journal);

/* Reads a rule that is due, or ends the round: if htw__recurring_has_work(). Under the lock, which it releases meanwhile. */
void htw__recur_step(struct htw_journal *journal);

#endif /* HTW_SRC_JOURNAL_RECURRING_H */

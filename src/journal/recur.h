/* SPDX-License-Identifier: MIT */
/*
 * recur.h - puts the jobs that come again.
 *
 * When the instant of a rule has come, the writer reads the rule, and adds a change to the queue that puts the jobs and gives
 * the rule its next instant. It is made only if the rule is still the one that was read, so no instant comes twice, and
 * none is lost. Rules that are due are read in ROUNDS: behind a cursor, until there are no more, so that one which fails
 * is not in the way of others.
 */
#ifndef HTW_SRC_JOURNAL_RECUR_H
#define HTW_SRC_JOURNAL_RECUR_H

#include "state.h"

/* The jobs that a step may put: those of its last rule come on top. */
#define HTW__RECUR_SLICE 64u
#define HTW__RECUR_JOBS_MAX (HTW__RECUR_SLICE + HTW_RECURRING_CATCH_UP_MAX)

/* Reads rules that are due, or ends the round: if htw__recurring_has_work(). Under the lock, which it releases meanwhile. */
void htw__recur_step(struct htw_journal *journal);

#endif /* HTW_SRC_JOURNAL_RECUR_H */

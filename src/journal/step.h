/* SPDX-License-Identifier: MIT */
/*
 * step.h - what a change does to a job that exists: from one state to another, or to its end.
 *
 * A step is made in three parts. Before the transaction, under the lock, the job is HELD, if it is in memory: it is in
 * no heap, so that it is neither leased nor delivered meanwhile. In the transaction the file is changed, and the job
 * is read as it is then. After the commit, under the lock, the job that was in memory is replaced by that one, if it
 * belongs there; after a failure it is as before.
 */
#ifndef HTW_SRC_JOURNAL_STEP_H
#define HTW_SRC_JOURNAL_STEP_H

#include "change.h"

/* Whether it is the end of a job. Where that is impossible, nothing was written. */
static inline bool htw__step_ends(const struct htw__step *step) {
    return step->kind == HTW_JOB_END || step->kind == HTW_JOB_CANCEL;
}

/* Whether the job of the step is held by another one. */
bool htw__step_waits(const struct htw_journal *journal, const struct htw__step *step);

/* Under the lock, before. 0, or why the step cannot be made. */
int htw__step_hold(struct htw_journal *journal, struct htw__step *step);

/* In the transaction. 0 or an error: of this change alone, or of all. */
int htw__step_write(struct htw_journal *journal, struct htw__step *step);

/* Under the lock, after: a job was replaced under its key (0: none). */
void htw__step_replace(struct htw_journal *journal, uint64_t replaced);

/* Under the lock, after. `result` 0: the step is durable. */
void htw__step_finish(struct htw_journal *journal, struct htw__step *step, int result);

/* Under the lock: the transaction was undone, and the step may be written again. */
void htw__step_forget(struct htw_journal *journal, struct htw__step *step);

/* In the transaction: a job is to have a key; the one that has it is removed, or -EEXIST. */
int htw__step_free_key(struct htw_journal *journal, const struct htw__job_row *row,
                       bool is_if_absent, uint64_t *ret_replaced);

/* Gives memory a job that is durable at a place, if it belongs there. Under the lock. */
void htw__job_place(struct htw_journal *journal, struct htw__job *job,
                    const struct htw__whereabouts *where);

#endif /* HTW_SRC_JOURNAL_STEP_H */

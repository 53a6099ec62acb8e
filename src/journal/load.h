/* SPDX-License-Identifier: MIT */
/* load.h - jobs of the file as jobs of memory, and back. */
#ifndef HTW_SRC_JOURNAL_LOAD_H
#define HTW_SRC_JOURNAL_LOAD_H

#include "state.h"

/* A job of memory from what the file has: as htw__job_read(). */
int htw__job_load(struct htw_journal *journal, uint64_t id, const struct htw__job_row *row,
                  const struct htw__whereabouts *where, struct htw__job **ret_job);

/* Reads a job and makes it one of memory: QUEUED, attached if it has a queue, with a place reserved among those that wait. Without
   the lock, in the thread that has the database. 0, -ENOENT or an error. */
int htw__job_read(struct htw_journal *journal, uint64_t id, struct htw__job **ret_job,
                  struct htw__whereabouts *ret_where);

/* The state of a job in the file, without the clock; and with it, for one that is not in memory. */
enum htw_job_state htw__filed_state(const struct htw__whereabouts *where);
enum htw_job_state htw__state_in_file(const struct htw_journal *journal,
                                      const struct htw__whereabouts *where);

/* In the transaction: a job of the queue comes to be in this state in the file (`by` 1), or is no longer (-1). */
void htw__count_job(struct htw_journal *journal, uint32_t queue, enum htw_job_state state, int by);

/* What the file has of a job that is put. */
struct htw__job_row htw__job_row_of(const struct htw__job *job);

/* A job of memory as it is handed to a caller. */
struct htw_delivery htw__job_delivery(struct htw_journal *journal, const struct htw__job *job,
                                      int64_t now);

#endif /* HTW_SRC_JOURNAL_LOAD_H */

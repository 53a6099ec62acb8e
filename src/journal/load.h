/* SPDX-License-Identifier: MIT */
/* load.h - jobs of the file as jobs of memory, and back. */
#ifndef HTW_SRC_JOURNAL_LOAD_H
#define HTW_SRC_JOURNAL_LOAD_H

#include "state.h"

/* Makes a job of memory of what the file has: QUEUED, and attached. Without the lock, in the thread that has the database. 0 or an error. */
int htw__job_load(struct htw_journal *journal, uint64_t id, const struct htw__job_row *row,
                  const struct htw__whereabouts *where, struct htw__job **ret_job);

/* Reads on in a scan, into `scan_rows`. Then: reads a job that the scan has found, and adds it to memory, unless it is
   there. Under the lock, which they release meanwhile, in the thread that has the database. The number of rows, or 0;
   or an error. */
#define HTW__READ_STEP 64u
int64_t htw__jobs_scan(struct htw_journal *journal, struct htw__scan *scan);
int htw__job_take(struct htw_journal *journal, uint64_t id);

/* The state of a job of memory. */
enum htw_job_state htw__state_of_job(const struct htw_journal *journal, const struct htw__job *job);

/* What memory has of a job that is there; QUEUED: nothing. */
enum htw__job_state htw__state_in_memory(const struct htw__whereabouts *where);

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

/* SPDX-License-Identifier: MIT */
/*
 * jobs.h - the jobs in a journal's file: one, or those of a list. Beside this only numbers.c and check.c know the tables.
 *
 * The state of a job is what the file says at `file->now_ns`. A lease that is not durable is in the memory of the
 * program that has the journal open, and not in the file.
 */
#ifndef HTW_SRC_CMD_JOURNAL_JOBS_H
#define HTW_SRC_CMD_JOURNAL_JOBS_H

#include "file.h"

#include <htw/journal.h>

/* Calls `visit` with the job, as htw_journal_peek(); `lease_ns` is 0 where the job does not say it. `ret_exists` says whether
   there is one. */
bool htw__journal_job_visit(struct htw__journal_file *file, uint64_t id, htw_job_visit *visit,
                            void *context, bool *ret_exists);

/* Where a job is in the order of a list, and where the next page begins: behind it. */
struct htw__journal_cursor {
    uint64_t place; /* the first of those that are listed together */
    int64_t moment, rank;
    uint64_t id;
};
#define HTW__CURSOR_FIRST ((struct htw__journal_cursor) { 0, INT64_MIN, INT64_MIN, 0 })

/* As text: four hexadecimal numbers. */
#define HTW__CURSOR_SIZE 72
void htw__journal_cursor_format(const struct htw__journal_cursor *cursor,
                                char text[HTW__CURSOR_SIZE]);
bool htw__journal_cursor_parse(const char *text, struct htw__journal_cursor *ret_cursor);

/* Which jobs are wanted. */
struct htw__journal_filter {
    const char *queue; /* NULL: all; empty: the default one */
    uint32_t state;    /* enum htw_job_state; HTW__STATE_ANY: in any */
    uint64_t limit;    /* the most jobs */
    struct htw__journal_cursor after;
};
#define HTW__STATE_ANY UINT32_MAX
#define HTW__JOBS_ALL \
    ((struct htw__journal_filter) { NULL, HTW__STATE_ANY, UINT64_MAX, HTW__CURSOR_FIRST })

/*
 * Calls `visit` with each job that is wanted: those that wait for an instant by deadline, also where that has passed, then
 * the others that are READY, by queue and priority, then BURIED ones. It is no snapshot: of jobs that are put or
 * end meanwhile some are visited. Between two jobs nothing is locked. Takes 24 bytes of memory for each job of a
 * minute, or of a queue with the same priority, but not for more than `limit`.
 *
 * `ret_last`: the last job that was visited; where there was none, as `after`. `ret_has_more`: there are more.
 */
bool htw__journal_jobs_visit(struct htw__journal_file *file,
                             const struct htw__journal_filter *filter, htw_job_visit *visit,
                             void *context, struct htw__journal_cursor *ret_last,
                             bool *ret_has_more);

#endif /* HTW_SRC_CMD_JOURNAL_JOBS_H */

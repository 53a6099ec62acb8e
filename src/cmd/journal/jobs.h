/* SPDX-License-Identifier: MIT */
/*
 * jobs.h - what is in the tables of a journal's file: one job, all of them in the order of their
 * deadlines, the counters. Beside this only check.c knows the tables.
 */
#ifndef HTW_SRC_CMD_JOURNAL_JOBS_H
#define HTW_SRC_CMD_JOURNAL_JOBS_H

#include "file.h"

struct htw__journal_job {
    uint64_t id;
    int64_t deadline_ns;
    struct htw__file_bytes key;
    struct htw__file_bytes payload;
};

/* Is called with a job, whose bytes are valid until it returns. False ends the walk. */
typedef bool htw__journal_visit(void *context, const struct htw__journal_job *job);

/* Calls `visit` with the job; `ret_exists` says whether there is one. */
bool htw__journal_job_visit(struct htw__journal_file *file, uint64_t id, htw__journal_visit *visit,
                            void *context, bool *ret_exists);

/*
 * Calls `visit` with each job: those that are delayed in order of deadline, then the others. It is
 * no snapshot: of jobs that are put or end meanwhile some are visited. Between two jobs nothing is
 * locked. Takes 8 bytes of memory for each job of a minute, or of another place.
 */
bool htw__journal_jobs_visit(struct htw__journal_file *file, htw__journal_visit *visit,
                             void *context);

/* Counts the delayed jobs whose deadline is at most `now_ns`. */
bool htw__journal_jobs_overdue(struct htw__journal_file *file, int64_t now_ns, uint64_t *ret_count);

struct htw__journal_counters {
    uint64_t jobs, keyed;
    struct htw__file_bytes mark;
};

/* Calls `visit` once with the counters, whose mark is valid until it returns. */
bool htw__journal_counters_visit(struct htw__journal_file *file,
                                 void (*visit)(void *context,
                                               const struct htw__journal_counters *counters),
                                 void *context);

#endif /* HTW_SRC_CMD_JOURNAL_JOBS_H */

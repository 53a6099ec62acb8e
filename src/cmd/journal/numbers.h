/* SPDX-License-Identifier: MIT */
/* numbers.h - how much is in a journal's file: the counters, and the numbers of queues. */
#ifndef HTW_SRC_CMD_JOURNAL_NUMBERS_H
#define HTW_SRC_CMD_JOURNAL_NUMBERS_H

#include "file.h"

/* Counts the jobs that wait for an instant of at most `file->now_ns`. */
bool htw__journal_jobs_overdue(struct htw__journal_file *file, uint64_t *ret_count);

struct htw__journal_counters {
    uint64_t jobs, keyed;
    struct htw__file_bytes mark;
};

/* Calls `visit` once with the counters, whose mark is valid until it returns. */
bool htw__journal_counters_visit(struct htw__journal_file *file,
                                 void (*visit)(void *context,
                                               const struct htw__journal_counters *counters),
                                 void *context);

/* The numbers of a queue, as those of struct htw_queue_stats. */
struct htw__journal_queue {
    struct htw__file_bytes name; /* `bytes` NULL: the default queue */
    uint64_t delayed, ready, leased, buried, done;
    int64_t
        oldest_ns; /* of READY jobs the first deadline, or when it was put; HTW_NEVER_NS: none is READY */
};

/* Calls `visit` with each queue, of one instant: the default one, then by name. Reads what is READY by its deadline, and a
   row for each block of what is READY otherwise. */
bool htw__journal_queues_visit(struct htw__journal_file *file,
                               void (*visit)(void *context, const struct htw__journal_queue *queue),
                               void *context);

#endif /* HTW_SRC_CMD_JOURNAL_NUMBERS_H */

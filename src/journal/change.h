/* SPDX-License-Identifier: MIT */
/* change.h - what a caller wants written: jobs that end, jobs that are put, and a mark. */
#ifndef HTW_SRC_JOURNAL_CHANGE_H
#define HTW_SRC_JOURNAL_CHANGE_H

#include "state.h"

#include <semaphore.h>

struct htw__change {
    struct htw__change *next; /* in the queue */
    size_t size;              /* of the block; 0: it is on the stack of a caller that waits */
    htw_durable *durable;
    void *arg;
    bool is_waited_for; /* by a caller */
    sem_t *finished;    /* of that; NULL: none */
    bool is_cancel;     /* `done` is one job, which must not have been delivered */
    int result;         /* as far as it is known */
    int64_t queued_ns;
    const uint64_t *done;
    size_t done_count;
    struct htw__job *jobs; /* owned, until the commit */
    size_t job_count;
    const void *mark; /* NULL: the mark stays */
    size_t mark_size;
    size_t bytes;     /* that count for max_memory */
    uint64_t done_id; /* room for a single id */
};

/* Makes a change of what the caller describes. `is_waited_for`: it uses the caller's arrays; otherwise
   it copies them. The change is on the stack of a caller that waits. 0 or a negative errno. */
int htw__change_init(struct htw_journal *journal, struct htw__change *change,
                     const struct htw_journal_change *wanted);
struct htw__change *htw__change_create(struct htw_journal *journal,
                                       const struct htw_journal_change *wanted, int *ret_error);

/* Releases what the change owns, and the change itself unless it is on a stack. */
void htw__change_destroy(struct htw_journal *journal, struct htw__change *change);

/* The result of a change that has failed or succeeded, with its sentence for this thread. Under the
   lock. */
int htw__change_report(const struct htw_journal *journal, const struct htw__change *change);

#endif /* HTW_SRC_JOURNAL_CHANGE_H */

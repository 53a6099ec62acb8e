/* SPDX-License-Identifier: MIT */
/* state.c - what all parts of a journal call: whether a call is refused, the end after a failure, the calls of user code. */
#include "state.h"

#include <errno.h>
#include <stdio.h>

/* ---- the calls of user code */

static _Thread_local struct htw__journal_frame *innermost;

void htw__journal_frame_push(struct htw__journal_frame *frame) {
    frame->outer = innermost;
    innermost = frame;
}

void htw__journal_frame_pop(struct htw__journal_frame *frame) {
    innermost = frame->outer;
}

bool htw__journal_is_inside(const struct htw_journal *journal, bool any) {
    for (const struct htw__journal_frame *frame = innermost; frame != NULL; frame = frame->outer)
        if (frame->journal == journal && (any || frame->is_notice))
            return true;
    return false;
}

/* ---- refusing and stopping */

int htw__journal_refusal(const struct htw_journal *journal) {
    if (journal == NULL)
        return htw__journal_fail_as(-EINVAL, "the journal is NULL");
    if (journal->fork_count != htw__fork_count())
        return htw__journal_fail_as(-EOWNERDEAD, htw_strerror(-EOWNERDEAD));
    return 0;
}

void htw__journal_stop(struct htw_journal *journal) {
    if (journal->has_failed)
        return;
    journal->has_failed = true;
    snprintf(journal->failure, sizeof(journal->failure), "%.400s: the journal has stopped",
             htw_journal_error());
    pthread_cond_broadcast(&journal->read);
    pthread_cond_signal(&journal->work); /* it calls `stopped` */
}

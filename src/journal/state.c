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

/* ---- the database */

void htw__journal_call_writer(struct htw_journal *journal) {
    if (!pthread_equal(journal->processor, pthread_self()))
        pthread_cond_signal(&journal->work);
}

void htw__journal_follow(struct htw_journal *journal) {
    journal->generation = journal->database.generation;
    journal->ids.reserved = journal->database.next_id;
    if (journal->snapshot_waits)
        pthread_cond_broadcast(&journal->idle);
}

void htw__journal_release_database(struct htw_journal *journal) {
    journal->is_in_use = false;
    if (journal->writer_waits || htw__log_is_long(&journal->database) ||
        journal->database.lacks_space)
        pthread_cond_signal(&journal->work);
    if (journal->look_waits || journal->snapshot_waits || journal->ids_wait > 0)
        pthread_cond_broadcast(&journal->idle);
}

/* ---- numbers */

int64_t htw__journal_next_put(struct htw_journal *journal, int64_t now) {
    int64_t now_us = now / HTW_MICROSECOND;
    journal->last_put_us = now_us > journal->last_put_us ? now_us : journal->last_put_us + 1;
    return journal->last_put_us;
}

void htw__journal_note_put(struct htw_journal *journal, struct htw__job *job) {
    int64_t now = htw__journal_now(journal);
    job->put_us = htw__journal_next_put(journal, now);
    job->is_to_come = job->position.deadline_ns > now;
}

/* ---- refusing and stopping */

int htw__journal_refusal(const struct htw_journal *journal) {
    if (journal == NULL)
        return htw__journal_fail_as(-EINVAL, "the journal is NULL");
    if (journal->fork_count != htw__fork_count())
        return htw__journal_fail_as(-EOWNERDEAD, htw_strerror(-EOWNERDEAD));
    return 0;
}

int htw__journal_refusal_to_wait(const struct htw_journal *journal) {
    int error = htw__journal_refusal(journal);
    return error == 0 && htw__journal_is_inside(journal, false)
               ? htw__journal_fail(-EDEADLK, "%s: a notice of the journal must not wait for it",
                                   journal->path.name)
               : error;
}

void htw__journal_report(struct htw_journal *journal, enum htw_log_level level,
                         const char *sentence) {
    struct htw__journal_frame frame = { .journal = journal, .is_notice = true };
    if (level < HTW_LOG_ERROR && !htw__report_is_due(&journal->report_due_ns))
        return;
    htw__journal_frame_push(&frame);
    htw__report(level, "journal", "%s", sentence);
    htw__journal_frame_pop(&frame);
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

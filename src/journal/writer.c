/* SPDX-License-Identifier: MIT */
/* writer.c - the thread that uses the database: writes changes, reads jobs, copies the log. */
#include "writer.h"

#include "../base/clock.h"
#include "../port/system.h"
#include "../base/user_code.h"
#include "lease.h"
#include "reader.h"
#include "slot.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>

/* Until a slot that could not be armed is armed again. On a full disk: until the log is copied again. */
#define RETRY_NS HTW_SECOND

/* When the queue is to be written: now (0), at an instant of the monotonic clock, or HTW_NEVER_NS. */
static int64_t queue_due_ns(const struct htw_journal *journal) {
    if (journal->first == NULL)
        return HTW_NEVER_NS;
    if (journal->is_urgent || journal->is_stopping || journal->has_failed)
        return 0;
    return journal->first->queued_ns + journal->gather_ns;
}

static void copy_log(struct htw_journal *journal) {
    journal->is_in_use = true;
    htw__mutex_unlock(&journal->mutex);
    int result = htw__room_copy_log(&journal->database);
    if (result == -ENOSPC || result == -ENOMEM)
        htw__journal_report(journal, HTW_LOG_WARNING, htw_journal_error());
    htw__mutex_lock(&journal->mutex);
    htw__journal_release_database(journal);
    if (result > 0)
        journal->stats.checkpoints++;
    /* Without space or memory the log grows, and the next checkpoint tries again. */
    else if (result < 0 && result != -ENOSPC && result != -ENOMEM)
        htw__journal_stop(journal);
}

static void wait_until(struct htw_journal *journal, int64_t deadline_ns) {
    if (deadline_ns == HTW_NEVER_NS)
        htw__mutex_wait(&journal->mutex, &journal->work);
    else
        htw__mutex_wait_until(&journal->mutex, &journal->work, deadline_ns);
}

static void tell_stopped(struct htw_journal *journal) {
    struct htw__journal_frame frame = { .journal = journal, .is_notice = true };
    journal->has_told = true;
    htw__leases_end(journal, -EIO);
    htw__mutex_unlock(&journal->mutex);
    htw__journal_report(journal, HTW_LOG_ERROR, journal->failure);
    htw__journal_frame_push(&frame);
    if (journal->stopped != NULL)
        HTW__CALL_USER("a notice", journal, journal->stopped,
                       journal->stopped(journal->context, journal->failure));
    htw__journal_frame_pop(&frame);
    htw__mutex_lock(&journal->mutex);
}

/* What the thread keeps in mind from one step to the next. */
struct pace {
    int64_t retry_ns; /* when slots are armed again; HTW_NEVER_NS: not planned */
    int64_t copy_ns;  /* where space lacks, the log is copied from then on */
    bool has_written; /* then it is the turn of the reader, however long the queue is */
    bool has_yielded; /* since, to those that look and have no connection of their own */
};

static bool lacks_space(const struct htw_journal *journal) {
    return journal->database.lacks_space && !journal->has_failed;
}

static bool is_log_due(const struct htw_journal *journal, const struct pace *pace, int64_t now) {
    return (htw__log_is_long(&journal->database) && !journal->has_failed) ||
           (lacks_space(journal) && now >= pace->copy_ns);
}

/* A caller commits by itself, or looks, and wakes this thread then. */
static void wait_for_caller(struct htw_journal *journal) {
    journal->writer_waits = true;
    htw__mutex_wait(&journal->mutex, &journal->work);
    journal->writer_waits = false;
}

static void read_step(struct htw_journal *journal) {
    journal->is_in_use = true;
    htw__readers_step(journal);
    htw__journal_release_database(journal);
    htw__slots_arm(journal);
}

static void sleep_until_work(struct htw_journal *journal, struct pace *pace, int64_t now) {
    if (journal->needs_retry && pace->retry_ns == HTW_NEVER_NS)
        pace->retry_ns = now + RETRY_NS;
    int64_t pause_ns = journal->reader.paused_ns;
    if (pause_ns == 0 || pause_ns <= now)
        pause_ns = HTW_NEVER_NS;
    int64_t wake_ns =
        htw__clock_earlier(queue_due_ns(journal), htw__clock_earlier(pace->retry_ns, pause_ns));
    wake_ns = htw__clock_earlier(wake_ns, htw__guest_due_ns(journal));
    wait_until(journal,
               lacks_space(journal) ? htw__clock_earlier(wake_ns, pace->copy_ns) : wake_ns);
}

/* The most urgent step. False: there is nothing left, and the journal is being closed. */
static bool step(struct htw_journal *journal, struct pace *pace) {
    int64_t now = htw__clock_monotonic_ns();
    bool can_read = htw__readers_have_work(journal);
    if (journal->is_in_use || (journal->look_waits && !pace->has_yielded)) {
        wait_for_caller(journal);
        pace->has_yielded = true;
    } else if (is_log_due(journal, pace, now)) {
        copy_log(journal);
        pace->copy_ns = htw__clock_monotonic_ns() + RETRY_NS;
    } else if (journal->leases.served != NULL) {
        htw__leases_tell(journal);
    } else if (htw__guest_due_ns(journal) <= now) {
        htw__guest_look(journal);
    } else if (queue_due_ns(journal) <= now && !(pace->has_written && can_read)) {
        htw__commit_queue(journal);
        pace->has_written = true;
        pace->has_yielded = false;
    } else if (can_read) {
        read_step(journal);
        pace->has_written = false;
    } else if (journal->is_stopping) {
        return false;
    } else if (now >= pace->retry_ns) {
        pace->retry_ns = HTW_NEVER_NS;
        journal->needs_retry = false;
        htw__slots_arm(journal);
        htw__mutex_unlock(&journal->mutex);
        htw__journal_fail(-ENOMEM, "%s: no memory for a timer, so jobs may be late",
                          journal->path.name);
        htw__journal_report(journal, HTW_LOG_WARNING, htw_journal_error());
        htw__mutex_lock(&journal->mutex);
    } else {
        sleep_until_work(journal, pace, now);
    }
    return true;
}

static void *write_and_read(void *arg) {
    htw__thread_begin();
    struct htw_journal *journal = arg;
    struct pace pace = { .retry_ns = HTW_NEVER_NS };
    htw__mutex_lock(&journal->mutex);
    do {
        if (journal->has_failed && !journal->has_told)
            tell_stopped(journal);
    } while (step(journal, &pace));
    htw__mutex_unlock(&journal->mutex);
    return NULL;
}

/* ---- in a thread of the program */

static bool has_changes_or_requests(const struct htw_journal *journal) {
    return journal->first != NULL || journal->leases.served != NULL;
}

static bool may_process(const struct htw_journal *journal) {
    return !journal->is_in_use && !journal->writer_waits && !journal->has_failed &&
           !journal->database.lacks_space && !htw__log_is_long(&journal->database);
}

/* To tell those that were served takes no commit. */
static bool can_run_here(const struct htw_journal *journal, int64_t patience_ns) {
    bool is_quick = journal->first != NULL && journal->lately_ns < patience_ns;
    return may_process(journal) && (journal->leases.served != NULL || is_quick);
}

/*
 * With several callers the writer is better: while it commits, the others come together for the next
 * batch. A caller that commits by itself as soon as it can commits alone.
 */
bool htw__writer_is_idle(const struct htw_journal *journal) {
    return !has_changes_or_requests(journal) && may_process(journal) &&
           journal->last_callers <= 1 && journal->guest.look_ns != 0 &&
           !htw__reader_has_work(journal);
}

void htw__writer_run_here(struct htw_journal *journal, unsigned steps, int64_t patience_ns) {
    sigset_t all, before;
    int cancel_state;
    if (can_run_here(journal, patience_ns)) {
        sigfillset(&all);
        if (steps < UINT_MAX)
            pthread_sigmask(SIG_SETMASK, &all, &before);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
        unsigned left = steps;
        do
            journal->leases.served != NULL ? htw__leases_tell(journal) : htw__commit_queue(journal);
        while (--left > 0 && can_run_here(journal, patience_ns));
        pthread_setcancelstate(cancel_state, NULL);
        if (steps < UINT_MAX)
            pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (has_changes_or_requests(journal))
        pthread_cond_signal(&journal->work);
}

int htw_journal_process(struct htw_journal *journal, int64_t patience_ns) {
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    if (htw__journal_is_inside(journal, true))
        return htw__journal_fail(-EDEADLK, "%s: a callback of the journal must not process it",
                                 journal->path.name);
    htw__mutex_lock(&journal->mutex);
    journal->processor = pthread_self();
    if (has_changes_or_requests(journal)) {
        htw__writer_run_here(journal, UINT_MAX, patience_ns);
        journal->is_urgent = journal->first != NULL;
    }
    htw__mutex_unlock(&journal->mutex);
    return 0;
}

/* ---- its life */

int htw__writer_start(struct htw_journal *journal) {
    int error = htw__thread_start(&journal->writer, "htw", "journal", 0, write_and_read, journal);
    journal->has_writer = error == 0;
    return error == 0 ? 0 : htw__journal_fail_as(error, "no thread could be started");
}

void htw__writer_stop(struct htw_journal *journal) {
    if (!journal->has_writer)
        return;
    htw__mutex_lock(&journal->mutex);
    journal->is_stopping = true;
    pthread_cond_signal(&journal->work);
    htw__mutex_unlock(&journal->mutex);
    pthread_join(journal->writer, NULL);
}

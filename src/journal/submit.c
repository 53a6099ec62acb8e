/* SPDX-License-Identifier: MIT */
/* submit.c - the public calls that change something: they append to the queue of the writer. */
#include "change.h"
#include "commit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

/* So many changes are written without waiting for more. */
#define ENOUGH 256u

static int refuse(struct htw_journal *journal, int error, const char *sentence) {
    if (error == -EAGAIN)
        journal->refused++;
    return htw__journal_fail(error, "%s: %s", journal->path.name, sentence);
}

/* Under the lock. 0, or why the change is not accepted. */
static int admit(struct htw_journal *journal, const struct htw__change *change) {
    if (journal->has_failed)
        return htw__journal_fail_as(-EIO, journal->failure);
    if (journal->is_stopping)
        return refuse(journal, -ESHUTDOWN, "the journal is being closed");
    uint64_t jobs = journal->jobs_in_file + journal->queued_jobs;
    if (change->job_count > 0 && journal->max_jobs > 0 &&
        (jobs >= journal->max_jobs || change->job_count > journal->max_jobs - jobs))
        return refuse(journal, -EAGAIN, "max_jobs is reached");
    /* To end jobs is always possible. */
    if (change->job_count > 0 && journal->queued_bytes > 0 &&
        (journal->queued_bytes >= journal->queued_max ||
         change->bytes > journal->queued_max - journal->queued_bytes))
        return refuse(journal, -EAGAIN, "max_memory is reached");
    /* Its ids would be known before the file says that they are in use. */
    if (!change->is_waited_for && change->job_count > journal->queued_jobs_max)
        return refuse(journal, -EMSGSIZE, "the change has more jobs than may wait");
    if (htw__jobs_reserve(&journal->jobs, change->job_count) != 0)
        return refuse(journal, -ENOMEM, "no memory for a job");
    return 0;
}

/* Without ids the change fails; its commit tries to reserve some, for later ones. */
static void give_ids(struct htw_journal *journal, struct htw__change *change,
                     const struct htw_journal_change *wanted) {
    size_t i = 0;
    if (journal->lacks_ids && change->job_count > 0) {
        change->result = -ENOSPC;
        while (i < change->job_count)
            wanted->jobs[i++].id = 0;
        return;
    }
    for (struct htw__job *job = change->jobs; job != NULL; job = job->next, i++) {
        uint64_t place = htw__place_delayed(job->position.deadline_ns, HTW__QUEUE_DEFAULT);
        job->position.id = htw__ids_give(&journal->ids, place);
        wanted->jobs[i].id = job->position.id;
    }
}

/* Under the lock. Whether the writer must be told. */
static bool append(struct htw_journal *journal, struct htw__change *change) {
    bool was_empty = journal->first == NULL;
    change->next = NULL;
    *journal->last = change;
    journal->last = &change->next;
    journal->queued++;
    journal->queued_jobs += change->job_count;
    journal->queued_bytes += change->bytes;
    journal->waiting_changes++;
    bool was_urgent = journal->is_urgent;
    journal->is_urgent = journal->is_urgent || change->is_waited_for || //
                         journal->waiting_changes >= ENOUGH;
    return was_empty || journal->is_urgent != was_urgent;
}

/* The queue has the change of this thread only, so there is no notice. A signal handler must neither
   interrupt the sync nor leave the commit half done. */
static void commit_alone(struct htw_journal *journal) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    htw__commit_queue(journal);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Under the lock. `ret_id` receives the id of the first job, before that can be delivered. */
static int submit(struct htw_journal *journal, struct htw__change *change,
                  const struct htw_journal_change *wanted, uint64_t *ret_id) {
    int error = admit(journal, change);
    if (error == 0) {
        give_ids(journal, change, wanted);
        if (ret_id != NULL)
            *ret_id = wanted->jobs[0].id;
        bool is_alone = change->is_waited_for && htw__commit_is_idle(journal);
        if (append(journal, change) && !is_alone)
            pthread_cond_signal(&journal->work);
        if (is_alone)
            commit_alone(journal);
    }
    return error;
}

/* ---- changes of one part */

/* Puts `job`, which is filled in and must stay until the change is accepted. */
static struct htw_journal_change put_of(struct htw_job *job, int64_t deadline_ns,
                                        const void *payload, size_t payload_size) {
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    htw_job_init(job);
    job->deadline_ns = deadline_ns;
    job->payload = payload;
    job->payload_size = payload_size;
    change.jobs = job;
    change.job_count = 1;
    return change;
}

/* Ends the job whose id is `*id`, which must stay until the change is accepted. */
static struct htw_journal_change end_of(const uint64_t *id) {
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    change.done = id;
    change.done_count = 1;
    return change;
}

/* ---- changes that wait */

static int make_now(struct htw_journal *journal, const struct htw_journal_change *wanted,
                    bool is_cancel, uint64_t *ret_id) {
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    if (htw__journal_is_inside(journal, false))
        return htw__journal_fail(-EDEADLK, "%s: a notice of the journal must not wait for it",
                                 journal->path.name);
    struct htw__change change;
    error = htw__change_init(journal, &change, wanted);
    if (error != 0)
        return error;
    change.is_cancel = is_cancel;
    sem_t finished;
    sem_init(&finished, 0, 0);
    change.finished = &finished;
    int cancel_state; /* the writer uses what is on this stack */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    htw__mutex_lock(&journal->mutex);
    error = submit(journal, &change, wanted, ret_id);
    htw__mutex_unlock(&journal->mutex);
    if (error == 0) {
        /* Without the lock: a hundred callers of a batch would wait for it one after the other. */
        while (sem_wait(&finished) != 0)
            ; /* a signal */
        if (change.result != 0) {
            htw__mutex_lock(&journal->mutex);
            error = htw__change_report(journal, &change);
            htw__mutex_unlock(&journal->mutex);
        }
    }
    pthread_setcancelstate(cancel_state, NULL);
    sem_destroy(&finished);
    htw__change_destroy(journal, &change);
    return error;
}

int htw_journal_put(struct htw_journal *journal, int64_t deadline_ns, const void *payload,
                    size_t payload_size, uint64_t *ret_id) {
    struct htw_job job;
    struct htw_journal_change change = put_of(&job, deadline_ns, payload, payload_size);
    return make_now(journal, &change, false, ret_id);
}

static int end_now(struct htw_journal *journal, uint64_t id, bool is_cancel) {
    struct htw_journal_change change = end_of(&id);
    return make_now(journal, &change, is_cancel, NULL);
}

int htw_journal_cancel(struct htw_journal *journal, uint64_t id) {
    return end_now(journal, id, true);
}

int htw_journal_done(struct htw_journal *journal, uint64_t id) {
    return end_now(journal, id, false);
}

int htw_journal_apply(struct htw_journal *journal, const struct htw_journal_change *change) {
    return change == NULL ? htw__journal_fail_as(-EINVAL, "the change is NULL")
                          : make_now(journal, change, false, NULL);
}

int htw_journal_sync(struct htw_journal *journal) {
    const struct htw_journal_change nothing = HTW_JOURNAL_CHANGE_INIT;
    int error = make_now(journal, &nothing, false, NULL);
    if (error != 0)
        return error;
    htw__mutex_lock(&journal->mutex);
    error = journal->unreported;
    journal->unreported = 0;
    if (error != 0)
        htw__journal_fail_as(error, journal->unreported_sentence);
    htw__mutex_unlock(&journal->mutex);
    return error;
}

/* ---- changes that are made later */

static int make_later(struct htw_journal *journal, const struct htw_journal_change *wanted,
                      bool is_cancel, htw_durable *durable, void *arg, uint64_t *ret_id) {
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    struct htw__change *change = htw__change_create(journal, wanted, &error);
    if (change == NULL)
        return error;
    change->is_cancel = is_cancel;
    change->durable = durable;
    change->arg = arg;
    htw__mutex_lock(&journal->mutex);
    error = submit(journal, change, wanted, ret_id);
    htw__mutex_unlock(&journal->mutex);
    if (error != 0)
        htw__change_destroy(journal, change);
    return error;
}

int htw_journal_put_later(struct htw_journal *journal, int64_t deadline_ns, const void *payload,
                          size_t payload_size, htw_durable *durable, void *arg, uint64_t *ret_id) {
    struct htw_job job;
    struct htw_journal_change change = put_of(&job, deadline_ns, payload, payload_size);
    return make_later(journal, &change, false, durable, arg, ret_id);
}

static int end_later(struct htw_journal *journal, uint64_t id, bool is_cancel, htw_durable *durable,
                     void *arg) {
    struct htw_journal_change change = end_of(&id);
    return make_later(journal, &change, is_cancel, durable, arg, NULL);
}

int htw_journal_cancel_later(struct htw_journal *journal, uint64_t id, htw_durable *durable,
                             void *arg) {
    return end_later(journal, id, true, durable, arg);
}

int htw_journal_done_later(struct htw_journal *journal, uint64_t id, htw_durable *durable,
                           void *arg) {
    return end_later(journal, id, false, durable, arg);
}

int htw_journal_apply_later(struct htw_journal *journal, const struct htw_journal_change *change,
                            htw_durable *durable, void *arg) {
    return change == NULL ? htw__journal_fail_as(-EINVAL, "the change is NULL")
                          : make_later(journal, change, false, durable, arg, NULL);
}

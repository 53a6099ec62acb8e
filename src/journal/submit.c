/* SPDX-License-Identifier: MIT */
/* submit.c - the public calls that change something: they append to the queue of the writer. */
#include "writer.h"
#include "reader.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* Under the lock. `ret_id` receives the id of the first job, before that can be delivered. */
static int submit(struct htw_journal *journal, struct htw__change *change,
                  const struct htw_journal_change *wanted, uint64_t *ret_id) {
    int error = htw__change_admit(journal, change, wanted);
    if (error != 0)
        return error;
    if (ret_id != NULL)
        *ret_id = wanted->jobs[0].id;
    bool is_waited_for = change->finished != NULL;
    bool is_alone = is_waited_for && htw__writer_is_idle(journal);
    bool is_news = htw__change_append(journal, change);
    if (is_alone)
        htw__writer_run_here(journal, 1, HTW_NEVER_NS);
    else if (is_waited_for) /* also by the thread that processes the journal */
        pthread_cond_signal(&journal->work);
    else if (is_news)
        htw__journal_call_writer(journal);
    return 0;
}

/* ---- changes of one part */

static const struct htw_journal_change nothing = HTW_JOURNAL_CHANGE_INIT;

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

/* A step; `update` NULL: an invalid change. */
static struct htw_journal_change change_of(const struct htw_job_update *update) {
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    change.updates = update;
    change.update_count = 1;
    return change;
}

static struct htw_job_update step_of(enum htw_job_step step, uint64_t id) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = id;
    update.step = step;
    return update;
}

/* ---- changes that wait */

static int make_now(struct htw_journal *journal, const struct htw_journal_change *wanted,
                    const struct htw__special *special, uint64_t *ret_id, uint32_t *ret_kicked) {
    int error = htw__journal_refusal_to_wait(journal);
    if (error != 0)
        return error;
    struct htw__change *change = htw__change_create(journal, wanted, special, &error);
    if (change == NULL)
        return error;
    sem_t finished;
    sem_init(&finished, 0, 0);
    change->finished = &finished;
    int cancel_state; /* the writer uses what is on this stack */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    htw__mutex_lock(&journal->mutex);
    error = submit(journal, change, wanted, ret_id);
    htw__mutex_unlock(&journal->mutex);
    if (error == 0) {
        /* Without the lock: a hundred callers of a batch would wait for it one after the other. */
        while (sem_wait(&finished) != 0)
            ; /* a signal */
        if (change->result != 0) {
            htw__mutex_lock(&journal->mutex);
            error = htw__change_report(journal, change);
            htw__mutex_unlock(&journal->mutex);
        }
    }
    if (ret_kicked != NULL)
        *ret_kicked = change->kicked;
    pthread_setcancelstate(cancel_state, NULL);
    sem_destroy(&finished);
    htw__change_destroy(journal, change);
    return error;
}

int htw_journal_put(struct htw_journal *journal, int64_t deadline_ns, const void *payload,
                    size_t payload_size, uint64_t *ret_id) {
    struct htw_job job;
    struct htw_journal_change change = put_of(&job, deadline_ns, payload, payload_size);
    return make_now(journal, &change, NULL, ret_id, NULL);
}

int htw_journal_cancel(struct htw_journal *journal, uint64_t id) {
    const struct htw_job_update update = step_of(HTW_JOB_CANCEL, id);
    return htw_journal_update(journal, &update);
}

int htw_journal_done(struct htw_journal *journal, uint64_t id) {
    const struct htw_job_update ending = step_of(HTW_JOB_END, id);
    return htw_journal_update(journal, &ending);
}

int htw_journal_update(struct htw_journal *journal, const struct htw_job_update *update) {
    const struct htw_journal_change change = change_of(update);
    return make_now(journal, &change, NULL, NULL, NULL);
}

/* 0 or -EINVAL. */
static int describe_kick(const char *queue, uint32_t count, struct htw__special *ret_kick) {
    uint32_t most = count < HTW_KICK_MAX ? count : HTW_KICK_MAX;
    *ret_kick = (struct htw__special) { .has_queue = true, .queue = queue, .kick_count = most };
    return htw__queue_name_is_valid(queue) ? 0
                                           : htw__journal_fail_as(-EINVAL, "a kick is not valid");
}

int htw_journal_kick(struct htw_journal *journal, const char *queue, uint32_t count) {
    struct htw__special kick;
    uint32_t kicked = 0;
    int error = describe_kick(queue, count, &kick);
    if (error == 0)
        error = make_now(journal, &nothing, &kick, NULL, &kicked);
    return error == 0 ? (int)kicked : error;
}

int htw_journal_set_policy(struct htw_journal *journal, const char *queue,
                           const struct htw_queue_policy *policy) {
    static const struct htw_queue_policy none = HTW_QUEUE_POLICY_INIT;
    const struct htw__special special = { .has_queue = true,
                                          .queue = queue,
                                          .policy = policy == NULL ? &none : policy };
    if (!htw__queue_name_is_valid(queue) || htw__policy_check(special.policy) != 0)
        return htw__journal_fail_as(-EINVAL, "a policy is not valid");
    return make_now(journal, &nothing, &special, NULL, NULL);
}

int htw_journal_apply(struct htw_journal *journal, const struct htw_journal_change *change) {
    return make_now(journal, change, NULL, NULL, NULL);
}

int htw_journal_sync(struct htw_journal *journal) {
    int error = make_now(journal, &nothing, NULL, NULL, NULL);
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
                      const struct htw__special *special, htw_durable *durable, void *arg,
                      uint64_t *ret_id) {
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    struct htw__change *change = htw__change_create(journal, wanted, special, &error);
    if (change == NULL)
        return error;
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
    return make_later(journal, &change, NULL, durable, arg, ret_id);
}

int htw_journal_done_later(struct htw_journal *journal, uint64_t id, htw_durable *durable,
                           void *arg) {
    const struct htw_job_update ending = step_of(HTW_JOB_END, id);
    return htw_journal_update_later(journal, &ending, durable, arg);
}

int htw_journal_update_later(struct htw_journal *journal, const struct htw_job_update *update,
                             htw_durable *durable, void *arg) {
    const struct htw_journal_change change = change_of(update);
    return make_later(journal, &change, NULL, durable, arg, NULL);
}

int htw_journal_kick_later(struct htw_journal *journal, const char *queue, uint32_t count,
                           htw_durable *durable, void *arg) {
    struct htw__special kick;
    int error = describe_kick(queue, count, &kick);
    return error == 0 ? make_later(journal, &nothing, &kick, durable, arg, NULL) : error;
}

int htw_journal_apply_later(struct htw_journal *journal, const struct htw_journal_change *change,
                            htw_durable *durable, void *arg) {
    return make_later(journal, change, NULL, durable, arg, NULL);
}

/* SPDX-License-Identifier: MIT */
/* operation.c - submitting operations to the journal, and the notices. */
#include "operation.h"

#include "tube.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Jobs with a smaller priority are urgent, and so many of them are counted. */
#define URGENT_BELOW 1024u
#define URGENT_COUNTED 1024u
#define TUBES_AT_ONCE 64

/* ---- notices */

void htw__operation_post(struct htw__operation *operation, int result) {
    struct htw__server *server = operation->server;
    const uint64_t one = 1;
    operation->result = result;
    operation->next_done = NULL;
    pthread_mutex_lock(&server->mutex);
    bool was_empty = server->done == NULL;
    *server->last_done = operation;
    server->last_done = &operation->next_done;
    pthread_mutex_unlock(&server->mutex);
    if (was_empty && !pthread_equal(server->loop, pthread_self()))
        (void)!write(server->wake, &one, sizeof(one));
}

static void post_result(void *arg, int result) {
    htw__operation_post(arg, result);
}

static struct htw__serve_found *copy(const struct htw_job_info *info) {
    struct htw__serve_found *found = malloc(sizeof(*found) + info->payload_size);
    if (found == NULL)
        return NULL;
    found->info = *info;
    found->info.queue = NULL;
    found->info.payload = found->info.key = NULL;
    strcpy(found->tube, info->queue == NULL ? "" : info->queue);
    found->size = info->payload_size;
    if (info->payload_size > 0)
        memcpy(found->body, info->payload, info->payload_size);
    return found;
}

static bool keep(void *context, const struct htw_job_info *info) {
    struct htw__operation *operation = context;
    operation->found = copy(info);
    return true;
}

/* Changes that were made before are durable, and the file waits for nobody. */
static void peek(void *arg, int result) {
    struct htw__operation *operation = arg;
    if (result == 0)
        result = htw_journal_peek(operation->server->journal, operation->id, keep, operation);
    htw__operation_post(operation, result == 0 && operation->found == NULL ? -ENOMEM : result);
}

static void peek_first(void *arg, int result) {
    struct htw__operation *operation = arg;
    struct htw_list_place place = { { 0 } };
    enum htw_job_state state = operation->verb == HTW__VERB_PEEK_READY     ? HTW_JOB_READY
                               : operation->verb == HTW__VERB_PEEK_DELAYED ? HTW_JOB_DELAYED
                                                                           : HTW_JOB_BURIED;
    if (result == 0)
        result = htw_journal_list(operation->server->journal, operation->tube->name, state, &place,
                                  1, keep, operation);
    htw__operation_post(operation, result < 0                 ? result
                                   : result == 0              ? -ENOENT
                                   : operation->found == NULL ? -ENOMEM
                                                              : 0);
}

static bool is_urgent(void *context, const struct htw_job_info *info) {
    struct htw__operation *operation = context;
    operation->urgent += info->priority < URGENT_BELOW;
    return info->priority < URGENT_BELOW;
}

/* 0 or an error. */
static int count_urgent_of(struct htw__operation *operation, const char *tube) {
    struct htw_list_place place = { { 0 } };
    if (operation->urgent >= URGENT_COUNTED)
        return 0;
    int result =
        htw_journal_list(operation->server->journal, tube, HTW_JOB_READY, &place,
                         (uint32_t)(URGENT_COUNTED - operation->urgent), is_urgent, operation);
    return result < 0 ? result : 0;
}

static int submit_count(struct htw__operation *operation);

/* Of some tubes at a time: others write in between. */
static void count_urgent(void *arg, int result) {
    struct htw__operation *operation = arg;
    const struct htw__buffer *tubes = &operation->tubes;
    for (int i = 0; i < TUBES_AT_ONCE && operation->counted < tubes->size && result == 0; i++) {
        const char *name = tubes->bytes + operation->counted;
        operation->counted += strlen(name) + 1;
        result = count_urgent_of(operation, name);
    }
    bool goes_on =
        operation->counted < tubes->size && operation->urgent < URGENT_COUNTED && result == 0;
    if (goes_on)
        result = submit_count(operation);
    if (!goes_on || result != 0)
        htw__operation_post(operation, result);
}

static int submit_count(struct htw__operation *operation) {
    const struct htw_journal_change nothing = HTW_JOURNAL_CHANGE_INIT;
    return htw_journal_apply_later(operation->server->journal, &nothing, count_urgent, operation);
}

static bool keep_tube(void *context, const struct htw_job_info *info) {
    struct htw_job_info without_body = *info;
    without_body.payload_size = 0;
    return keep(context, &without_body);
}

/* The job is looked at first: its tube counts that. */
static void cancel(void *arg, int result) {
    struct htw__operation *operation = arg;
    struct htw_journal *journal = operation->server->journal;
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = operation->id;
    update.step = HTW_JOB_CANCEL;
    if (result == 0)
        result = htw_journal_peek(journal, operation->id, keep_tube, operation);
    if (result == 0)
        result = htw_journal_update_later(journal, &update, post_result, operation);
    if (result != 0)
        htw__operation_post(operation, result);
}

/* The lease is for ever: the server ends it. Without memory for the copy the job is given back when the operation is
   in the loop. */
static void leased(void *arg, int result, const struct htw_delivery *delivery) {
    struct htw__operation *operation = arg;
    if (result == 0) {
        const struct htw_job_info info = {
            .id = delivery->id,
            .queue = delivery->queue,
            .payload = delivery->payload,
            .payload_size = delivery->payload_size,
            .lease_ns = delivery->lease_ns,
            .priority = delivery->priority,
            .attempts = delivery->attempt,
        };
        operation->id = delivery->id;
        operation->attempt = delivery->attempt;
        operation->found = copy(&info);
    }
    htw__operation_post(operation, result);
}

/* ---- in the loop */

bool htw__operation_is_under_way(struct htw__operation *operation, int error) {
    if (error != 0) {
        operation->result = error;
        return false;
    } /* otherwise the notice may have come already */
    operation->server->operations++;
    operation->server->bytes_under_way += operation->bytes;
    if (operation->tube != NULL)
        operation->tube->holders++;
    return true;
}

bool htw__operation_put(struct htw__operation *operation, const struct htw__serve_line *line,
                        const char *body) {
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    struct htw_job job = HTW_JOB_INIT;
    job.payload = body;
    job.payload_size = line->size;
    job.queue = operation->tube->name;
    job.priority = line->priority;
    job.lease_ns = (line->ttr_s == 0 ? 1 : line->ttr_s) * HTW_SECOND;
    if (line->delay_s > 0)
        job.deadline_ns = htw__clock_realtime_ns() + line->delay_s * HTW_SECOND;
    change.jobs = &job;
    change.job_count = 1;
    struct htw_journal *journal = operation->server->journal;
    int error = htw_journal_apply_later(journal, &change, post_result, operation);
    operation->id = job.id;
    return htw__operation_is_under_way(operation, error);
}

bool htw__operation_update(struct htw__operation *operation, const struct htw_job_update *update) {
    return htw__operation_is_under_way(
        operation,
        htw_journal_update_later(operation->server->journal, update, post_result, operation));
}

bool htw__operation_kick(struct htw__operation *operation, uint32_t count) {
    return htw__operation_is_under_way(
        operation, htw_journal_kick_later(operation->server->journal, operation->tube->name, count,
                                          post_result, operation));
}

static bool look(struct htw__operation *operation, htw_durable *notice) {
    const struct htw_journal_change nothing = HTW_JOURNAL_CHANGE_INIT;
    return htw__operation_is_under_way(
        operation,
        htw_journal_apply_later(operation->server->journal, &nothing, notice, operation));
}

bool htw__operation_peek(struct htw__operation *operation) {
    return look(operation, peek);
}

bool htw__operation_peek_first(struct htw__operation *operation) {
    return look(operation, peek_first);
}

int htw__operation_count_urgent(struct htw__operation *operation) {
    return submit_count(operation);
}

bool htw__operation_cancel(struct htw__operation *operation) {
    return look(operation, cancel);
}

bool htw__operation_lease(struct htw__operation *operation, const char *const *tubes, size_t count,
                          bool waits, uint64_t *ret_request) {
    struct htw_lease lease = HTW_LEASE_INIT;
    lease.queues = tubes;
    lease.queue_count = count;
    lease.id = operation->id;
    lease.lease_ns = HTW_NEVER_NS;
    lease.wait_until_ns = waits ? HTW_NEVER_NS : INT64_MIN;
    return htw__operation_is_under_way(operation,
                                       htw_journal_lease_later(operation->server->journal, &lease,
                                                               leased, operation, ret_request));
}

void htw__operation_end_wait(struct htw__connection *connection, enum htw__wait_end end) {
    struct htw__server *server = connection->server;
    if (connection->request == 0)
        return;
    connection->end = end;
    htw__server_stop_timer(&connection->timer);
    (void)htw_journal_lease_cancel(server->journal, connection->request); /* or a job comes */
}

struct htw__operation *htw__operations_take(struct htw__server *server) {
    pthread_mutex_lock(&server->mutex);
    struct htw__operation *done = server->done;
    server->done = NULL;
    server->last_done = &server->done;
    pthread_mutex_unlock(&server->mutex);
    return done;
}

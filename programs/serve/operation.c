/* SPDX-License-Identifier: MIT */
/* operation.c - submitting operations to the journal, and the notices. */
#include "operation.h"

#include "tube.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- notices */

void htw__operation_post(void *arg, int result) {
    struct htw__operation *operation = arg;
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

struct htw__serve_found *htw__found_copy(const struct htw_job_info *info) {
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
        operation->found = htw__found_copy(&info);
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

bool htw__operation_put(struct htw__operation *operation, const struct htw__serve_line *line) {
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    struct htw_job job = HTW_JOB_INIT;
    job.payload = line->body;
    job.payload_size = line->size;
    job.queue = operation->tube->name;
    job.priority = line->priority;
    job.lease_ns = (line->ttr_s == 0 ? 1 : line->ttr_s) * HTW_SECOND;
    if (line->delay_s > 0)
        job.deadline_ns = htw__clock_realtime_ns() + line->delay_s * HTW_SECOND;
    change.jobs = &job;
    change.job_count = 1;
    struct htw_journal *journal = operation->server->journal;
    int error = htw_journal_apply_later(journal, &change, htw__operation_post, operation);
    operation->id = job.id;
    return htw__operation_is_under_way(operation, error);
}

bool htw__operation_update(struct htw__operation *operation, const struct htw_job_update *update) {
    return htw__operation_is_under_way(operation,
                                       htw_journal_update_later(operation->server->journal, update,
                                                                htw__operation_post, operation));
}

bool htw__operation_kick(struct htw__operation *operation, uint32_t count) {
    return htw__operation_is_under_way(
        operation, htw_journal_kick_later(operation->server->journal, operation->tube->name, count,
                                          htw__operation_post, operation));
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
    htw__server_stop_timer(server, &connection->timer);
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

/* SPDX-License-Identifier: MIT */
/*
 * lease.c - `htw journal lease`: takes the jobs of a queue as they come due, one at a time. The lease is in the memory of this
 * process: if that is killed, the job is ready again for the next one.
 */
#include "actions.h"

#include "../../src/base/clock.h"
#include "../kit/job.h"
#include "../kit/command_line.h"
#include "../kit/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* After a failure, of a queue without a policy: a second, two, four, and so on. */
#define PAUSE_NS(attempt) (HTW_SECOND << ((attempt) < 12 ? (attempt)-1 : 11))

/* A job, and what is needed to handle it. */
struct taken {
    const struct htw__journal_request *request;
    const char *queue;
    struct htw_journal *journal;
    struct htw_delivery job; /* without what it points to */
    FILE *stream;            /* to write it to */
};

/* In the thread that writes. */
static void take(void *arg, int result, const struct htw_delivery *delivery) {
    struct taken *taken = arg;
    if (result == 0)
        taken->job = *delivery;
}

static bool write_job(void *context, const struct htw_job_info *job) {
    const struct taken *taken = context;
    if (taken->request->json)
        htw__job_write(&(struct htw__json) { .out = taken->stream }, job, SIZE_MAX);
    else
        fwrite(job->payload, 1, job->payload_size, taken->stream);
    if (taken->request->json || taken->stream == stdout)
        putc('\n', taken->stream);
    return true;
}

static bool hand_out(struct taken *taken, FILE *stream) {
    taken->stream = stream;
    int error = htw_journal_peek(taken->journal, taken->job.id, write_job, taken);
    return error == -ENOENT || htw__journal_succeeds(error); /* another job has replaced it */
}

/* Whether the command has succeeded. It may leave its input unread. */
static bool execute(struct taken *taken) {
    char id[24];
    snprintf(id, sizeof(id), "%" PRIu64, taken->job.id);
    FILE *stream = setenv("JOB_ID", id, 1) == 0 ? popen(taken->request->command, "we") : NULL;
    if (stream == NULL) {
        htw__terminal_error("%s: %s", taken->request->command, strerror(errno));
        return false;
    }
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    bool is_written = hand_out(taken, stream);
    bool success = pclose(stream) == 0 && is_written;
    signal(SIGPIPE, before);
    return success;
}

static bool is_next_asked_for(void) {
    (void)!scanf("%*[^\n]");
    return getchar() == '\n';
}

/* After a failure by the policy of the queue, or after a pause. */
static bool end(const struct taken *taken, bool success) {
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = taken->job.id;
    update.attempt = taken->job.attempt;
    if (!success) {
        update.step = update.attempt < taken->request->attempts ? HTW_JOB_RELEASE : HTW_JOB_BURY;
        (void)htw_journal_get_queue(taken->journal, taken->queue, &stats);
        if (stats.policy.initial_ns == 0 && stats.policy.attempts_max == 0)
            update.deadline_ns = htw__clock_realtime_ns() + PAUSE_NS(update.attempt);
    }
    int error = htw_journal_update(taken->journal, &update);
    return error == -ENOENT || error == -ESTALE || htw__journal_succeeds(error);
}

/* Takes a job; returns whether to go on: it has ended, or was given back. No other process takes jobs of the file. */
static bool take_one(struct taken *taken) {
    struct htw_lease lease = HTW_LEASE_INIT;
    lease.queues = &taken->queue;
    lease.queue_count = 1;
    lease.lease_ns = lease.wait_until_ns = HTW_NEVER_NS;
    if (!htw__journal_succeeds(htw_journal_lease(taken->journal, &lease, take, taken)))
        return false;
    if (taken->request->command != NULL)
        return end(taken, execute(taken));
    return hand_out(taken, stdout) && htw__terminal_flush() && is_next_asked_for() &&
           end(taken, true);
}

/* A file that does not exist becomes that of a guest: others may put jobs into it at any time. */
int htw__journal_lease(const struct htw__journal_request *request) {
    struct htw_scheduler *scheduler = NULL;
    struct taken taken = { request, htw__journal_queue_of(request), .stream = NULL };
    bool is_guest = true;
    if (access(request->path, F_OK) == 0 && !htw__journal_identify(request->path, &is_guest))
        return HTW__EXIT_FAILED;
    if (htw_scheduler_create(&scheduler, NULL) != 0)
        htw__terminal_error("%s", strerror(ENOMEM));
    else
        taken.journal = htw__journal_open_unserved(request->path, is_guest, scheduler);
    while (taken.journal != NULL && take_one(&taken))
        continue;
    htw_journal_close(taken.journal);
    htw_scheduler_destroy(scheduler);
    return feof(stdin) ? 0 : HTW__EXIT_FAILED;
}

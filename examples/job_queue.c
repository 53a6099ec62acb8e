/* SPDX-License-Identifier: MIT */
/*
 * job_queue.c - a queue of jobs that are tried again with back-off, and that survives kill -9.
 *
 * Jobs are in a journal. A job that fails ends, and its next attempt is put, in one change: a crash
 * leaves the one or the other. The state of the back-off is part of the payload, so it survives, too.
 *
 * The work of a job may be done twice: a crash can come between the work and the moment when its end
 * is durable. So what it does must be harmless the second time. Here it creates a file, named after
 * the job; in a shop, it would be a payment with the id of the job as its reference.
 *
 * usage: job_queue FOLDER     starts a worker, kills it (SIGKILL) again and again until all is done,
 *                             and checks that each job was done; without FOLDER in a folder in /tmp
 */
#define _GNU_SOURCE /* mkdtemp(), usleep() */
#include <htw/backoff.h>
#include <htw/journal.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define JOBS 60
#define ATTEMPTS_MAX 10

/* What the journal keeps of a job. */
struct work {
    unsigned number;
    unsigned attempts;
    struct htw_backoff backoff;
};

static const char *folder;

/* ---- the worker */

/* What may fail: here, every third job succeeds at its fourth attempt only. */
static bool do_work(const struct work *work) {
    if (work->number % 3 == 0 && work->attempts < 4)
        return false;
    char name[300];
    snprintf(name, sizeof(name), "%s/done-%u", folder, work->number);
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    return fd >= 0 && close(fd) == 0;
}

/* The job ends, and the next attempt is put, both or neither. Nothing waits for the disk here. */
static int try_again_later(const struct htw_delivery *delivery, struct work *work) {
    int64_t delay_ns = htw_backoff_next(&work->backoff);
    struct htw_job next = HTW_JOB_INIT;
    next.deadline_ns = delivery->deadline_ns + delivery->late_ns + delay_ns;
    next.payload = work;
    next.payload_size = sizeof(*work);
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    change.done = &delivery->id;
    change.done_count = 1;
    change.jobs = &next;
    change.job_count = 1;
    return htw_journal_apply_later(delivery->journal, &change, NULL, NULL);
}

static void attempt(void *context, const struct htw_delivery *delivery) {
    (void)context;
    struct work work;
    memcpy(&work, delivery->payload, sizeof(work));
    work.attempts++;
    int error = 0;
    if (!do_work(&work) && work.attempts < ATTEMPTS_MAX)
        error = try_again_later(delivery, &work);
    else
        error = htw_journal_done_later(delivery->journal, delivery->id, NULL, NULL);
    if (error != 0) /* the job stays in flight, and comes again after the next start */
        fprintf(stderr, "job %u: %s\n", work.number, htw_journal_error());
}

/* All jobs at once, with a mark that says that they were put: a later start puts no others. */
static int put_jobs(struct htw_journal *journal, int64_t now_ns) {
    static struct work works[JOBS];
    struct htw_job jobs[JOBS];
    for (unsigned i = 0; i < JOBS; i++) {
        struct htw_backoff_options options = HTW_BACKOFF_OPTIONS_INIT;
        options.initial_ns = 20 * HTW_MILLISECOND;
        options.seed = i;
        works[i].number = i;
        if (htw_backoff_init(&works[i].backoff, &options) != 0)
            return 1;
        htw_job_init(&jobs[i]);
        jobs[i].deadline_ns = now_ns + (int64_t)i * 5 * HTW_MILLISECOND;
        jobs[i].payload = &works[i];
        jobs[i].payload_size = sizeof(works[i]);
    }
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    change.jobs = jobs;
    change.job_count = JOBS;
    change.mark = "put";
    change.mark_size = 3;
    return htw_journal_apply(journal, &change);
}

static int run_worker(void) {
    char path[300];
    struct htw_scheduler *scheduler;
    struct htw_journal *journal;
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = attempt;
    snprintf(path, sizeof(path), "%s/queue", folder);
    if (htw_scheduler_create(&scheduler, NULL) != 0)
        return 1;
    if (htw_journal_open(&journal, scheduler, path, &options) != 0) {
        fprintf(stderr, "%s\n", htw_journal_error());
        return 1;
    }
    if (htw_journal_get_mark(journal, NULL, 0) == 0 &&
        put_jobs(journal, htw_scheduler_now_by(scheduler, HTW_CLOCK_REALTIME)) != 0) {
        fprintf(stderr, "%s\n", htw_journal_error());
        return 1;
    }
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    do {
        usleep(5000);
        htw_journal_get_stats(journal, &stats);
    } while (stats.jobs > 0);
    int error = htw_journal_close(journal); /* before the scheduler */
    htw_scheduler_destroy(scheduler);
    return error != 0;
}

/* ---- who kills it */

/* Whether a worker that lived for so long has come to its end. */
static bool run_for(unsigned milliseconds) {
    pid_t worker = fork();
    if (worker == 0)
        _exit(run_worker());
    int status = 0;
    for (unsigned waited = 0; waited < milliseconds; waited++) {
        if (waitpid(worker, &status, WNOHANG) == worker)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        usleep(1000);
    }
    kill(worker, SIGKILL);
    waitpid(worker, &status, 0);
    return false;
}

int main(int argc, char **argv) {
    char own_folder[] = "/tmp/job_queue-XXXXXX", name[300], command[400];
    folder = argc > 1 ? argv[1] : mkdtemp(own_folder);
    if (folder == NULL)
        return 1;
    unsigned kills = 0, done = 0;
    while (!run_for(40 + 10 * kills))
        if (++kills == 100)
            return 1;
    for (unsigned i = 0; i < JOBS; i++) {
        snprintf(name, sizeof(name), "%s/done-%u", folder, i);
        done += access(name, F_OK) == 0;
    }
    printf("%u of %u jobs were done, in spite of %u kills\n", done, (unsigned)JOBS, kills);
    if (argc <= 1) {
        snprintf(command, sizeof(command), "rm -rf %s", folder);
        if (system(command) != 0)
            return 1;
    }
    return done == JOBS ? 0 : 1;
}

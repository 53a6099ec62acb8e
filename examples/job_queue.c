/* SPDX-License-Identifier: MIT */
/*
 * job_queue.c - a queue of jobs that are tried again with back-off, and that survives kill -9.
 *
 * Jobs are in a queue of a journal, whose policy says when a job that has failed is tried again. A worker leases one job
 * after the other. A job that was done ends; one that has failed is released.
 *
 * The work of a job may be done twice: a crash can come between the work and the moment when its end
 * is durable. So what it does must be harmless the second time. Here it creates a file, named after
 * the job; in a shop, it would be a payment with the id of the job as its reference.
 *
 * usage: job_queue FOLDER     starts a worker, kills it (SIGKILL) again and again until all is done,
 *                             and checks that each job was done; without FOLDER in a folder in /tmp
 */
#define _GNU_SOURCE /* mkdtemp(), usleep() */
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

static const char *folder;
static const char *const queues[] = { "work" };

/* ---- the worker */

/* What may fail: here, every third job succeeds at its fourth attempt only. */
static bool do_work(unsigned number, unsigned attempt) {
    if (number % 3 == 0 && attempt < 4)
        return false;
    char name[300];
    snprintf(name, sizeof(name), "%s/done-%u", folder, number);
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    return fd >= 0 && close(fd) == 0;
}

static void attempt(void *journal, int result, const struct htw_delivery *delivery);

static void ask_for_work(struct htw_journal *journal) {
    struct htw_lease lease = HTW_LEASE_INIT;
    lease.queues = queues;
    lease.queue_count = 1;
    lease.wait_until_ns = HTW_NEVER_NS;
    if (htw_journal_lease_later(journal, &lease, attempt, journal, NULL) != 0)
        fprintf(stderr, "%s\n", htw_journal_error());
}

/* In the thread that writes, so nothing waits for the disk here. Longer work is handed to other threads. */
static void attempt(void *journal, int result, const struct htw_delivery *delivery) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    unsigned number;
    if (result != 0) /* the journal is being closed */
        return;
    memcpy(&number, delivery->payload, sizeof(number));
    update.id = delivery->id;
    update.attempt = delivery->attempt;
    update.step = do_work(number, delivery->attempt) ? HTW_JOB_END : HTW_JOB_RELEASE;
    if (htw_journal_update_later(journal, &update, NULL, NULL) != 0) /* the lease ends by itself */
        fprintf(stderr, "job %u: %s\n", number, htw_journal_error());
    ask_for_work(journal);
}

/* All jobs at once, with a mark that says that they were put: a later start puts no others. */
static int put_jobs(struct htw_journal *journal) {
    unsigned numbers[JOBS];
    struct htw_job jobs[JOBS];
    struct htw_queue_policy policy = HTW_QUEUE_POLICY_INIT;
    policy.attempts_max = ATTEMPTS_MAX; /* then it is buried */
    policy.initial_ns = 20 * HTW_MILLISECOND;
    policy.cap_ns = HTW_SECOND;
    if (htw_journal_set_policy(journal, queues[0], &policy) != 0)
        return 1;
    for (unsigned i = 0; i < JOBS; i++) {
        numbers[i] = i;
        htw_job_init(&jobs[i]);
        jobs[i].queue = queues[0];
        jobs[i].payload = &numbers[i];
        jobs[i].payload_size = sizeof(numbers[i]);
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
    snprintf(path, sizeof(path), "%s/queue", folder);
    if (htw_scheduler_create(&scheduler, NULL) != 0)
        return 1;
    if (htw_journal_open(&journal, scheduler, path, NULL) != 0) {
        fprintf(stderr, "%s\n", htw_journal_error());
        return 1;
    }
    if (htw_journal_get_mark(journal, NULL, 0) == 0 && put_jobs(journal) != 0) {
        fprintf(stderr, "%s\n", htw_journal_error());
        return 1;
    }
    ask_for_work(journal);
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

/* SPDX-License-Identifier: MIT */
/*
 * job_queue.c - a queue of jobs that are tried again with back-off, and that survives kill -9.
 *
 * Jobs are in a queue of a journal, whose policy says when a job that has failed is tried again. Threads lease one job
 * after the other, each for itself. A job that was done ends; one that has failed is released.
 *
 * The work of a job may be done twice: a crash can come between the work and the moment when its end
 * is durable. So what it does must be harmless the second time. Here it creates a file, named after
 * the job; in a shop, it would be a payment with the id of the job as its reference.
 *
 * usage: job_queue FOLDER     starts a program with workers, kills it (SIGKILL) again and again until all is done,
 *                             and checks that each job was done; without FOLDER in a folder in /tmp
 */
#define _GNU_SOURCE /* mkdtemp(), usleep() */
#include <htw/journal_inspect.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define JOBS 60
#define ATTEMPTS_MAX 10
#define WORKERS 4

static const char *folder;
static const char *const queues[] = { "work" };

/* ---- the workers */

static atomic_bool all_is_done;

/* What may fail: here, every third job succeeds at its fourth attempt only. */
static bool do_work(unsigned number, unsigned attempt) {
    if (number % 3 == 0 && attempt < 4)
        return false;
    char name[300];
    snprintf(name, sizeof(name), "%s/done-%u", folder, number);
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    return fd >= 0 && close(fd) == 0;
}

/* What a worker needs of a job. */
struct job {
    uint64_t id;
    uint32_t attempt;
    unsigned number;
};

/* In the thread that writes, for which all others wait: copies the job, and no more. */
static void take(void *arg, int result, const struct htw_delivery *delivery) {
    struct job *job = arg;
    if (result != 0)
        return;
    job->id = delivery->id;
    job->attempt = delivery->attempt;
    memcpy(&job->number, delivery->payload, sizeof(job->number));
}

/* Waits for a job, for a while: then it looks whether the program ends. */
static int lease_job(struct htw_journal *journal, struct job *job) {
    struct htw_lease lease = HTW_LEASE_INIT;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    lease.queues = queues;
    lease.queue_count = 1;
    lease.wait_until_ns = now.tv_sec * HTW_SECOND + now.tv_nsec + 50 * HTW_MILLISECOND;
    return htw_journal_lease(journal, &lease, take, job);
}

/* A thread: the work, and the wait for the disk when it has ended, hold up nobody else. */
static void *work(void *journal) {
    struct job job;
    int error = 0;
    while ((error == 0 || error == -ETIMEDOUT) && !all_is_done) {
        error = lease_job(journal, &job);
        if (error != 0)
            continue;
        struct htw_job_update update = HTW_JOB_UPDATE_INIT;
        update.id = job.id;
        update.attempt = job.attempt; /* refused, if the lease has ended meanwhile */
        update.step = do_work(job.number, job.attempt) ? HTW_JOB_END : HTW_JOB_RELEASE;
        error = htw_journal_update(journal, &update);
    }
    if (error != 0 && error != -ETIMEDOUT)
        fprintf(stderr, "%s\n", htw_journal_error());
    return NULL;
}

/* All jobs at once, and one that never comes: while that has the key, a later start puts no others. */
static int put_jobs(struct htw_journal *journal) {
    unsigned numbers[JOBS];
    struct htw_job jobs[JOBS + 1];
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
    htw_job_init(&jobs[JOBS]);
    jobs[JOBS].deadline_ns = HTW_NEVER_NS;
    jobs[JOBS].key = "put";
    jobs[JOBS].key_size = 3;
    jobs[JOBS].flags = HTW_JOB_IF_ABSENT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    change.jobs = jobs;
    change.job_count = JOBS + 1;
    int error = htw_journal_apply(journal, &change);
    return error == -EEXIST ? 0 : error;
}

static int run_workers(void) {
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
    if (put_jobs(journal) != 0) {
        fprintf(stderr, "%s\n", htw_journal_error());
        return 1;
    }
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, work, journal) != 0)
            return 1;
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    do {
        usleep(5000);
        htw_journal_get_stats(journal, &stats);
    } while (stats.jobs > 1);
    all_is_done = true;
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    int error = htw_journal_close(
        journal); /* no thread is in a call with it any more; before the scheduler */
    htw_scheduler_destroy(scheduler);
    return error != 0;
}

/* ---- who kills it */

/* Whether a program that lived for so long has come to its end. */
static bool run_for(unsigned milliseconds) {
    pid_t program = fork();
    if (program == 0)
        _exit(run_workers());
    int status = 0;
    for (unsigned waited = 0; waited < milliseconds; waited++) {
        if (waitpid(program, &status, WNOHANG) == program)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        usleep(1000);
    }
    kill(program, SIGKILL);
    waitpid(program, &status, 0);
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

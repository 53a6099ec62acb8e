/* SPDX-License-Identifier: MIT */
/*
 * journal_crash.c - kills a process that uses a journal, again and again, and judges what is left.
 *
 * The judge starts a worker, which opens the journal and puts, replaces, cancels and ends jobs with
 * several threads, while jobs are delivered. The worker reports over a pipe: before each call what it
 * is about to ask, and then the answer. The judge kills it (SIGKILL) after a random time, reads the
 * pipe to its end, and starts the next worker on the same file. What holds at the end of each round
 * is what the reports allow:
 *  - a delivery is not early, and not of a job whose end was answered with 0 in an earlier round;
 *  - a job whose put was answered with 0, and whose end was not even asked for, is delivered by the
 *    last worker, which is left alone until nothing is left.
 *
 * usage: journal_crash [ROUNDS [SEED [FOLDER]]]
 */
#include "../support/random.h"

#include <htw/journal.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3

/* ---- what the worker reports: one write() of less than PIPE_BUF is not divided */

enum report_kind {
    PUT,       /* answered with 0 */
    END_ASKED, /* a done or cancel begins */
    ENDED,     /* answered with 0 */
    DELIVERED, /* to `deliver` */
    EARLY,     /* before its deadline */
    FAILED,    /* an unexpected answer */
    QUIET,     /* nothing is left */
};

struct report {
    enum report_kind kind;
    int result;
    uint64_t id;
};

/* ---- the worker */

static int report_fd;
static struct htw_scheduler *scheduler;
static struct htw_journal *journal;
static bool drains; /* puts nothing, and ends all */

static int64_t wall_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * HTW_SECOND + now.tv_nsec;
}

static void report(enum report_kind kind, uint64_t id, int result) {
    const struct report line = { kind, result, id };
    if (write(report_fd, &line, sizeof(line)) != sizeof(line))
        _exit(9);
}

static bool is_expected(int result) {
    return result == -ENOENT || result == -EALREADY;
}

static void end(uint64_t id, bool is_cancel) {
    report(END_ASKED, id, 0);
    int result = is_cancel ? htw_journal_cancel(journal, id) : htw_journal_done(journal, id);
    if (result == 0)
        report(ENDED, id, 0);
    else if (!is_expected(result))
        report(FAILED, id, result);
}

struct ending {
    uint64_t id;
};

static void ended_later(void *arg, int result) {
    struct ending *ending = arg;
    if (result == 0)
        report(ENDED, ending->id, 0);
    else if (!is_expected(result))
        report(FAILED, ending->id, result);
    free(ending);
}

/* One job in eight is not ended, and comes again in the next round. */
static void deliver(void *context, const struct htw_delivery *delivery) {
    (void)context;
    uint64_t id = delivery->id;
    report(delivery->deadline_ns > wall_ns() ? EARLY : DELIVERED, id, 0);
    if (!drains && id % 8 == 0)
        return;
    struct ending *ending = malloc(sizeof(*ending));
    if (ending == NULL)
        _exit(9);
    ending->id = id;
    report(END_ASKED, id, 0);
    int result = htw_journal_done_later(delivery->journal, id, ended_later, ending);
    if (result != 0)
        report(FAILED, id, result);
}

static void *change(void *arg) {
    struct random_source source = { (uintptr_t)arg };
    uint64_t ids[16] = { 0 };
    for (unsigned i = 0;; i++) {
        char payload[2000] = { 0 };
        uint64_t *id = &ids[random_below(&source, 16)];
        if (*id != 0 && random_one_in(&source, 3)) {
            end(*id, random_one_in(&source, 2));
            *id = 0;
        }
        /* Up to three seconds ahead, some far, some past. */
        int64_t deadline_ns = wall_ns() + (int64_t)random_below(&source, 3500) * HTW_MILLISECOND -
                              500 * HTW_MILLISECOND;
        uint64_t new_id;
        int result = htw_journal_put(journal, deadline_ns, payload,
                                     random_below(&source, sizeof(payload)), &new_id);
        if (result == 0)
            report(PUT, new_id, 0);
        else
            report(FAILED, new_id, result);
        *id = new_id;
    }
    return NULL;
}

static void work(const char *path, uint64_t seed) {
    struct htw_scheduler_options of_scheduler = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    of_scheduler.clock = HTW_CLOCK_REALTIME;
    of_scheduler.tick_ns = 10 * HTW_MICROSECOND;
    options.deliver = deliver;
    options.parallel = 1 + (uint32_t)(seed % 3);
    options.near_ns = HTW_SECOND; /* so that most jobs are read from the file */
    options.max_memory = 100000;
    /* What a kill must not lose is the same; and it is faster, so that more happens in a round. */
    options.synchronous = seed % 4 == 0 ? HTW_SYNCHRONOUS_FULL : HTW_SYNCHRONOUS_NORMAL;
    if (htw_scheduler_create(&scheduler, &of_scheduler) != 0)
        _exit(9);
    int result = htw_journal_open(&journal, scheduler, path, &options);
    if (result != 0) {
        fprintf(stderr, "worker: %s\n", htw_journal_error());
        report(FAILED, 0, result);
        _exit(9);
    }
    if (drains) {
        struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
        do {
            usleep(20000);
            htw_journal_get_stats(journal, &stats);
        } while (stats.jobs > 0);
        report(QUIET, 0, htw_journal_close(journal));
        _exit(0);
    }
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, change, (void *)(uintptr_t)(seed * THREADS + i)) != 0)
            _exit(9);
    }
    for (;;)
        pause();
}

/* ---- the judge */

struct job {
    uint64_t id;
    bool was_put, end_asked, has_ended, was_delivered;
    bool must_come;       /* to the last worker */
    unsigned ended_round; /* whose worker has ended it */
};

static struct job *jobs; /* a hash table with linear probing */
static size_t capacity = 1 << 16, count;
static uint64_t deliveries, repeated, reports_of_puts, reports_of_ends;

static struct job *job_of(uint64_t id) {
    size_t i = (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 20) % capacity;
    while (jobs[i].id != 0 && jobs[i].id != id)
        i = (i + 1) % capacity;
    return &jobs[i];
}

static struct job *known_job(uint64_t id) {
    if (2 * count > capacity) {
        struct job *old = jobs;
        size_t old_capacity = capacity;
        capacity *= 2;
        jobs = calloc(capacity, sizeof(*jobs));
        if (jobs == NULL)
            exit(1);
        for (size_t i = 0; i < old_capacity; i++)
            if (old[i].id != 0)
                *job_of(old[i].id) = old[i];
        free(old);
    }
    struct job *job = job_of(id);
    count += job->id == 0;
    job->id = id;
    return job;
}

static void complain(const char *what, unsigned round, uint64_t id, int result) {
    fprintf(stderr, "round %u: %s: job %llu, result %d\n", round, what, (unsigned long long)id,
            result);
    exit(1);
}

/* True: the worker says that nothing is left. */
static bool judge(const struct report *report, unsigned round) {
    struct job *job = report->id == 0 ? NULL : known_job(report->id);
    switch (report->kind) {
    case PUT:
        job->was_put = true;
        reports_of_puts++;
        break;
    case END_ASKED:
        job->end_asked = true;
        break;
    case ENDED:
        job->has_ended = true;
        job->ended_round = round;
        reports_of_ends++;
        break;
    case DELIVERED:
        deliveries++;
        repeated += job->was_delivered;
        /* In the same round, its end may have been made while `deliver` was about to report. */
        if (job->has_ended && job->ended_round < round)
            complain("delivered after its end was durable", round, report->id, 0);
        job->was_delivered = true;
        break;
    case EARLY:
        complain("early", round, report->id, 0);
        break;
    case FAILED:
        complain("a call has failed", round, report->id, report->result);
        break;
    case QUIET:
        if (report->result != 0)
            complain("the close has failed", round, 0, report->result);
        return true;
    }
    return false;
}

/* The reports of a round up to `deadline_ms` from now, or, below 0, to their end. */
static bool read_reports(int fd, unsigned round, int deadline_ms) {
    struct report reports[64];
    struct timespec begin, now;
    bool is_quiet = false;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (;;) {
        int wait_ms = -1;
        if (deadline_ms >= 0) {
            clock_gettime(CLOCK_MONOTONIC, &now);
            wait_ms = deadline_ms - (int)((now.tv_sec - begin.tv_sec) * 1000 +
                                          (now.tv_nsec - begin.tv_nsec) / 1000000);
            if (wait_ms <= 0)
                return is_quiet;
        }
        struct pollfd ready = { fd, POLLIN, 0 };
        if (poll(&ready, 1, wait_ms) <= 0)
            continue;
        ssize_t size = read(fd, reports, sizeof(reports));
        if (size <= 0)
            return is_quiet;
        for (size_t i = 0; i < (size_t)size / sizeof(*reports); i++)
            is_quiet = judge(&reports[i], round) || is_quiet;
    }
}

static void run_round(const char *path, unsigned round, uint64_t seed, int life_ms) {
    int ends[2];
    if (pipe(ends) != 0)
        exit(1);
    pid_t worker = fork();
    if (worker == 0) {
        close(ends[0]);
        report_fd = ends[1];
        drains = life_ms < 0;
        work(path, seed);
    }
    close(ends[1]);
    bool is_quiet = read_reports(ends[0], round, life_ms);
    if (life_ms >= 0)
        kill(worker, SIGKILL);
    is_quiet = read_reports(ends[0], round, -1) || is_quiet;
    close(ends[0]);
    int status;
    waitpid(worker, &status, 0);
    if (life_ms >= 0 && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
        complain("the worker has ended by itself", round, 0, status);
    if (life_ms < 0 && !is_quiet)
        complain("the last worker has not come to its end", round, 0, status);
}

int main(int argc, char **argv) {
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 500;
    struct random_source source = { argc > 2 ? strtoull(argv[2], NULL, 0) : 1 };
    char folder[200], path[256], command[300];
    snprintf(folder, sizeof(folder), "%s/htw-crash-XXXXXX", argc > 3 ? argv[3] : "/tmp");
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof(path), "%s/journal", folder);
    jobs = calloc(capacity, sizeof(*jobs));
    if (jobs == NULL)
        return 1;
    for (unsigned round = 0; round < rounds; round++)
        run_round(path, round, random_next(&source) >> 32,
                  (int)random_below(&source, random_one_in(&source, 4) ? 20 : 250));
    for (size_t i = 0; i < capacity; i++) {
        jobs[i].must_come = jobs[i].was_put && !jobs[i].end_asked;
        jobs[i].was_delivered = jobs[i].was_delivered && !jobs[i].must_come;
    }
    run_round(path, rounds, 1, -1);
    uint64_t lost = 0;
    for (size_t i = 0; i < capacity; i++)
        lost += jobs[i].must_come && !jobs[i].was_delivered;
    printf("%u kills: %llu puts and %llu ends were durable; %llu deliveries, %llu of them not the "
           "first; %llu jobs lost\n",
           rounds, (unsigned long long)reports_of_puts, (unsigned long long)reports_of_ends,
           (unsigned long long)deliveries, (unsigned long long)repeated, (unsigned long long)lost);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    if (lost > 0 || reports_of_puts < rounds || deliveries < rounds) {
        printf("the file is kept: %s\n", path);
        return 1;
    }
    return system(command) != 0;
}

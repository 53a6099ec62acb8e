/* SPDX-License-Identifier: MIT */
/*
 * journal_crash.c - kills a process that uses a journal, again and again, and judges what is left.
 *
 * The judge starts a worker (worker.c), which opens the journal and changes it with several threads,
 * while jobs are delivered. The worker reports over a pipe: before the end of a job what it is about
 * to ask, and otherwise the answer. The judge kills it (SIGKILL) after a random time, reads the pipe
 * to its end, and starts the next worker on the same file. In half of the rounds the wall clock is
 * set meanwhile, also between two workers; in a third of them the disk fails at random. What holds at
 * the end of each round is what the reports allow:
 *  - a delivery is not early, not of a job whose end was answered with 0 in an earlier round, and not
 *    of one whose put has failed (unless the journal has stopped);
 *  - of the job that recurs there is one for an instant, whatever was killed and wherever the clock was set;
 *  - a job that was delivered or leased, and neither ended nor given back, is not given to another one: in the same
 *    round while its lease lasts, and in a later one if that was durable. (Where the clock was set in between, this
 *    is not judged.) An attempt is given once;
 *  - a job whose put was answered with 0, and whose end was not even asked for, is delivered by the
 *    last worker, which is left alone until nothing is left.
 *
 * usage: journal_crash [ROUNDS [SEED [FOLDER]]]
 */
/* holds: journal-1, journal-2, journal-3, journal-10a, journal-10c, journal-10d, journal-10h */
#include "../support/random.h"
#include "wall_clock.h"
#include "worker.h"

#include <htw/journal.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The last worker is waited for as long as this. */
#define PATIENCE_MS 120000

/* ---- the jobs */

struct job {
    uint64_t id;
    bool was_put, end_asked, has_ended, was_delivered;
    int refusal;          /* what its put has answered when it failed */
    bool must_come;       /* to the last worker */
    unsigned ended_round; /* whose worker has ended it */
    uint64_t recurred;    /* of an instant, which is no job: that which was put for it */
    struct hold {
        bool is_held, is_durable;
        unsigned round;
        uint32_t attempt;
        uint64_t clock_steps;
        int64_t end_ns;
    } hold;                   /* of the last that had it */
    uint32_t durable_attempt; /* the last one */
};

static struct job *jobs; /* a hash table with linear probing */
static size_t capacity = 1 << 16, count;
static uint64_t recurrences, deliveries, repeated, leases, durable_leases, judged_holds;
static uint64_t reports_of_puts, reports_of_refusals, reports_of_ends;
static unsigned stops; /* rounds in which the disk has stopped the journal */

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

/* ---- the reports */

enum wrong { REVIVED, TWICE, TOO_EARLY, OTHER, WRONGS };
static uint64_t wrongs[WRONGS];

static void complain(enum wrong wrong, const char *what, unsigned round, uint64_t id, int result) {
    fprintf(stderr, "round %u: %s: job %llu, result %d\n", round, what, (unsigned long long)id,
            result);
    if (++wrongs[wrong] == 20 || wrong == OTHER)
        exit(1);
}

/* Whether the last one that had the job has it still, as far as the clock tells. */
static bool is_held_now(const struct job *job, const struct report *report, unsigned round) {
    const struct hold *hold = &job->hold;
    return hold->is_held && (hold->round == round || hold->is_durable) &&
           hold->clock_steps == report->clock_steps && report->now_ns < hold->end_ns;
}

static void judge_hold(struct job *job, const struct report *report, unsigned round) {
    bool is_lease = report->end_ns != HTW_NEVER_NS;
    leases += is_lease;
    durable_leases += report->is_durable;
    judged_holds += job->hold.is_held && job->hold.clock_steps == report->clock_steps &&
                    (job->hold.round == round || job->hold.is_durable);
    if (is_held_now(job, report, round))
        complain(TWICE, "given to two at once", round, job->id, (int)report->attempt);
    if (report->attempt <= job->durable_attempt ||
        (job->hold.round == round && report->attempt <= job->hold.attempt))
        complain(TWICE, "an attempt came twice", round, job->id, (int)report->attempt);
    if (report->is_durable)
        job->durable_attempt = report->attempt;
    job->hold = (struct hold) {
        true, report->is_durable, round, report->attempt, report->clock_steps, report->end_ns
    };
}

static void judge_delivery(struct job *job, const struct report *report, unsigned round) {
    deliveries++;
    repeated += job->was_delivered;
    /* In the same round, its end may have been made while `deliver` was about to report. */
    if (job->has_ended && job->ended_round < round)
        complain(REVIVED, "delivered after its end was durable", round, job->id, 0);
    if (job->refusal != 0)
        complain(OTHER, "delivered after its put had failed", round, job->id, job->refusal);
    judge_hold(job, report, round);
    job->was_delivered = true;
}

/* What a worker has said about its end. */
struct last_words {
    bool is_quiet, has_stopped;
};

static void judge(const struct report *report, unsigned round, struct last_words *words) {
    struct job *job = report->id == 0 ? NULL : known_job(report->id);
    switch (report->kind) {
    case PUT:
        job->was_put = true;
        reports_of_puts++;
        break;
    case REFUSED:
        if (job != NULL && job->was_delivered)
            complain(OTHER, "delivered, and then refused", round, report->id, report->result);
        if (job != NULL)
            job->refusal = report->result;
        reports_of_refusals++;
        break;
    case END_ASKED:
        job->end_asked = true;
        job->hold.is_held = false;
        break;
    case ENDED:
        job->has_ended = true;
        job->ended_round = round;
        reports_of_ends++;
        break;
    case DELIVERED:
        judge_delivery(job, report, round);
        break;
    case GIVEN:
        job->hold.is_held = false;
        break;
    case RECURRED:
        /* Ids of jobs are smaller. */
        job = known_job((UINT64_C(1) << 62) + (uint64_t)report->result);
        recurrences += job->recurred == 0;
        if (job->recurred != 0 && job->recurred != report->id)
            complain(TWICE, "another job of an instant", round, report->id, report->result);
        job->recurred = report->id;
        break;
    case EARLY:
        complain(TOO_EARLY, "early", round, report->id, 0);
        break;
    case FAILED:
        complain(OTHER, "a call has failed", round, report->id, report->result);
        break;
    case STOPPED:
        words->has_stopped = true;
        break;
    case QUIET:
        if (report->result != 0)
            complain(OTHER, "the close has failed", round, 0, report->result);
        words->is_quiet = true;
        break;
    }
}

/* The reports of a round up to `deadline_ms` from now, or, below 0, to their end. */
static void read_reports(int fd, unsigned round, int deadline_ms, struct last_words *words) {
    struct report reports[64];
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (;;) {
        int wait_ms = -1;
        if (deadline_ms >= 0) {
            clock_gettime(CLOCK_MONOTONIC, &now);
            wait_ms = deadline_ms - (int)((now.tv_sec - begin.tv_sec) * 1000 +
                                          (now.tv_nsec - begin.tv_nsec) / 1000000);
            if (wait_ms <= 0)
                return;
        }
        struct pollfd ready = { fd, POLLIN, 0 };
        if (poll(&ready, 1, wait_ms) <= 0)
            continue;
        ssize_t size = read(fd, reports, sizeof(reports));
        if (size <= 0)
            return;
        for (size_t i = 0; i < (size_t)size / sizeof(*reports); i++)
            judge(&reports[i], round, words);
    }
}

/* ---- the rounds */

/* `life_ms` below 0: the worker is not killed. */
static void run_round(const struct orders *told, unsigned round, int life_ms) {
    struct orders orders = *told;
    struct last_words words = { false, false };
    int ends[2];
    if (pipe(ends) != 0)
        exit(1);
    pid_t worker = fork();
    if (worker == 0) {
        close(ends[0]);
        orders.report_fd = ends[1];
        worker_run(&orders);
    }
    close(ends[1]);
    read_reports(ends[0], round, life_ms < 0 ? PATIENCE_MS : life_ms, &words);
    if (life_ms < 0 && !words.is_quiet)
        complain(OTHER, "the last worker has not come to its end", round, 0, 0);
    if (life_ms >= 0)
        kill(worker, SIGKILL);
    read_reports(ends[0], round, -1, &words);
    close(ends[0]);
    int status;
    waitpid(worker, &status, 0);
    bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    stops += words.has_stopped;
    if (life_ms >= 0 && !is_killed && !words.has_stopped)
        complain(OTHER, "the worker has ended by itself", round, 0, status);
}

static void step_clock(struct random_source *source) {
    int64_t most_ns = random_one_in(source, 2) ? HTW_MINUTE : 2 * HTW_DAY;
    wall_clock_step((int64_t)random_below(source, 2 * (uint64_t)most_ns) - most_ns);
}

static void run_rounds(const char *path, unsigned rounds, struct random_source *source) {
    for (unsigned round = 0; round < rounds; round++) {
        const struct orders orders = {
            .path = path,
            .seed = random_next(source),
            .steps_clock = random_one_in(source, 2),
            .has_faults = random_one_in(source, 3),
        };
        run_round(&orders, round, (int)random_below(source, random_one_in(source, 4) ? 20 : 250));
        if (random_one_in(source, 4))
            step_clock(source);
    }
}

static uint64_t run_last_round(const char *path, unsigned round) {
    for (size_t i = 0; i < capacity; i++) {
        jobs[i].must_come = jobs[i].was_put && !jobs[i].end_asked;
        jobs[i].was_delivered = jobs[i].was_delivered && !jobs[i].must_come;
    }
    run_round(&(struct orders) { .path = path, .seed = 1, .drains = true }, round, -1);
    uint64_t lost = 0;
    for (size_t i = 0; i < capacity; i++)
        lost += jobs[i].must_come && !jobs[i].was_delivered;
    return lost;
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
    wall_clock_init();
    run_rounds(path, rounds, &source);
    uint64_t lost = run_last_round(path, rounds);
    const struct {
        const char *what;
        uint64_t count;
    } lines[] = {
        { "kills", rounds - stops },
        { "journals stopped by a disk", stops },
        { "puts acknowledged", reports_of_puts },
        { "puts failed", reports_of_refusals },
        { "ends acknowledged", reports_of_ends },
        { "deliveries", deliveries },
        { "not the first of their job", repeated },
        { "leases", leases },
        { "durable leases", durable_leases },
        { "judged beside an earlier holder", judged_holds },
        { "instants of a job that recurs", recurrences },
        { "lost", lost },
        { "revived", wrongs[REVIVED] },
        { "given to two at once", wrongs[TWICE] },
        { "early", wrongs[TOO_EARLY] },
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        printf("%-32s %12llu\n", lines[i].what, (unsigned long long)lines[i].count);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    for (unsigned i = 0; i < WRONGS; i++)
        lost += wrongs[i];
    if (lost > 0 || reports_of_puts < rounds || deliveries < rounds) {
        printf("the file is kept: %s\n", path);
        return 1;
    }
    return system(command) != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * restart.c - how long it takes until a store with many pending jobs answers again: after a proper
 * stop and after kill -9, with its files in the page cache and not.
 *
 * Each start is in a child process. What a child has started is killed with it, and this process
 * waits for all of it.
 */
#include "fill.h"

#include "files.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Before a kill, so that there is something in the log. */
#define JOBS_BEFORE_KILL 20000
#define LOG_JOBS 100000 /* a step on the way to a large log */

/* What a child reports. */
struct shared {
    int64_t start_ns;
    uint64_t count, resident_bytes, log_bytes, put;
};

static struct shared *shared;
static unsigned fills;

/* Runs `work` in a child process. `is_killed`: kills it when that has returned. */
static void in_child(const struct options *options, void (*work)(const struct options *),
                     bool is_killed) {
    int ends[2];
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child < 0)
        report_failure("fork: %s", strerror(errno));
    if (child == 0) {
        close(ends[0]);
        work(options);
        if (!is_killed)
            options->peer->stop();
        if (write(ends[1], "", 1) != 1)
            _exit(1);
        while (is_killed)
            pause();
        _exit(0);
    }
    close(ends[1]);
    char byte;
    bool is_ready = read(ends[0], &byte, 1) == 1;
    close(ends[0]);
    if (is_killed)
        kill(child, SIGKILL);
    int status = 0;
    bool has_failed = !is_ready;
    for (pid_t ended; (ended = wait(&status)) > 0;) /* servers, too */
        has_failed = has_failed || (ended == child && !is_killed && status != 0);
    if (has_failed)
        report_failure("a child process has failed");
}

static void put(const struct options *options, uint64_t jobs) {
    (void)fill(options, fills, jobs);
    shared->put += jobs;
}

static void fill_all(const struct options *options) {
    options->peer->start(options->peer, 0);
    put(options, options->jobs);
}

static void fill_log(const struct options *options) {
    options->peer->start(options->peer, 0);
    if (options->log_mib == 0) {
        put(options, options->jobs < JOBS_BEFORE_KILL ? options->jobs : JOBS_BEFORE_KILL);
        return;
    }
    options->peer->hold_log();
    while (files_total("htw.journal-wal") < options->log_mib << 20)
        put(options, LOG_JOBS);
}

static void start(const struct options *options) {
    int64_t begin_ns = clock_now_ns();
    options->peer->start(options->peer, 0);
    (void)options->peer->connect();
    shared->start_ns = clock_now_ns() - begin_ns;
    shared->count = options->peer->count();
    shared->resident_bytes = options->peer->resident_bytes();
}

static void measure(const struct options *options, const char *metric, bool is_cold) {
    if (is_cold) {
        double stayed = files_evict();
        if (stayed > 1)
            return; /* tmpfs: it is always in memory */
    } else {
        files_warm();
    }
    in_child(options, start, false);
    if (shared->count != shared->put)
        report_failure("%llu jobs were put, but the store has %llu",
                       (unsigned long long)shared->put, (unsigned long long)shared->count);
    report_number(metric, (double)shared->start_ns / 1e6);
}

static void kill_after_put(const struct options *options) {
    fills++;
    in_child(options, fill_log, true);
    shared->log_bytes = files_total("htw.journal-wal");
}

static void run(const struct options *options) {
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        report_failure("mmap, prctl: %s", strerror(errno));
    in_child(options, fill_all, false);
    measure(options, "clean_warm_ms", false);
    measure(options, "clean_cold_ms", true);
    kill_after_put(options);
    measure(options, "killed_warm_ms", false);
    kill_after_put(options);
    if (shared->log_bytes > 0)
        report_number("log_mib", (double)shared->log_bytes / (1 << 20));
    measure(options, "killed_cold_ms", true);
    report_number("resident_mib", (double)shared->resident_bytes / (1 << 20));
}

const struct workload workload_restart = {
    .name = "restart",
    .about = "until a store with pending jobs answers again",
    .count = 1000000,
    .quick_count = 20000,
    .run = run,
};

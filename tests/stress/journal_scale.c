/* SPDX-License-Identifier: MIT */
/*
 * journal_scale.c - a journal with very many jobs, whose process is killed, is opened again.
 *
 * One process puts the jobs, spread over a thousand days, and is killed with its log as long as it
 * gets. The next one, for which the kernel has dropped what it had in memory of the files, opens the
 * journal. Its count must be exact, its memory that of the near future, and the open short. Then the
 * jobs of the first days are delivered, each once, and the counts must still agree.
 *
 * usage: journal_scale [JOBS [OPEN_MS [FOLDER]]]; OPEN_MS: how long the open may take, 0 for any time
 */
#include "../support/manual_time.h"

#include <htw/journal_inspect.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START_NS (INT64_C(28333333) * HTW_MINUTE)
#define SPAN_NS (1000 * HTW_DAY)
#define DAYS 3 /* whose jobs are delivered */
#define MEMORY_KB 40000

static char path[256];
static uint64_t jobs = 1000000, delivered;
static struct htw_scheduler *scheduler;
static struct htw_journal *journal;

static void fail(const char *what, int64_t value) {
    fprintf(stderr, "%s: %lld: %s\n", what, (long long)value, htw_journal_error());
    exit(1);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * HTW_SECOND + now.tv_nsec;
}

static long peak_kb(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static int64_t deadline_of(uint64_t n) {
    return START_NS + HTW_HOUR + (int64_t)(n * ((uint64_t)SPAN_NS / jobs));
}

static void deliver(void *context, const struct htw_delivery *delivery) {
    (void)context;
    uint64_t n;
    memcpy(&n, delivery->payload, sizeof(n));
    if (n >= jobs || delivery->deadline_ns != deadline_of(n))
        fail("another job", (int64_t)n);
    delivered++;
    htw_journal_done_later(delivery->journal, delivery->id, NULL, NULL);
}

static void open_journal(void) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = deliver;
    options.synchronous = HTW_SYNCHRONOUS_NORMAL;
    options.max_memory = 8 << 20;
    scheduler = manual_scheduler(START_NS);
    if (scheduler == NULL)
        fail("htw_scheduler_create", 0);
    int error = htw_journal_open(&journal, scheduler, path, &options);
    if (error != 0)
        fail("htw_journal_open", error);
}

static _Noreturn void put_and_die(void) {
    open_journal();
    for (uint64_t n = 0; n < jobs; n++) {
        char payload[32] = { 0 };
        memcpy(payload, &n, sizeof(n));
        int error;
        while ((error = htw_journal_put_later(journal, deadline_of(n), payload, sizeof(payload),
                                              NULL, NULL, NULL)) == -EAGAIN)
            usleep(1000);
        if (error != 0)
            fail("htw_journal_put_later", error);
    }
    int error = htw_journal_sync(journal);
    if (error != 0)
        fail("htw_journal_sync", error);
    kill(getpid(), SIGKILL);
    abort();
}

/* The kernel reads the files from the disk again. */
static void drop_caches(void) {
    static const char *const suffixes[] = { "", "-wal" };
    for (int i = 0; i < 2; i++) {
        char name[300];
        snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
        int fd = open(name, O_RDONLY);
        if (fd < 0 || fsync(fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
            fail(name, fd);
        close(fd);
    }
}

static struct htw_journal_stats stats_of(void) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    if (htw_journal_get_stats(journal, &stats) != 0)
        fail("htw_journal_get_stats", 0);
    return stats;
}

static void expect(const char *what, uint64_t value, uint64_t wanted) {
    if (value == wanted)
        return;
    fprintf(stderr, "%s: %llu, not %llu\n", what, (unsigned long long)value,
            (unsigned long long)wanted);
    exit(1);
}

/* A process of its own, so that its memory is that of this journal alone. */
static _Noreturn void open_and_deliver(int64_t limit_ms) {
    long before_kb = peak_kb();
    int64_t begin_ns = now_ns();
    open_journal();
    int64_t open_ms = (now_ns() - begin_ns) / HTW_MILLISECOND;
    expect("jobs found", stats_of().found, jobs);
    uint64_t due = 0;
    while (due < jobs && deadline_of(due) <= START_NS + DAYS * HTW_DAY)
        due++;
    for (int hour = 0; hour < DAYS * 24; hour++)
        if (htw_scheduler_advance(scheduler, HTW_HOUR) != 0)
            fail("htw_scheduler_advance", 0);
    if (htw_journal_sync(journal) != 0)
        fail("htw_journal_sync", 0);
    expect("delivered", delivered, due);
    expect("jobs left", stats_of().jobs, jobs - due);
    expect("jobs in flight", stats_of().in_flight, 0);
    long grown_kb = peak_kb() - before_kb;
    printf("%llu jobs: opened in %lld ms, %llu delivered, %ld KiB of memory\n",
           (unsigned long long)jobs, (long long)open_ms, (unsigned long long)due, grown_kb);
    if (limit_ms > 0 && open_ms > limit_ms)
        fail("the open takes too long, in ms", open_ms);
    if (limit_ms > 0 && grown_kb > MEMORY_KB)
        fail("it takes too much memory, in KiB", grown_kb);
    int error = htw_journal_close(journal);
    if (error != 0)
        fail("htw_journal_close", error);
    exit(0);
}

static int status_of(pid_t child) {
    int status;
    waitpid(child, &status, 0);
    return status;
}

int main(int argc, char **argv) {
    char folder[200], command[300];
    jobs = argc > 1 ? strtoull(argv[1], NULL, 10) : jobs;
    int64_t limit_ms = argc > 2 ? atoll(argv[2]) : 1000;
    snprintf(folder, sizeof(folder), "%s/htw-scale-XXXXXX", argc > 3 ? argv[3] : "/tmp");
    if (jobs == 0 || mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof(path), "%s/journal", folder);
    pid_t child = fork();
    if (child == 0)
        put_and_die();
    int status = status_of(child);
    bool is_good = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (is_good) {
        drop_caches();
        child = fork();
        if (child == 0)
            open_and_deliver(limit_ms);
        is_good = status_of(child) == 0;
    }
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command) != 0 || !is_good;
}

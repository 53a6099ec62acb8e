/* SPDX-License-Identifier: MIT */
/*
 * test_journal_full.c - a journal in a file system that is full, a tmpfs of 1 MiB.
 *
 * Processes fill it, are killed, and open the journal again, while it is full and after a file was
 * removed. What each call has answered is kept in memory that they share. Where no file system may
 * be mounted, the test is skipped.
 *
 * usage: fault_journal_full [HTW]: the command
 */
/* holds: journal-1, journal-10c, journal-19 */
#include "../../src/journal/database.h"
#include "../support/manual_time.h"

#include <htw/journal.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_NS (INT64_C(28333333) * HTW_MINUTE)
#define JOBS_MAX 4000
#define SKIPPED 77

struct job {
    uint64_t id;
    bool is_accepted, has_ended;
    unsigned delivered; /* by the last process */
};

/* Shared by all processes. */
static struct facts {
    unsigned count;
    struct job jobs[JOBS_MAX];
    bool failed;
} * facts;

static char folder[] = "/tmp/htw-full-XXXXXX", path[64], ballast[64];
static const char *program; /* htw */
static struct htw_scheduler *scheduler;
static struct htw_journal *journal;
static bool is_last;
static unsigned delivered; /* by this process */

#define CHECK(condition)                                       \
    do {                                                       \
        if (!(condition)) {                                    \
            fprintf(stderr, "line %d: " #condition, __LINE__); \
            fprintf(stderr, ": %s\n", htw_journal_error());    \
            facts->failed = true;                              \
            _exit(1);                                          \
        }                                                      \
    } while (0)

/* ---- the file system */

static bool write_text(const char *name, const char *text) {
    int fd = open(name, O_WRONLY);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return written;
}

/* In a namespace of its own, which ends with the process. */
static bool mount_tiny(void) {
    char users[40], groups[40];
    snprintf(users, sizeof(users), "0 %u 1", getuid());
    snprintf(groups, sizeof(groups), "0 %u 1", getgid());
    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            return false;
        if (!write_text("/proc/self/setgroups", "deny") ||
            !write_text("/proc/self/uid_map", users) || !write_text("/proc/self/gid_map", groups))
            return false;
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", folder, "tmpfs", 0, "size=1m") == 0;
}

/* A file that takes space until it is removed: so many pages, or all that there are. */
static void add_ballast(int pages) {
    char zeros[4096] = { 0 };
    int fd = open(ballast, O_WRONLY | O_CREAT, 0600);
    for (int i = 0; i < pages && write(fd, zeros, sizeof(zeros)) == sizeof(zeros); i++)
        ;
    close(fd);
}

/* ---- the journal */

static void deliver(void *context, const struct htw_delivery *delivery) {
    (void)context;
    unsigned number;
    memcpy(&number, delivery->payload, sizeof(number));
    facts->jobs[number].delivered += is_last;
    delivered++;
}

static int open_journal(void) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = deliver;
    scheduler = manual_scheduler(START_NS);
    CHECK(scheduler != NULL);
    return htw_journal_open(&journal, scheduler, path, &options);
}

static int put(void) {
    static char payload[1000];
    CHECK(facts->count < JOBS_MAX);
    struct job *job = &facts->jobs[facts->count];
    *job = (struct job) { 0 };
    memcpy(payload, &facts->count, sizeof(facts->count));
    int result = htw_journal_put(journal, START_NS + HTW_HOUR, payload, sizeof(payload), &job->id);
    CHECK(result == 0 || result == -ENOSPC);
    job->is_accepted = result == 0;
    facts->count++;
    return result;
}

/* Always possible: room is kept for it. */
static void end(struct job *job) {
    CHECK(htw_journal_done(journal, job->id) == 0);
    job->has_ended = true;
}

/* The journal makes room where it can, for up to a second: then it is full for good. */
static void fill(void) {
    do {
        while (put() == 0)
            ;
        usleep(1100000);
    } while (put() == 0);
}

static uint64_t checkpoints(void) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    CHECK(htw_journal_get_stats(journal, &stats) == 0);
    return stats.checkpoints;
}

/* ---- the processes */

static void expect_delivery_of_all(void) {
    unsigned expected = 0;
    for (unsigned i = 0; i < facts->count; i++)
        expected += facts->jobs[i].is_accepted && !facts->jobs[i].has_ended;
    CHECK(htw_scheduler_advance(scheduler, 2 * HTW_HOUR) == 0);
    CHECK(delivered == expected);
}

/* No file may be longer: neither the log, which is copied and used again, nor the file. What ends makes room. */
static void live_within_a_limit(void) {
    const struct rlimit limit = { 200 * 1024, 200 * 1024 };
    htw__log_checkpoint_pages = 4096;
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(open_journal() == 0);
    while (put() == 0)
        ;
    CHECK(strstr(htw_journal_error(), "full") != NULL);
    CHECK(facts->count > 50);
    for (unsigned i = 0; i < 20; i++)
        end(&facts->jobs[i]);
    CHECK(put() == 0);
    kill(getpid(), SIGKILL);
}

/* ---- leases, in a file of its own */

static struct attempt {
    uint64_t id;
    uint32_t attempt;
} leased_job;

static void note_lease(void *arg, int result, const struct htw_delivery *delivery) {
    (void)arg;
    if (result == 0)
        leased_job = (struct attempt) { delivery->id, delivery->attempt };
}

static const char *const queue = "q";

static int lease(bool is_durable) {
    struct htw_lease lease = HTW_LEASE_INIT;
    lease.queues = &queue;
    lease.queue_count = 1;
    lease.is_durable = is_durable;
    return htw_journal_lease(journal, &lease, note_lease, NULL);
}

static int end_leased(void) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = leased_job.id;
    update.attempt = leased_job.attempt;
    return htw_journal_update(journal, &update);
}

static int put_in_queue(void) {
    static const char payload[1000];
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    job.queue = queue;
    job.deadline_ns = START_NS;
    job.payload = payload;
    job.payload_size = sizeof(payload);
    change.jobs = &job;
    change.job_count = 1;
    return htw_journal_apply(journal, &change);
}

static void expect_queue(uint64_t ready, uint64_t leased) {
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    CHECK(htw_journal_get_queue(journal, queue, &stats) == 0);
    CHECK(stats.delayed + stats.ready == ready && stats.leased == leased);
}

static void open_leases(void) {
    snprintf(path, sizeof(path), "%s/leases", folder);
    CHECK(open_journal() == 0);
}

/* No file may be longer: a lease needs no space unless it is durable, and one that is refused leaves its job READY. */
static void lease_within_a_limit(void) {
    struct rlimit limit = { 200 * 1024, RLIM_INFINITY };
    uint64_t jobs = 0;
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    open_leases();
    do { /* the journal makes room where it can, for up to a second */
        while (put_in_queue() == 0)
            jobs++;
        usleep(1100000);
    } while (put_in_queue() == 0 && jobs++ < JOBS_MAX);
    CHECK(lease(false) == 0);
    expect_queue(jobs - 1, 1);
    struct attempt first = leased_job;
    limit.rlim_cur = 4096;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(lease(true) == -ENOSPC);
    expect_queue(jobs - 1, 1);
    CHECK(htw_scheduler_advance(scheduler, HTW_HOUR) == 0);
    expect_queue(jobs, 0);
    limit.rlim_cur = RLIM_INFINITY;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    leased_job = first;
    CHECK(end_leased() == -ESTALE);
    CHECK(lease(true) == 0);
    CHECK(end_leased() == 0);
    CHECK(lease(true) == 0);
    facts->count = (unsigned)jobs - 1;
    kill(getpid(), SIGKILL);
}

static bool note_state(void *context, const struct htw_job_info *info) {
    *(enum htw_job_state *)context = info->state;
    return true;
}

static int step(enum htw_job_step kind, int64_t deadline_ns) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = leased_job.id;
    update.step = kind;
    update.deadline_ns = deadline_ns;
    return htw_journal_update(journal, &update);
}

/* The life of a job, on a disk that has no byte left. */
static void live_while_full(void) {
    enum htw_job_state state = HTW_JOB_DELAYED;
    CHECK(lease(false) == 0);
    CHECK(step(HTW_JOB_BURY, 0) == 0);
    CHECK(htw_journal_peek(journal, leased_job.id, note_state, &state) == 0);
    CHECK(state == HTW_JOB_BURIED);
    CHECK(htw_journal_kick(journal, queue, 1) == 1);
    CHECK(lease(false) == 0);
    CHECK(step(HTW_JOB_RELEASE, START_NS + HTW_HOUR) == 0);
    CHECK(htw_journal_sync(journal) == 0);
    CHECK(step(HTW_JOB_CANCEL, 0) == 0);
    CHECK(lease(false) == 0);
    CHECK(end_leased() == 0);
}

/* The disk is full at another step of the history each time: after so many jobs, with the log as long as it is then. */
static void fill_and_live(void) {
    open_leases();
    for (unsigned i = 0; i < facts->count; i++)
        CHECK(put_in_queue() == 0);
    add_ballast(1000);
    while (put_in_queue() == 0)
        ;
    CHECK(strstr(htw_journal_error(), "full") != NULL);
    add_ballast(1000);
    live_while_full();
    add_ballast(1000); /* what that has made free */
    kill(getpid(), SIGKILL);
}

static void live_after_a_kill(void) {
    open_leases();
    while (put_in_queue() == 0)
        ;
    for (int i = 0; i < 3;
         i++) { /* also after a close, and what it has made free is used by others */
        live_while_full();
        CHECK(htw_journal_close(journal) == 0);
        add_ballast(1000);
        open_leases();
    }
    CHECK(unlink(ballast) == 0);
    CHECK(put_in_queue() == 0);
    CHECK(htw_journal_close(journal) == 0);
    char log[80];
    snprintf(log, sizeof(log), "%s-wal", path);
    CHECK(unlink(path) == 0 && unlink(log) == 0);
}

static void judge_leases(void) {
    char name[80];
    open_leases();
    expect_queue(facts->count - 1, 1);
    CHECK(htw_journal_close(journal) == 0);
    CHECK(unlink(path) == 0);
    snprintf(name, sizeof(name), "%s-lock", path);
    CHECK(unlink(name) == 0);
    facts->count = 0;
}

/* The log has room for more, and the file would have to grow for what is in the log. */
static void work_and_die(void) {
    htw__log_checkpoint_pages = 60;
    CHECK(open_journal() == 0);
    while (checkpoints() < 2)
        CHECK(put() == 0);
    for (int i = 0; i < 5; i++)
        CHECK(put() == 0);
    add_ballast(1000);
    kill(getpid(), SIGKILL);
}

static void cancel_by_command(void) {
    char id[24];
    struct job *job = &facts->jobs[facts->count - 1];
    CHECK(job->is_accepted);
    snprintf(id, sizeof(id), "%llu", (unsigned long long)job->id);
    job->has_ended = true;
    execl(program, program, "journal", "cancel", path, id, (char *)NULL);
    CHECK(false);
}

static void work_while_full(void) {
    CHECK(open_journal() == 0);
    expect_delivery_of_all();
    struct job *job = &facts->jobs[facts->count - 2];
    CHECK(job->is_accepted);
    end(job);
    CHECK(job->has_ended);
    CHECK(checkpoints() == 0);
    CHECK(unlink(ballast) == 0);
    kill(getpid(), SIGKILL);
}

static void fill_and_die(void) {
    add_ballast(60);
    CHECK(open_journal() == 0);
    fill();
    CHECK(facts->count > 100);
    for (unsigned i = 0; i < facts->count; i += 7)
        if (facts->jobs[i].is_accepted && !facts->jobs[i].has_ended)
            end(&facts->jobs[i]);
    kill(getpid(), SIGKILL);
}

static void open_while_full(void) {
    CHECK(open_journal() == 0);
    expect_delivery_of_all();
    for (int i = 0; i < 10; i++)
        put();
    kill(getpid(), SIGKILL);
}

/* No call but those for statistics: the log is copied when there is room. */
static void go_on_when_there_is_room(void) {
    CHECK(unlink(ballast) == 0);
    CHECK(open_journal() == 0);
    htw__log_checkpoint_pages = 1000;
    for (int i = 0; i < 10; i++)
        CHECK(put() == 0);
    add_ballast(1000);
    fill();
    uint64_t before = checkpoints();
    CHECK(unlink(ballast) == 0);
    for (int i = 0; i < 1000 && checkpoints() == before; i++)
        usleep(10000);
    CHECK(checkpoints() > before);
    CHECK(put() == 0);
    kill(getpid(), SIGKILL);
}

/* All at once would need room for a log as large as the file. */
static void judge(void) {
    is_last = true;
    CHECK(open_journal() == 0);
    CHECK(htw_scheduler_advance(scheduler, 2 * HTW_HOUR) == 0);
    for (unsigned i = 0; i < facts->count; i++) {
        struct job *job = &facts->jobs[i];
        if (job->delivered != (job->is_accepted && !job->has_ended)) {
            fprintf(stderr, "job %u: accepted %d, ended %d, delivered %u times\n", i,
                    job->is_accepted, job->has_ended, job->delivered);
            facts->failed = true;
        }
        if (job->is_accepted && !job->has_ended)
            CHECK(htw_journal_done(journal, job->id) == 0);
    }
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    htw_journal_get_stats(journal, &stats);
    CHECK(stats.jobs == 0);
    CHECK(htw_journal_close(journal) == 0);
}

static void run(void (*process)(void)) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        process();
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (WIFEXITED(status) ? WEXITSTATUS(status) != 0 : WTERMSIG(status) != SIGKILL)
        facts->failed = true;
}

int main(int argc, char **argv) {
    program = argc > 1 ? argv[1] : NULL;
    facts = mmap(NULL, sizeof(*facts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (facts == MAP_FAILED || mkdtemp(folder) == NULL)
        return 1;
    if (!mount_tiny()) {
        rmdir(folder);
        printf("skipped: no file system may be mounted here\n");
        return SKIPPED;
    }
    snprintf(path, sizeof(path), "%s/journal", folder);
    snprintf(ballast, sizeof(ballast), "%s/ballast", folder);
    htw__log_checkpoint_pages = 20;
    run(lease_within_a_limit);
    run(judge_leases);
    static const unsigned steps[] = { 10, 30, 60, 100 };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        facts->count = steps[i];
        run(fill_and_live);
        run(live_after_a_kill);
    }
    facts->count = 0;
    run(live_within_a_limit);
    run(work_and_die);
    if (program != NULL)
        run(cancel_by_command);
    run(work_while_full);
    run(fill_and_die);
    run(open_while_full);
    run(go_on_when_there_is_room);
    run(judge);
    umount(folder);
    rmdir(folder);
    printf("%u puts\n", facts->count);
    return facts->failed;
}

/* SPDX-License-Identifier: MIT */
/*
 * test_journal_full.c - a journal in a file system that is full, a tmpfs of 1 MiB.
 *
 * Processes fill it, are killed, and open the journal again, while it is full and after a file was
 * removed. journal_round.h, in memory that they share, judges what each call has answered. Where no file system may
 * be mounted, the test is skipped.
 *
 * usage: fault_journal_full [HTW]: the command
 */
/* holds: journal-1, journal-10c, journal-19 */
#include "../../src/journal/database/database.h"
#include "../support/child.h"
#include "journal_round.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#define SKIPPED 77
#define LATER_NS (ROUND_START_NS + HTW_HOUR)

enum { SIZE = 1000 }; /* of a payload */

static char folder[] = "/tmp/htw-full-XXXXXX", ballast[64];
static const char *program; /* htw */
static bool has_failed;

void round_fail(const char *what, uint64_t id, int result) {
    fprintf(stderr, "%s: %llu, result %d: %s\n", what, (unsigned long long)id, result,
            htw_journal_error());
    _exit(1);
}

#define CHECK(condition)                                  \
    do {                                                  \
        if (!(condition))                                 \
            round_fail("line: " #condition, __LINE__, 0); \
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

static void open_journal(void) {
    round_start();
    CHECK(round_open() == 0);
}

static void close_journal(void) {
    CHECK(htw_journal_close(journal_round->journal) == 0);
}

static void die(void) {
    kill(getpid(), SIGKILL);
}

static void limit_files(rlim_t size) {
    const struct rlimit limit = { size, RLIM_INFINITY };
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static bool put(void) {
    int result = round_put(LATER_NS, SIZE);
    CHECK(result == 0 || result == -ENOSPC);
    return result == 0;
}

static bool put_in_queue(void) {
    int result = round_put_in_queue(SIZE);
    CHECK(result == 0 || result == -ENOSPC);
    return result == 0;
}

/* The journal makes room where it can, for up to a second: then it is full for good. */
static void fill(bool (*put_one)(void)) {
    do {
        while (put_one())
            ;
        CHECK(strstr(htw_journal_error(), "full") != NULL);
        CHECK(strstr(htw_journal_error(), journal_round->path) != NULL);
        usleep(1100000);
    } while (put_one());
}

static struct fact *fact_at(size_t i) {
    return &journal_round->ledger.facts[i];
}

static unsigned count_jobs(void) {
    unsigned count = 0;
    for (size_t i = 0; i < journal_round->ledger.count; i++)
        count += fact_at(i)->expected == MUST;
    return count;
}

/* Always possible: room is kept for it. */
static void end(struct fact *fact) {
    CHECK(fact->expected == MUST && round_end(fact, false) == 0);
}

static uint64_t checkpoints(void) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    CHECK(htw_journal_get_stats(journal_round->journal, &stats) == 0);
    return stats.checkpoints;
}

static void expect_delivery_of_all(void) {
    uint64_t lost;
    round_advance(ROUND_LAST_NS);
    CHECK(ledger_close(&journal_round->ledger, &lost) == NULL);
}

static void expect_leased(uint64_t leased) {
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    CHECK(htw_journal_get_queue(journal_round->journal, round_queue, &stats) == 0);
    CHECK(stats.delayed + stats.ready + leased == count_jobs() && stats.leased == leased);
}

/* ---- processes that lease */

/* No file may be longer: a lease needs no space unless it is durable, and one that is refused leaves its job READY. */
static void lease_within_a_limit(void) {
    struct htw_delivery first, lease;
    limit_files(200 << 10);
    open_journal();
    fill(put_in_queue);
    CHECK(round_lease(false, &first) == 0);
    expect_leased(1);
    limit_files(4096);
    CHECK(round_lease(true, &lease) == -ENOSPC);
    expect_leased(1);
    round_advance(HTW_HOUR);
    expect_leased(0);
    ledger_open(&journal_round->ledger); /* it may be leased again */
    limit_files(RLIM_INFINITY);
    CHECK(round_step(&first, HTW_JOB_END, 0) == -ESTALE);
    CHECK(round_lease(true, &lease) == 0);
    CHECK(round_step(&lease, HTW_JOB_END, 0) == 0);
    CHECK(round_lease(true, &lease) == 0);
    die();
}

static void find_the_lease(void) {
    open_journal();
    expect_leased(1);
}

/* The life of a job, on a disk that has no byte left. */
static void live_while_full(void) {
    struct htw_delivery lease;
    CHECK(round_lease(false, &lease) == 0);
    CHECK(round_step(&lease, HTW_JOB_BURY, 0) == 0);
    CHECK(htw_journal_kick(journal_round->journal, round_queue, 1) == 1);
    CHECK(round_lease(false, &lease) == 0);
    CHECK(round_step(&lease, HTW_JOB_RELEASE, LATER_NS) == 0);
    CHECK(htw_journal_sync(journal_round->journal) == 0);
    CHECK(round_step(&lease, HTW_JOB_CANCEL, 0) == 0);
    CHECK(round_lease(false, &lease) == 0);
    CHECK(round_step(&lease, HTW_JOB_END, 0) == 0);
}

static unsigned jobs_before; /* the disk is full */

static void fill_and_live(void) {
    open_journal();
    for (unsigned i = 0; i < jobs_before; i++)
        CHECK(put_in_queue());
    add_ballast(1000);
    while (put_in_queue())
        ;
    add_ballast(1000);
    live_while_full();
    add_ballast(1000); /* what that has made free */
    die();
}

/* Also after a close, and what it has made free is used by others. */
static void live_after_a_kill(void) {
    open_journal();
    while (put_in_queue())
        ;
    for (int i = 0; i < 3; i++) {
        live_while_full();
        close_journal();
        add_ballast(1000);
        open_journal();
    }
    CHECK(unlink(ballast) == 0);
    CHECK(put_in_queue());
    close_journal();
}

/* ---- processes in which jobs are delivered */

/* The log has room for more, and the file would have to grow for what is in the log. */
static void work_and_die(void) {
    htw__log_checkpoint_pages = 60;
    open_journal();
    while (checkpoints() < 2)
        CHECK(put());
    for (int i = 0; i < 5; i++)
        CHECK(put());
    add_ballast(1000);
    die();
}

static void cancel_by_command(void) {
    char id[24];
    struct fact *fact = fact_at(journal_round->ledger.count - 1);
    CHECK(fact->expected == MUST);
    snprintf(id, sizeof(id), "%llu", (unsigned long long)fact->id);
    fact->expected = MUST_NOT;
    execl(program, program, "journal", "cancel", journal_round->path, id, (char *)NULL);
    CHECK(false);
}

static void work_while_full(void) {
    open_journal();
    expect_delivery_of_all();
    end(fact_at(journal_round->ledger.count - 2));
    CHECK(checkpoints() == 0);
    CHECK(unlink(ballast) == 0);
    die();
}

static void fill_and_die(void) {
    add_ballast(60);
    open_journal();
    fill(put);
    CHECK(count_jobs() > 100);
    for (size_t i = 0; i < journal_round->ledger.count; i += 7)
        if (fact_at(i)->expected == MUST)
            end(fact_at(i));
    die();
}

static void open_while_full(void) {
    open_journal();
    expect_delivery_of_all();
    for (int i = 0; i < 10; i++)
        (void)put();
    die();
}

/* No call but those for statistics: the log is copied when there is room. */
static void go_on_when_there_is_room(void) {
    CHECK(unlink(ballast) == 0);
    open_journal();
    htw__log_checkpoint_pages = 1000;
    for (int i = 0; i < 10; i++)
        CHECK(put());
    add_ballast(1000);
    fill(put);
    uint64_t before = checkpoints();
    CHECK(unlink(ballast) == 0);
    for (int i = 0; i < 1000 && checkpoints() == before; i++)
        usleep(10000);
    CHECK(checkpoints() > before);
    CHECK(put());
    die();
}

static void judge(void) {
    round_start();
    round_judge();
}

static void run(void (*process)(void)) {
    pid_t child = fork();
    if (child == 0) {
        process();
        _exit(0);
    }
    int end = child_end(child);
    has_failed |= end != 0 && end != -SIGKILL;
}

/* The processes have schedulers of their own. */
static void begin(void) {
    round_begin(0);
    htw_scheduler_destroy(journal_round->scheduler);
}

int main(int argc, char **argv) {
    program = argc > 1 ? argv[1] : NULL;
    journal_round = mmap(NULL, sizeof(*journal_round), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (journal_round == MAP_FAILED || mkdtemp(folder) == NULL)
        return 1;
    if (!mount_tiny()) {
        rmdir(folder);
        printf("skipped: no file system may be mounted here\n");
        return SKIPPED;
    }
    snprintf(ballast, sizeof(ballast), "%s/ballast", folder);
    round_init(folder, false);
    htw__log_checkpoint_pages = 20;
    begin();
    run(lease_within_a_limit);
    run(find_the_lease);
    run(judge);
    for (jobs_before = 10; jobs_before <= 100; jobs_before += 30) {
        begin();
        run(fill_and_live);
        run(live_after_a_kill);
    }
    begin();
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
    printf("%u puts\n", (unsigned)journal_round->ledger.count);
    return has_failed;
}

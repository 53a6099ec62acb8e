/* SPDX-License-Identifier: MIT */
/*
 * test_journal_disk.c - each write, sync, truncation, read and open of a file of a journal fails in turn, in each way.
 *
 * A run begins with no file, with the log that a kill has left, or with one whose last fsync or write has failed; it makes each
 * kind of change (round_change()), as a guest also by transactions of the program, while the n-th operation of the disk fails, and ends with a close, a kill or a power
 * cut. journal_round.h judges it.
 *
 * usage: fault_journal_disk [--all]: each operation; otherwise the first ones, and fewer behind them
 */
/* holds: journal-1, journal-4, journal-5, journal-10h, journal-14, journal-19, journal-20 */
#include "../../src/journal/database/database.h"
#include "../support/failing_calls.h"
#include "faulty_vfs.h"
#include "journal_round.h"

#include <sqlite3.h>
#include <unistd.h>

#define EVER 1000000 /* operations */

static const struct way {
    const char *name;
    enum fault fault;
    long times;
    enum fault then; /* for ever */
    enum stop stop;
    enum loss loss;
    bool recovers; /* the disk works again, and the journal with it */
} ways[] = {
    { "power, all written", FAULT_POWER, 1, FAULT_NONE, IS_CUT, LOSE_NOTHING, false },
    { "power, some written", FAULT_POWER, 1, FAULT_NONE, IS_CUT, LOSE_SOME, false },
    { "power, the front not written", FAULT_POWER, 1, FAULT_NONE, IS_CUT, LOSE_FRONT, false },
    { "power, nothing written", FAULT_POWER, 1, FAULT_NONE, IS_CUT, LOSE_ALL, false },
    { "a read", FAULT_ACCESS, 1, FAULT_NONE, IS_CUT, LOSE_ALL, false },
    { "all reads", FAULT_ACCESS, EVER, FAULT_NONE, CLOSES, LOSE_ALL, false },
    { "a failure", FAULT_REFUSED, 1, FAULT_NONE, IS_CUT, LOSE_ALL, false },
    { "a torn write, and a cut", FAULT_TORN, 1, FAULT_NONE, IS_CUT, LOSE_ALL, false },
    { "a torn write", FAULT_TORN, 1, FAULT_NONE, IS_KILLED, LOSE_NOTHING, false },
    /* A complete copy of a transaction that has failed may be in the log, and no space to write over it. */
    { "a full disk behind a whole write", FAULT_LATE, 1, FAULT_QUOTA, IS_KILLED, LOSE_NOTHING,
      false },
    { "a full disk", FAULT_FULL, EVER, FAULT_NONE, IS_CUT, LOSE_NOTHING, true },
    { "files that cannot grow", FAULT_GROWTH, EVER, FAULT_NONE, IS_CUT, LOSE_SOME, true },
    { "a quota", FAULT_QUOTA, EVER, FAULT_NONE, IS_KILLED, LOSE_ALL, true },
    { "a limit of file sizes", FAULT_LIMIT, EVER, FAULT_NONE, CLOSES, LOSE_ALL, true },
    { "a failed sync", FAULT_SYNC, 1, FAULT_NONE, IS_CUT, LOSE_SOME, false },
    { "a failed sync, all lost", FAULT_SYNC, 1, FAULT_NONE, IS_CUT, LOSE_ALL, false },
    { "a sync without space", FAULT_SYNC_FULL, 1, FAULT_NONE, IS_CUT, LOSE_ALL, false },
    { "syncs without space", FAULT_SYNC_FULL, EVER, FAULT_NONE, IS_CUT, LOSE_ALL, false },
};

enum start { NEW, KILLED, DOUBTFUL, FAILED, STARTS };

static const char *const modes[] = { "DELETE", "WAL", NULL }; /* of the file of a program */
static const char *const *mode;
static const char *const starts[STARTS] = { "no file", "no log", "the log of a kill",
                                            "a log in doubt" };
static const struct way *way;
static enum start start;
static bool tears; /* faulty_vfs_tear() */
static unsigned nth, runs, failed_runs, stopped_runs, refused_opens;

void round_fail(const char *what, uint64_t id, int result) {
    fprintf(stderr, "%s, %s, after %s, operation %u%s: %s: job %llx, result %d: %s\n", way->name,
            *mode == NULL ? "its own file" : *mode, starts[start], nth, tears ? ", sectors" : "",
            what, (unsigned long long)id, result, htw_journal_error());
    exit(1);
}

/* As another program may do. A power cut may bring the log back, in part, with what was written over it. */
static void truncate_log(void) {
    sqlite3 *connection = NULL;
    if (faulty_vfs_failures() > 0)
        return;
    bool is_truncated =
        sqlite3_open(journal_round->path, &connection) == SQLITE_OK &&
        sqlite3_exec(connection, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL) == SQLITE_OK;
    if (sqlite3_close(connection) != SQLITE_OK ||
        (!is_truncated && faulty_vfs_failures() == 0)) /* it may be what fails here */
        round_fail("the log cannot be truncated", 0, 0);
}

/* The journal looks for space each second. */
static _Atomic int64_t shift_ns;

int64_t __real_htw__clock_monotonic_ns(void);
int64_t __wrap_htw__clock_monotonic_ns(void);
int64_t __wrap_htw__clock_monotonic_ns(void) {
    return __real_htw__clock_monotonic_ns() + shift_ns;
}

/* What was refused for want of space is possible again. */
static void recover(void) {
    int result = 0;
    faulty_vfs_relent();
    if (journal_round->journal == NULL && round_open() != 0)
        round_fail("a disk that has space again, and no open", 0, 0);
    for (int i = 0; i < 3000; i++) {
        result = round_put(journal_round->now_ns, 10);
        if (result != -ENOSPC)
            break;
        shift_ns += HTW_SECOND;
        usleep(100);
    }
    if (result != 0 && (*mode == NULL || way->fault == FAULT_GROWTH || !journal_round->has_stopped))
        round_fail("a disk that has space again, and no put", 0, result);
}

static void put_in(void) {
    for (int i = 0; i < 3; i++) {
        (void)round_put_in(NULL, journal_round->now_ns + HTW_SECOND);
        (void)round_take_in();
    }
    round_advance(HTW_SECOND);
    if (journal_round->notes[0].is_committed)
        round_end(ledger_find(&journal_round->ledger, journal_round->notes[0].job), false);
}

static void use(void) {
    int error = round_open();
    if (error == 0) {
        round_change();
        if (*mode == NULL)
            truncate_log();
        else if (!journal_round->has_stopped)
            put_in();
        round_put(journal_round->now_ns + HTW_MINUTE, 10);
    } else {
        refused_opens++;
        if (error != -EIO && error != -ENOSPC && error != -ENOENT && error != -EACCES)
            round_fail("an unexpected error of the open", 0, error);
    }
    if (way->recovers)
        recover();
}

/* Whether the disk has failed. */
static bool run(void) {
    round_begin(nth);
    if (tears)
        faulty_vfs_tear();
    if (start != NEW)
        round_leave(start == KILLED ? IS_KILLED : CLOSES, start == DOUBTFUL ? FAULT_SYNC
                                                          : start == FAILED ? FAULT_LATE
                                                                            : FAULT_NONE);
    long failures = faulty_vfs_failures();
    faulty_vfs_lose(way->loss);
    faulty_vfs_plan(way->fault, faulty_vfs_operations() + nth, way->times);
    if (way->then != FAULT_NONE)
        faulty_vfs_plan(way->then, faulty_vfs_operations() + nth + 1, EVER);
    use();
    bool has_failed = faulty_vfs_failures() > failures;
    if (journal_round->has_stopped && !has_failed)
        round_fail("a disk without a fault, and the journal has stopped", 0, 0);
    runs++;
    failed_runs += has_failed;
    stopped_runs += journal_round->has_stopped;
    /* What a kill leaves of a file of a program is more than its log. */
    round_stop(*mode != NULL && way->stop == IS_KILLED ? CLOSES : way->stop);
    faulty_vfs_reset(1);
    round_judge();
    return has_failed;
}

static void run_ways(unsigned density) {
    const enum start end = *mode == NULL && !tears ? STARTS : NEW + 1;
    for (way = ways; way < ways + sizeof(ways) / sizeof(ways[0]); way++)
        for (start = NEW; start < end; start++) {
            /* Few operations are at the start of a log that another program has cut. */
            bool is_each = way->loss == LOSE_FRONT && start == NEW && *mode == NULL;
            unsigned rest = is_each ? 0 : density > 0 && way->recovers ? 2 : density;
            round_use_guest(*mode);
            for (nth = 1; run(); nth = failing_next(nth, rest))
                continue;
        }
}

int main(int argc, char **argv) {
    char folder[TEST_FOLDER_SIZE];
    unsigned density = argc > 1 && strcmp(argv[1], "--all") == 0 ? 0 : 5;
    if (!test_folder_create(folder))
        return 1;
    round_init(folder, true);
    htw__log_checkpoint_pages = 10;
    for (mode = modes; mode < modes + sizeof(modes) / sizeof(modes[0]); mode++)
        run_ways(density);
    tears = true;
    mode--; /* its own file */
    run_ways(density);
    printf("%u runs: in %u the disk has failed, %u journals have stopped, %u opens were refused\n",
           runs, failed_runs, stopped_runs, refused_opens);
    return !test_folder_remove(folder) || stopped_runs < 50 || refused_opens < 20;
}

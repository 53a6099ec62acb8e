/* SPDX-License-Identifier: MIT */
/*
 * test_journal_disk.c - what a journal does after a write or an fsync has failed, operation by
 * operation.
 *
 * Each operation of the disk fails in turn. A crash is the copy of the files at some moment, which
 * is then opened, or a power cut (faulty_vfs.h).
 */
#include "../../src/journal/database.h"
#include "../support/manual_time.h"
#include "../support/test_folder.h"
#include "../unit/unit.h"
#include "faulty_vfs.h"

#include <htw/journal.h>

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_NS (INT64_C(28333333) * HTW_MINUTE)
#define EVER 1000000 /* operations */

static char folder[TEST_FOLDER_SIZE], path[64], copy_path[64];
static struct htw_scheduler *scheduler;
static struct htw_journal *journal;
static char delivered[64]; /* the payloads, which are one byte each */

static void deliver(void *context, const struct htw_delivery *delivery) {
    (void)context;
    strncat(delivered, delivery->payload, 1);
}

/* ---- rules: a job each minute, which is told by its letter */

static bool obeys_rules;

static int next_minute(const char *schedule, const char *zone, int64_t after_ns,
                       int64_t *ret_next_ns) {
    (void)schedule, (void)zone;
    *ret_next_ns = (after_ns / HTW_MINUTE + 1) * HTW_MINUTE;
    return 0;
}

static void deliver_instant(void *context, const struct htw_delivery *delivery) {
    const char name = (char)('a' + (delivery->deadline_ns - START_NS) / HTW_MINUTE);
    (void)context;
    strncat(delivered, &name, 1);
}

static int open_at(const char *name) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = obeys_rules ? deliver_instant : deliver;
    options.next_instant = obeys_rules ? next_minute : NULL;
    return htw_journal_open(&journal, scheduler, name, &options);
}

static void must_open(const char *name) {
    if (open_at(name) != 0)
        fail_msg("%s", htw_journal_error());
}

static int put(const char *payload) {
    return htw_journal_put(journal, START_NS + HTW_MINUTE, payload, 1, NULL);
}

static bool has_stopped(void) {
    return htw_journal_sync(journal) == -EIO;
}

static void run_shell(const char *format, const char *argument) {
    char command[256];
    snprintf(command, sizeof(command), format, argument, argument);
    assert_int_equal(system(command), 0);
}

UNIT_SETUP(use_a_disk_that_fails) {
    faulty_vfs_register();
}

static void begin(void) {
    assert_true(test_folder_create(folder));
    snprintf(path, sizeof(path), "%s/journal", folder);
    snprintf(copy_path, sizeof(copy_path), "%s/copy", folder);
    faulty_vfs_reset(1);
    htw__log_checkpoint_pages = 4096;
    delivered[0] = '\0';
    obeys_rules = false;
    scheduler = manual_scheduler(START_NS);
    assert_non_null(scheduler);
}

static void end(void) {
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    assert_true(test_folder_remove(folder));
}

/* Again, with a new folder. */
static void begin_again(void) {
    end();
    begin();
}

static void close_journal(void) {
    (void)htw_journal_close(journal);
    journal = NULL;
}

/* What is delivered by a journal on a disk that works. */
static const char *all_of(const char *name) {
    faulty_vfs_reset(1);
    delivered[0] = '\0';
    must_open(name);
    assert_int_equal(htw_scheduler_advance(scheduler, HTW_HOUR), 0);
    close_journal();
    return delivered;
}

static void copy_files(void) {
    run_shell("cp %1$s/journal %1$s/copy && cp %1$s/journal-wal %1$s/copy-wal", folder);
}

/* A complete copy of a transaction that has failed may be in the log, and there may be no space to
   write over it. */
/* holds: journal-4 */
UNIT_TEST_BETWEEN(begin, end, put_that_has_failed_is_not_in_the_log) {
    unsigned failed = 0;
    for (long nth = 1; nth < 30; nth++) {
        must_open(path);
        assert_int_equal(put("a"), 0);
        long done = faulty_vfs_operations();
        faulty_vfs_plan(FAULT_LATE, done + nth, 1);
        faulty_vfs_plan(FAULT_QUOTA, done + nth + 1, EVER);
        int result = put("b");
        bool is_gone = result != 0 && !has_stopped();
        if (result == 0)
            nth = 30;
        failed += result != 0;
        copy_files();
        close_journal();
        const char *all = all_of(copy_path);
        if (strchr(all, 'a') == NULL || (is_gone && strchr(all, 'b') != NULL))
            fail_msg("operation %ld: result %d, and then: %s", nth, result, all);
        begin_again();
    }
    assert_true(failed > 3);
}

/* The kernel forgets what an fsync has not written, and the next one succeeds. */
static void fail_each_fsync(enum fault fault) {
    unsigned stopped = 0;
    htw__log_checkpoint_pages = 5;
    for (long nth = 1; nth < 60; nth++) {
        must_open(path);
        assert_int_equal(put("a"), 0);
        faulty_vfs_plan(fault, faulty_vfs_operations() + nth, 1);
        int first = put("b"), second = put("c");
        assert_true(first == 0 || first == -EIO);
        assert_true(second == 0 || (second == -EIO && faulty_vfs_failures() > 0));
        if (first != 0 || second != 0) {
            stopped++;
            long operations = faulty_vfs_operations();
            assert_int_equal(put("d"), -EIO);
            assert_non_null(strstr(htw_journal_error(), "the journal has stopped"));
            assert_int_equal(htw_journal_sync(journal), -EIO);
            assert_int_equal(htw_scheduler_advance(scheduler, HTW_HOUR), 0);
            assert_string_equal(delivered, "");
            assert_int_equal(htw_journal_done(journal, 1), -EIO);
            close_journal();
            assert_int_equal(faulty_vfs_operations(), operations); /* nothing more is written */
        } else {
            close_journal();
        }
        faulty_vfs_cut();
        const char *all = all_of(path);
        assert_non_null(strchr(all, 'a'));
        assert_true(first != 0 || strchr(all, 'b') != NULL);
        assert_true(second != 0 || strchr(all, 'c') != NULL);
        assert_null(strchr(all, 'd'));
        begin_again();
        htw__log_checkpoint_pages = 5;
    }
    assert_true(stopped > 3);
}

/* holds: journal-5 */
UNIT_TEST_BETWEEN(begin, end, fsync_that_has_failed_stops_the_journal_for_good) {
    fail_each_fsync(FAULT_SYNC);
    begin_again();
    fail_each_fsync(FAULT_SYNC_FULL);
}

/* Whether the log was copied; otherwise the journal has stopped, without any further change. */
static bool waits_for_checkpoint(void) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    for (int i = 0; i < 3000 && stats.checkpoints == 0 && !has_stopped(); i++) {
        usleep(10000);
        assert_int_equal(htw_journal_get_stats(journal, &stats), 0);
    }
    assert_true(stats.checkpoints > 0 || has_stopped());
    return stats.checkpoints > 0;
}

/* holds: journal-5 */
UNIT_TEST_BETWEEN(begin, end, fsync_of_a_checkpoint_that_finds_no_space_stops_the_journal) {
    static char payload[40000];
    unsigned stopped = 0;
    bool is_copied = false;
    payload[0] = 'a';
    for (long nth = 1; !is_copied; nth++) {
        htw__log_checkpoint_pages = 10; /* the put is longer */
        must_open(path);
        faulty_vfs_plan(FAULT_SYNC_FULL, faulty_vfs_operations() + nth, EVER);
        int result =
            htw_journal_put(journal, START_NS + HTW_MINUTE, payload, sizeof(payload), NULL);
        if (result == 0) {
            is_copied = waits_for_checkpoint();
            stopped += !is_copied;
        }
        close_journal();
        faulty_vfs_cut();
        assert_string_equal(all_of(path), result == 0 ? "a" : "");
        begin_again();
    }
    assert_true(stopped > 0);
}

/* The id is that of a put which has failed, or no id. */
static void put_and_keep_id(int expected, uint64_t *ret_id) {
    int result = htw_journal_put(journal, START_NS + HTW_MINUTE, "x", 1, ret_id);
    assert_int_equal(result, expected);
}

UNIT_TEST_BETWEEN(begin, end, id_of_a_put_that_fails_is_not_given_again) {
    unsigned told = 0;
    for (long nth = 1; nth < 8; nth++) {
        uint64_t failed = 0, later, of_copy;
        must_open(path);
        assert_int_equal(put("a"), 0);
        close_journal();
        faulty_vfs_plan(FAULT_QUOTA, faulty_vfs_operations() + nth, EVER);
        if (open_at(path) == 0) {
            put_and_keep_id(-ENOSPC, &failed); /* without an id, if none can be reserved */
            told += failed != 0;
            copy_files();
            faulty_vfs_relent();
            put_and_keep_id(0, &later);
            assert_true(later != 0 && later != failed);
            close_journal();
            faulty_vfs_reset(1);
            must_open(copy_path);
            put_and_keep_id(0, &of_copy);
            assert_true(of_copy != failed);
            close_journal();
        }
        begin_again();
    }
    assert_true(told > 0);
}

static void expect_full_disk(enum fault fault) {
    must_open(path);
    assert_int_equal(put("a"), 0);
    faulty_vfs_plan(fault, 0, EVER);
    assert_int_equal(put("b"), -ENOSPC);
    assert_non_null(strstr(htw_journal_error(), path));
    assert_non_null(strstr(htw_journal_error(), "disk is full"));
    assert_int_equal(put("c"), -ENOSPC);
    faulty_vfs_relent();
    assert_int_equal(put("d"), 0);
    assert_int_equal(htw_scheduler_advance(scheduler, HTW_HOUR), 0);
    assert_string_equal(delivered, "ad");
    close_journal();
}

/* holds: journal-4 */
UNIT_TEST_BETWEEN(begin, end, quota_that_is_used_up_is_a_full_disk) {
    expect_full_disk(FAULT_QUOTA);
}

/* holds: journal-4 */
UNIT_TEST_BETWEEN(begin, end, file_that_may_not_be_longer_is_a_full_disk) {
    expect_full_disk(FAULT_LIMIT);
}

/* ---- a write fails, in whatever way it ends */

static const struct way {
    enum fault fault;
    long times;
    enum loss loss;
} ways[] = {
    { FAULT_POWER, 1, LOSE_NOTHING },   { FAULT_POWER, 1, LOSE_SOME },
    { FAULT_POWER, 1, LOSE_ALL },       { FAULT_REFUSED, 1, LOSE_ALL },
    { FAULT_TORN, 1, LOSE_NOTHING },    { FAULT_LATE, EVER, LOSE_NOTHING },
    { FAULT_FULL, EVER, LOSE_NOTHING }, { FAULT_QUOTA, EVER, LOSE_ALL },
    { FAULT_SYNC, 1, LOSE_SOME },       { FAULT_GROWTH, EVER, LOSE_SOME },
};

/* Whether the disk has failed. A rule is obeyed for three minutes, and after that on a disk that works. */
static bool play_rule(const struct way *way, long nth) {
    struct htw_recurring rule = HTW_RECURRING_INIT;
    rule.name = "rule";
    rule.schedule = "each minute";
    rule.catch_up = 10;
    obeys_rules = true;
    must_open(path);
    assert_int_equal(htw_journal_set_recurring(journal, &rule), 0);
    faulty_vfs_plan(way->fault, faulty_vfs_operations() + nth, way->times);
    assert_int_equal(htw_scheduler_advance(scheduler, 3 * HTW_MINUTE), 0);
    close_journal();
    bool has_failed = faulty_vfs_failures() > 0;
    faulty_vfs_lose(way->loss);
    faulty_vfs_cut();
    faulty_vfs_reset(1);
    delivered[0] = '\0';
    must_open(path);
    assert_int_equal(htw_scheduler_advance(scheduler, 2 * HTW_MINUTE), 0);
    close_journal();
    return has_failed;
}

/* holds: journal-10h */
UNIT_TEST_BETWEEN(begin, end, rule_that_is_cut_off_at_each_write_puts_a_job_once_for_each_instant) {
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        long nth = 0;
        while (play_rule(&ways[i], nth++)) {
            for (char name[] = "b"; name[0] <= 'f'; name[0]++)
                if (strchr(delivered, name[0]) == NULL ||
                    strchr(delivered, name[0]) != strrchr(delivered, name[0]) ||
                    strlen(delivered) != 5)
                    fail_msg("way %zu, operation %ld: %s", i, nth, delivered);
            begin_again();
        }
        assert_string_equal(delivered, "bcdef");
        if (ways[i].fault == FAULT_GROWTH) /* the first put has made room: nothing grows */
            assert_int_equal(nth, 1);
        else
            assert_true(nth > 5);
        begin_again();
    }
}

/* ---- a log that a process has left on a disk that is full */

static const enum fault full_disks[] = { FAULT_FULL, FAULT_GROWTH, FAULT_QUOTA, FAULT_LIMIT };

/* `copy` is a journal with the jobs a and b in its log, as a kill leaves it. */
static void leave_copy(void) {
    must_open(path);
    assert_int_equal(put("a"), 0);
    assert_int_equal(put("b"), 0);
    copy_files();
    close_journal();
    faulty_vfs_reset(1);
}

/* From each operation on. */
/* holds: journal-19 */
UNIT_TEST_BETWEEN(begin, end, journal_that_was_killed_on_a_full_disk_opens_and_delivers) {
    for (unsigned i = 0; i < sizeof(full_disks) / sizeof(full_disks[0]); i++)
        for (long nth = 0; nth < 25; nth++) {
            leave_copy();
            faulty_vfs_plan(full_disks[i], nth, EVER);
            must_open(copy_path);
            assert_int_equal(htw_scheduler_advance(scheduler, HTW_HOUR), 0);
            assert_string_equal(delivered, "ab");
            int result = put("c");
            assert_true(result == 0 || result == -ENOSPC);
            close_journal();
            faulty_vfs_cut();
            if (strcmp(all_of(copy_path), result == 0 ? "abc" : "ab") != 0)
                fail_msg("disk %u, operation %ld: %s", i, nth, delivered);
            begin_again();
        }
}

/* The copy of the log in the file would be longer: a put that adds to that is refused, an end is not. */
/* holds: journal-19 */
UNIT_TEST_BETWEEN(begin, end, journal_ends_jobs_where_its_file_cannot_grow) {
    static char payload[8000];
    uint64_t id;
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    htw__log_checkpoint_pages = 40;
    must_open(path);
    for (int i = 0; i < 30 && stats.checkpoints == 0; i++) {
        assert_int_equal(
            htw_journal_put(journal, START_NS + HTW_DAY, payload, sizeof(payload), &id), 0);
        assert_int_equal(htw_journal_get_stats(journal, &stats), 0);
    }
    assert_int_equal(htw_journal_put(journal, START_NS + HTW_MINUTE, payload, sizeof(payload), &id),
                     0);
    copy_files();
    close_journal();
    faulty_vfs_reset(1);
    faulty_vfs_plan(FAULT_GROWTH, 0, EVER);
    must_open(copy_path);
    assert_int_equal(htw_journal_cancel(journal, id), 0);
    assert_int_equal(put("c"), -ENOSPC);
    close_journal();
    faulty_vfs_cut();
    assert_string_equal(all_of(copy_path), "");
}

/* An fsync of an earlier process has failed: what was appended behind its commits could be lost with
   them. */
/* holds: journal-19 */
UNIT_TEST_BETWEEN(begin, end, journal_changes_nothing_before_its_log_is_on_the_disk) {
    leave_copy();
    faulty_vfs_plan(FAULT_FULL, 0, EVER);
    must_open(copy_path);
    long operations = faulty_vfs_operations();
    assert_true(operations > 0);
    assert_int_equal(put("c"), -ENOSPC);
    assert_non_null(strstr(htw_journal_error(), copy_path));
    run_shell("cp %1$s/copy-wal %1$s/before", folder);
    assert_int_equal(put("c"), -ENOSPC);
    close_journal();
    run_shell("cmp %1$s/before %1$s/copy-wal", folder);
    must_open(copy_path);
    faulty_vfs_relent();
    int result;
    for (int i = 0; (result = put("d")) != 0 && i < 3000; i++) {
        assert_int_equal(result, -ENOSPC);
        usleep(10000);
    }
    assert_int_equal(result, 0);
    close_journal();
    faulty_vfs_cut();
    assert_string_equal(all_of(copy_path), "abd");
}

/* The kernel has the log as it was written, and the disk has not. */
/* holds: journal-19 */
UNIT_TEST_BETWEEN(begin, end, change_is_not_appended_to_what_a_power_cut_can_take_away) {
    unsigned refused = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        faulty_vfs_reset(seed);
        must_open(path);
        assert_int_equal(put("a"), 0);
        faulty_vfs_plan(FAULT_SYNC, faulty_vfs_operations(), 1);
        assert_int_equal(put("b"), -EIO);
        close_journal();
        faulty_vfs_relent();
        /* Both attempts to write it again fail: that of the open, and that of the writer. */
        faulty_vfs_plan(FAULT_QUOTA, faulty_vfs_operations(), 2);
        must_open(path);
        int result = put("c");
        refused += result == -ENOSPC;
        close_journal();
        faulty_vfs_cut();
        const char *all = all_of(path);
        if (all[0] != 'a' || (strchr(all, 'c') != NULL) != (result == 0))
            fail_msg("seed %d, result %d: %s", (int)seed, result, all);
        begin_again();
    }
    assert_true(refused > 0);
}

/* ---- another program */

static void truncate_log(void) {
    sqlite3 *connection;
    assert_int_equal(sqlite3_open(path, &connection), SQLITE_OK);
    assert_int_equal(sqlite3_exec(connection, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(connection), SQLITE_OK);
}

/* A power cut may bring the truncated log back, in part, with what was written over it. */
/* holds: journal-1 */
UNIT_TEST_BETWEEN(begin, end, journal_loses_nothing_if_another_program_truncates_its_log) {
    for (uint64_t seed = 1; seed <= 8; seed++)
        for (long nth = 1; nth < 25; nth++) {
            faulty_vfs_reset(seed);
            must_open(path);
            for (char name[] = "a"; name[0] <= 'j'; name[0]++)
                assert_int_equal(put(name), 0);
            truncate_log();
            faulty_vfs_plan(FAULT_POWER, faulty_vfs_operations() + nth, 1);
            int result = put("k");
            faulty_vfs_power_off();
            close_journal();
            faulty_vfs_cut();
            const char *all = all_of(path);
            if (strncmp(all, "abcdefghij", 10) != 0 || (result == 0 && all[10] != 'k'))
                fail_msg("seed %d, operation %ld: %s", (int)seed, nth, all);
            begin_again();
        }
}

/* SPDX-License-Identifier: MIT */
/*
 * test_journal_disk.c - what a journal does after a write or an fsync has failed, operation by
 * operation.
 *
 * Each operation of the disk fails in turn. A crash is the copy of the files at some moment, which
 * is then opened, or a power cut (faulty_vfs.h).
 */
#include "../../src/journal/database.h"
#include "../support/test_folder.h"
#include "../unit/unit.h"
#include "faulty_vfs.h"

#include <htw/journal.h>

#include <errno.h>
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

static int open_at(const char *name) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = deliver;
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

static void make_scheduler(void) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.clock = HTW_CLOCK_MANUAL;
    options.manual_start_ns = START_NS;
    options.workers = 0;
    options.shards = 1;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
}

static void run_shell(const char *format, const char *argument) {
    char command[256];
    snprintf(command, sizeof(command), format, argument, argument);
    assert_int_equal(system(command), 0);
}

static int begin(void **state) {
    (void)state;
    assert_true(test_folder_create(folder));
    snprintf(path, sizeof(path), "%s/journal", folder);
    snprintf(copy_path, sizeof(copy_path), "%s/copy", folder);
    faulty_vfs_reset(1);
    htw__log_checkpoint_pages = 4096;
    delivered[0] = '\0';
    make_scheduler();
    return 0;
}

static int end(void **state) {
    (void)state;
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    assert_true(test_folder_remove(folder));
    return 0;
}

/* Again, with a new folder. */
static void begin_again(void) {
    end(NULL);
    begin(NULL);
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
static void put_that_has_failed_is_not_in_the_log(void **state) {
    (void)state;
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
static void fsync_that_has_failed_stops_the_journal_for_good(void **state) {
    (void)state;
    unsigned stopped = 0;
    htw__log_checkpoint_pages = 5;
    for (long nth = 1; nth < 60; nth++) {
        must_open(path);
        assert_int_equal(put("a"), 0);
        faulty_vfs_plan(FAULT_SYNC, faulty_vfs_operations() + nth, 1);
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

/* The id is that of a put which has failed, or no id. */
static void put_and_keep_id(int expected, uint64_t *ret_id) {
    int result = htw_journal_put(journal, START_NS + HTW_MINUTE, "x", 1, ret_id);
    assert_int_equal(result, expected);
}

/* While the disk is full at the open, it cannot be made durable that ids are in use. */
static void id_of_a_put_that_fails_first_is_not_given_again(void **state) {
    (void)state;
    unsigned opened = 0, without_id = 0;
    for (long nth = 1; nth < 30; nth++) {
        uint64_t failed = 1, later, of_copy;
        must_open(path);
        assert_int_equal(put("a"), 0);
        close_journal();
        faulty_vfs_plan(FAULT_QUOTA, faulty_vfs_operations() + nth, EVER);
        if (open_at(path) == 0) {
            opened++;
            put_and_keep_id(-ENOSPC, &failed);
            without_id += failed == 0;
            copy_files();
            faulty_vfs_relent();
            if (failed == 0) /* this one makes it durable */
                put_and_keep_id(-ENOSPC, &later);
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
    assert_true(opened > without_id && without_id > 0);
}

static void quota_that_is_used_up_is_a_full_disk(void **state) {
    (void)state;
    must_open(path);
    assert_int_equal(put("a"), 0);
    faulty_vfs_plan(FAULT_QUOTA, 0, EVER);
    assert_int_equal(put("b"), -ENOSPC);
    assert_non_null(strstr(htw_journal_error(), path));
    assert_int_equal(put("c"), -ENOSPC);
    faulty_vfs_relent();
    assert_int_equal(put("d"), 0);
    assert_int_equal(htw_scheduler_advance(scheduler, HTW_HOUR), 0);
    assert_string_equal(delivered, "ad");
    close_journal();
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(put_that_has_failed_is_not_in_the_log),
        CASE(fsync_that_has_failed_stops_the_journal_for_good),
        CASE(id_of_a_put_that_fails_first_is_not_given_again),
        CASE(quota_that_is_used_up_is_a_full_disk),
    };
    faulty_vfs_register();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

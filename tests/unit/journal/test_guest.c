/* SPDX-License-Identifier: MIT */
/* test_guest.c - a journal in the database of a program, whose transactions put jobs. */
#include "../../support/told.h"
#include "journal_fixture.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

static sqlite3 *program;

static void run_sql(const char *text) {
    char *message = NULL;
    if (sqlite3_exec(program, text, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", text, message);
}

static int64_t number_of(const char *text) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(program, text, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(program));
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static void setup(void) {
    journal_setup();
    journal_fixture.options.is_guest = true;
    journal_fixture.options.inbox_ns = HTW_NEVER_NS;
    assert_int_equal(sqlite3_open(journal_fixture.path, &program), SQLITE_OK);
    sqlite3_busy_timeout(program, 60000);
    run_sql("CREATE TABLE note (text TEXT NOT NULL, job INTEGER)");
}

static void teardown(void) {
    sqlite3_close(program);
    journal_teardown();
}

#define GUEST_TEST(name) \
    UNIT_TEST_ON(struct journal_fixture *f, &journal_fixture, setup, teardown, name)

static struct htw_job job_of(int64_t after_ns, const char *text) {
    return JOB(.deadline_ns = START_NS + after_ns, TEXT(text));
}

static uint64_t put_job(struct htw_job job) {
    int error = htw_journal_put_in(program, &job);
    if (error != 0)
        fail_msg("htw_journal_put_in: %d: %s", error, htw_journal_error());
    return job.id;
}

static uint64_t put_in(int64_t after_ns, const char *text) {
    return put_job(job_of(after_ns, text));
}

/* All that is in the inbox. */
static void take_in(struct journal_fixture *f) {
    do {
        assert_int_equal(htw_journal_wake(f->journal), 0);
        journal_sync(f);
    } while (number_of("SELECT count(*) FROM htw_inbox") != 0);
}

static const char *deliver_until(struct journal_fixture *f, int64_t after_ns) {
    take_in(f);
    journal_advance_to(f, after_ns);
    return journal_texts(f);
}

/* ---- putting */

GUEST_TEST(guest_takes_in_more_than_one_step_holds) {
    journal_open(f);
    run_sql("BEGIN");
    for (int i = 0; i < 1000; i++)
        put_in(i % 7 * HTW_SECOND, "x");
    run_sql("COMMIT");
    deliver_until(f, HTW_MINUTE);
    struct htw_journal_stats stats = journal_stats(f);
    assert_int_equal(stats.put, 1000);
    assert_int_equal(stats.done, 1000);
    assert_int_equal(number_of("SELECT count(*) FROM htw_moved"), 0);
}

GUEST_TEST(guest_takes_in_a_job_of_which_nobody_tells) {
    f->options.inbox_ns = HTW_MILLISECOND;
    journal_open(f);
    put_in(HTW_SECOND, "a");
    while (journal_stats(f).put == 0)
        ;
    journal_advance_to(f, HTW_SECOND);
    assert_string_equal(journal_texts(f), "a");
}

/* ---- the file of the program */

/* holds: journal-21 */
GUEST_TEST(guest_leaves_the_settings_of_the_file) {
    run_sql("PRAGMA user_version = 7; PRAGMA application_id = 9");
    journal_open(f);
    journal_put(f, HTW_SECOND, "a");
    put_in(0, "b");
    assert_string_equal(deliver_until(f, HTW_SECOND), "b a");
    journal_close(f);
    assert_int_equal(number_of("PRAGMA user_version"), 7);
    assert_int_equal(number_of("PRAGMA application_id"), 9);
    assert_int_equal(
        number_of("SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'delete'"), 1);
    assert_int_equal(number_of("SELECT version FROM htw_format"), 5);
}

static int64_t log_size(const struct journal_fixture *f) {
    char name[160];
    struct stat status;
    snprintf(name, sizeof(name), "%s-wal", f->path);
    return stat(name, &status) == 0 ? (int64_t)status.st_size : -1;
}

/* holds: journal-21 */
GUEST_TEST(guest_never_copies_the_log) {
    run_sql("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
    journal_open(f);
    for (int i = 0; i < 1100; i++)
        journal_put(f, HTW_HOUR, "a");
    assert_true(log_size(f) > 1000 * 4096);
    sqlite3_close(program);
    journal_close(f);
    assert_true(log_size(f) > 1000 * 4096);
    assert_int_equal(sqlite3_open(f->path, &program), SQLITE_OK);
    assert_int_equal(number_of("SELECT jobs FROM htw_meta"), 1100);
}

static int64_t slept_us;

/* Takes no time. The program commits after five seconds. */
static int sleep_not(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    slept_us += microseconds;
    if (slept_us > 5000000 && !sqlite3_get_autocommit(program))
        (void)sqlite3_exec(program, "COMMIT", NULL, NULL, NULL);
    return microseconds;
}

/* holds: journal-21 */
GUEST_TEST(guest_waits_for_a_program_that_holds_the_lock) {
    static const char *const modes[] = { "DELETE", "WAL" };
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    int (*const sleep_really)(sqlite3_vfs *, int) = vfs->xSleep;
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        char text[40];
        snprintf(text, sizeof(text), "PRAGMA journal_mode = %s", modes[i]);
        run_sql(text);
        journal_open(f);
        run_sql("BEGIN EXCLUSIVE; INSERT INTO note VALUES ('n', 1)");
        vfs->xSleep = sleep_not;
        slept_us = 0;
        uint64_t id = 0;
        int put = htw_journal_put(f->journal, START_NS + HTW_HOUR, "a", 1, &id);
        vfs->xSleep = sleep_really;
        assert_int_equal(put, 0);
        assert_true(slept_us > 5000000);
        assert_int_equal(htw_journal_done(f->journal, id), 0);
        journal_close(f);
    }
}

GUEST_TEST(guest_trigger_of_a_table_puts_a_job) {
    journal_open(f);
    run_sql("CREATE TRIGGER t AFTER INSERT ON note BEGIN INSERT INTO htw_inbox (deadline, payload) "
            "VALUES (0, CAST(new.text AS BLOB)); END; INSERT INTO note VALUES ('n', 1)");
    assert_string_equal(deliver_until(f, 0), "n");
}

GUEST_TEST(guest_refuses_rows_that_are_no_jobs) {
    static const char *const rows[] = {
        "(deadline, payload) VALUES ('soon', x'')",
        "(deadline, payload) VALUES (0, 'text')",
        "(deadline, payload, key) VALUES (0, x'', 'text')",
        "(deadline, payload, queue) VALUES (0, x'', '')",
        "(deadline, payload, queue) VALUES (0, x'', 'a' || char(0) || 'b')",
        "(deadline, payload, priority) VALUES (0, x'', -1)",
        "(deadline, payload, priority) VALUES (0, x'', 4294967296)",
        "(deadline, payload, lease) VALUES (0, x'', -1)",
        "(id, deadline, payload) VALUES (1, 0, x'')",
    };
    journal_open(f);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[200];
        snprintf(text, sizeof(text), "INSERT INTO htw_inbox %s", rows[i]);
        assert_int_equal(sqlite3_exec(program, text, NULL, NULL, NULL), SQLITE_CONSTRAINT);
    }
}

GUEST_TEST(guest_refuses_what_is_no_file_of_a_guest) {
    struct htw_job job = job_of(0, "a");
    assert_int_equal(htw_journal_put_in(program, &job), -EINVAL);
    assert_non_null(strstr(htw_journal_error(), "htw_inbox"));
    run_sql("CREATE TABLE htw_mine (a)");
    assert_int_equal(journal_try_open(f), -EBADMSG);
    run_sql("DROP TABLE htw_mine");
    journal_open(f);
    journal_close(f);
    f->options.is_guest = false;
    f->options.inbox_ns = 0;
    assert_int_equal(journal_try_open(f), -EBADMSG);
    f->options.is_guest = true;
    run_sql("UPDATE htw_format SET version = 9");
    assert_int_equal(journal_try_open(f), -EPROTONOSUPPORT);
    run_sql("UPDATE htw_format SET version = 5; CREATE INDEX mine ON htw_job (deadline)");
    assert_int_equal(journal_try_open(f), -EBADMSG);
    run_sql("DROP INDEX mine; CREATE INDEX mine ON note (text)");
    journal_open(f);
}

GUEST_TEST(guest_refuses_a_journal_and_texts_that_are_not_utf_8) {
    char *mine = f->path;
    f->options.is_guest = false;
    f->options.inbox_ns = 0;
    strcat(mine, "2");
    journal_open(f);
    assert_int_equal(htw_journal_wake(f->journal), -EINVAL);
    journal_close(f);
    f->options.is_guest = true;
    struct htw_journal *none;
    assert_int_equal(htw_journal_open(&none, f->scheduler, NULL, &f->options), -EINVAL);
    assert_int_equal(journal_try_open(f), -EBADMSG);
    mine[strlen(mine) - 1] = '3';
    journal_execute(f, "PRAGMA encoding = 'UTF-16'; CREATE TABLE a (b)");
    assert_int_equal(journal_try_open(f), -ENOTSUP);
}

/* ---- a file that is damaged while it is open */

static void write_root_of(const struct journal_fixture *f, const char *sql) {
    static const char nothing[4096];
    int fd = open(f->path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, nothing, sizeof(nothing), (number_of(sql) - 1) * 4096), 4096);
    close(fd);
    run_sql("INSERT INTO note VALUES ('who reads again', 0)");
}

static void fail_otherwise(enum htw_log_level level, const char *subsystem, const char *message) {
    keep_told(level, subsystem, message);
    (void)!htw_journal_put_in(NULL, NULL);
}

GUEST_TEST(guest_that_finds_damage_tells_once_why_it_has_stopped) {
    journal_open(f);
    begin_told(fail_otherwise);
    write_root_of(f, "SELECT rootpage FROM sqlite_schema WHERE name = 'htw_inbox'");
    assert_int_equal(htw_journal_wake(f->journal), 0);
    assert_told("malformed: the journal has stopped");
    assert_int_equal(told.count, 1);
    journal_expect_stopped(f, "malformed");
}

/* SPDX-License-Identifier: MIT */
/* test_schema.c - which tables the file of a journal may have, and which SQLite may read it. */
#include "journal_fixture.h"

#include <fcntl.h>
#include <sqlite3.h>

#define ENDLESS "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT "

/* Before any of them is used. */
/* holds: journal-12 */
JOURNAL_TEST(journal_whose_tables_are_others_is_refused) {
#define QUEUE(values) "INSERT INTO htw_queue VALUES (" values ")", -EBADMSG
#define NO_POLICY ", NULL, NULL, NULL, NULL, NULL"
#define COUNTER(value) "UPDATE htw_meta SET " value, -EBADMSG, "counters of the journal are damaged"
    static const struct {
        const char *change;
        int error;
        const char *part; /* of the sentence */
    } rows[] = {
        { "DROP TABLE htw_job; CREATE VIEW htw_job AS " ENDLESS
          "x AS id, x AS deadline, NULL AS key, x'61' AS payload FROM n",
          -EBADMSG, "altered" },
        { "DROP TABLE htw_meta; CREATE VIEW htw_meta AS " ENDLESS
          "1 AS one, 0 AS jobs, 1 AS next_sequence, 0 AS generation FROM n",
          -EBADMSG, "altered" },
        { "DROP INDEX htw_job_key", -EBADMSG, "altered" },
        { "DROP INDEX htw_moved_place", -EBADMSG, "altered" },
        { "ALTER TABLE htw_job RENAME TO jobs", -EBADMSG, "altered" },
        { "ALTER TABLE htw_job ADD COLUMN zeros BLOB AS (zeroblob(900000000))", -EBADMSG,
          "altered" },
        { "ALTER TABLE htw_job ADD COLUMN more CHECK (length(hex(zeroblob(4 + id - id))) > 0)",
          -EBADMSG, "altered" },
        { "CREATE TRIGGER t AFTER UPDATE ON htw_meta BEGIN INSERT INTO htw_block " ENDLESS
          "x, 1 FROM n; END",
          -EBADMSG, "altered" },
        { "CREATE INDEX i ON htw_job (zeroblob(9 + id - id))", -EBADMSG, "altered" },
        { "CREATE INDEX i ON htw_block (first)", -EBADMSG, "altered" },
        { "CREATE TABLE other (a INTEGER)", -EBADMSG, "altered" },
        { "CREATE VIEW other AS SELECT 1", -EBADMSG, "altered" },
        { "CREATE VIRTUAL TABLE other USING rtree (a, b, c)", -EBADMSG, "altered" },
        { "CREATE TABLE _litestream_lock (id INTEGER, b TEXT)", -EBADMSG, "altered" },
        { "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'deadline "
          "INTEGER "
          "NOT NULL', 'deadline INTEGER NOT NULL CHECK (deadline = 1)')",
          -EBADMSG, "altered" },
        { "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = sql || ' '", -EBADMSG,
          "altered" },
        { "PRAGMA user_version = 1", -EPROTONOSUPPORT,
          "has format 1, and this version of libhtw knows format 5" },
        { "PRAGMA user_version = 6", -EPROTONOSUPPORT, "has format 6" },
        { "PRAGMA user_version = 0", -EBADMSG, "damaged" },
        { "DELETE FROM htw_meta", -EBADMSG, "lost its counters" },
        { "DROP TABLE htw_meta", -EBADMSG, "altered: a table" },
        { COUNTER("jobs = -1") },
        { COUNTER("jobs = 9223372036854775807") },
        { COUNTER("generation = -1") },
        { COUNTER("generation = 9223372036854775807") },
        { COUNTER("last_put = -1") },
        { COUNTER("next_sequence = 0") },
        { COUNTER("next_sequence = 257") },
        { COUNTER("next_sequence = (1 << 53) + 256") },
        { QUEUE("7, x'61', 2, -1, 0, 0" NO_POLICY), "counts of a queue" },
        { QUEUE("7, x'61', 0, 0, 0, 9223372036854775807" NO_POLICY), "counts of a queue" },
        { QUEUE("0, x'61', 0, 0, 0, 0" NO_POLICY), "queue of the journal" },
        { QUEUE("7, x'', 0, 0, 0, 0" NO_POLICY), "queue of the journal" },
        { QUEUE("-1, x'61', 0, 0, 0, 0" NO_POLICY), "queue of the journal" },
        { QUEUE("1 << 29, x'61', 0, 0, 0, 0" NO_POLICY), "queue of the journal" },
        { QUEUE("7, x'610061', 0, 0, 0, 0" NO_POLICY), "queue of the journal" },
        { QUEUE("7, zeroblob(300), 0, 0, 0, 0" NO_POLICY), "queue of the journal" },
        { QUEUE("7, printf('%256d', 1), 0, 0, 0, 0" NO_POLICY), "queue of the journal" },
        { QUEUE("6, x'61', 0, 0, 0, 0" NO_POLICY "), (7, x'61', 0, 0, 0, 0" NO_POLICY),
          "queue of the journal" },
        { QUEUE("7, x'61', 0, 0, 0, 0, 3, 1, 2, 0.5, 0"), "policy of a queue" },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        journal_open(f);
        journal_put(f, HTW_HOUR, "a");
        journal_close(f);
        journal_execute(f, rows[i].change);
        int error = journal_try_open(f);
        if (error != rows[i].error || strstr(htw_journal_error(), rows[i].part) == NULL)
            fail_msg("after %s: %d: %s", rows[i].change, error, htw_journal_error());
        unlink(f->path);
    }
}

/* What SQLite's ANALYZE and Litestream add. */
JOURNAL_TEST(journal_with_tables_that_do_no_harm_is_opened) {
    journal_open(f);
    journal_put(f, HTW_HOUR, "a");
    journal_close(f);
    journal_execute(
        f, "ANALYZE;"
           "CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);"
           "CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER);"
           "INSERT INTO _litestream_seq (id, seq) VALUES (1, 1);"
           "VACUUM");
    journal_open(f);
    journal_advance_to(f, HTW_HOUR);
    assert_string_equal(journal_texts(f), "a");
}

/* SQLite reads it, and refuses to write. */
JOURNAL_TEST(journal_of_a_later_version_of_sqlite_is_refused) {
    journal_open(f);
    journal_close(f);
    int fd = open(f->path, O_RDWR);
    assert_int_equal(pwrite(fd, "\3", 1, 18), 1);
    close(fd);
    assert_int_equal(journal_try_open(f), -EROFS);
    assert_non_null(strstr(journal_problem_of(f->path), "only reads"));
}

/* It would take as long to read as there is room in a file. */
JOURNAL_TEST(journal_whose_schema_is_long_is_refused) {
    static const char tables[] =
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 20000) "
        "INSERT INTO sqlite_master SELECT 'table', 't' || x, 't' || x, 2, 'CREATE TABLE t' || x || "
        "' (a)' FROM n";
    static const char *const ways[] = {
        tables,
        "UPDATE sqlite_master SET sql = sql || hex(zeroblob(10000)) WHERE name = 'htw_meta'",
    };
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        char text[512];
        journal_open(f);
        journal_close(f);
        snprintf(text, sizeof(text), "PRAGMA writable_schema = ON; %s", ways[i]);
        journal_execute(f, text);
        assert_int_equal(journal_try_open(f), -EBADMSG);
        unlink(f->path);
    }
}

/* ---- SQLite: two of its functions are replaced */

static int version = SQLITE_VERSION_NUMBER, threadsafe = 1;

int sqlite3_libversion_number(void) {
    return version;
}

int sqlite3_threadsafe(void) {
    return threadsafe;
}

static void assert_refused(struct journal_fixture *f, const char *part) {
    assert_int_equal(journal_try_open(f), -ENOTSUP);
    assert_non_null(strstr(htw_journal_error(), part));
    assert_int_equal(access(f->path, F_OK), -1);
}

/* holds: journal-12 */
JOURNAL_TEST(journal_refuses_a_sqlite_that_is_too_old_or_has_no_mutexes) {
    version = 3030001;
    threadsafe = 1;
    assert_refused(f, "3.31.0");
    version = 3031000;
    threadsafe = 0;
    assert_refused(f, "mutexes");
    version = SQLITE_VERSION_NUMBER;
    threadsafe = 2;
    journal_open(f);
    threadsafe = 1;
}

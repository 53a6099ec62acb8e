/* SPDX-License-Identifier: MIT */
/* test_schema.c - which tables the file of a journal may have. */
#include "journal_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ENDLESS "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT "

/* holds: journal-12 */
JOURNAL_TEST(journal_whose_tables_are_others_is_refused_before_they_are_used) {
    static const char *const alterations[] = {
        "DROP TABLE job; CREATE VIEW job AS " ENDLESS
        "x AS id, x AS deadline, NULL AS key, x'61' AS payload FROM n",
        "DROP TABLE meta; CREATE VIEW meta AS " ENDLESS
        "1 AS one, 0 AS jobs, 0 AS keyed, 1 AS next_sequence, 0 AS generation, NULL AS mark FROM n",
        "DROP TABLE job_key",
        "DROP TABLE moved_place",
        "ALTER TABLE job RENAME TO jobs",
        "ALTER TABLE job ADD COLUMN zeros BLOB AS (zeroblob(900000000))",
        "ALTER TABLE job ADD COLUMN more CHECK (length(hex(zeroblob(4 + id - id))) > 0)",
        "CREATE TRIGGER t AFTER UPDATE ON meta BEGIN INSERT INTO job_key " ENDLESS
        "x, 1 FROM n; END",
        "CREATE INDEX i ON job (zeroblob(9 + id - id))",
        "CREATE INDEX i ON job_key (id)",
        "CREATE TABLE other (a INTEGER)",
        "CREATE VIEW other AS SELECT 1",
        "CREATE VIRTUAL TABLE other USING rtree (a, b, c)",
        "CREATE TABLE _litestream_lock (id INTEGER, b TEXT)",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'deadline "
        "INTEGER "
        "NOT NULL', 'deadline INTEGER NOT NULL CHECK (deadline = 1)')",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = sql || ' '",
    };
    for (size_t i = 0; i < COUNT_OF(alterations); i++) {
        journal_open(f);
        journal_put(f, HTW_HOUR, "a");
        journal_close(f);
        journal_execute(f, alterations[i]);
        if (journal_try_open(f) != -EBADMSG)
            fail_msg("opened after: %s", alterations[i]);
        bool says = strstr(htw_journal_error(), "is missing or altered") != NULL ||
                    strstr(htw_journal_error(), "was altered") != NULL;
        if (!says)
            fail_msg("%s: %s", alterations[i], htw_journal_error());
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

/* It would take as long to read as there is room in a file. */
JOURNAL_TEST(journal_whose_schema_is_long_is_refused) {
    static const char tables[] =
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 20000) "
        "INSERT INTO sqlite_master SELECT 'table', 't' || x, 't' || x, 2, 'CREATE TABLE t' || x || "
        "' (a)' FROM n";
    static const char *const ways[] = {
        tables,
        "UPDATE sqlite_master SET sql = sql || hex(zeroblob(10000)) WHERE name = 'meta'",
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

JOURNAL_TEST(journal_whose_counters_are_damaged_is_refused) {
    static const char *const changes[] = {
        "jobs = -1",           "jobs = 9223372036854775807",
        "keyed = jobs + 1",    "keyed = -1",
        "generation = -1",     "generation = 9223372036854775807",
        "moved = 1",           "moved = -1",
        "last_put = -1",       "next_sequence = 0",
        "next_sequence = 257", "next_sequence = (1 << 53) + 256",
    };
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        char text[128];
        journal_open(f);
        journal_close(f);
        snprintf(text, sizeof(text), "UPDATE meta SET %s", changes[i]);
        journal_execute(f, text);
        assert_int_equal(journal_try_open(f), -EBADMSG);
        assert_non_null(strstr(htw_journal_error(), "counters of the journal are damaged"));
        unlink(f->path);
    }
}

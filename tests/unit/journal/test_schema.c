/* SPDX-License-Identifier: MIT */
/* test_schema.c - which tables the file of a journal may have. */
#include "../../../src/journal/place.h"
#include "../../support/journal_format_1.h"
#include "journal_fixture.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A job under a key, as version 0.2 has written it. */
JOURNAL_TEST(journal_of_version_0_2_is_opened) {
    char mark[4];
    journal_execute(
        f, JOURNAL_FORMAT_1
        "INSERT INTO job VALUES ((28333333 << 35) + 1, 28333333 * 60000000000 + 5, x'6b', x'61');"
        "INSERT INTO job_key VALUES (x'6b', (28333333 << 35) + 1);"
        "INSERT INTO meta VALUES (1, 1, 1, 131074, 2, x'6d');");
    journal_open(f);
    assert_int_equal(htw_journal_get_mark(f->journal, mark, sizeof(mark)), 1);
    journal_advance_to(f, HTW_SECOND);
    assert_int_equal(f->seen_count, 1);
    assert_int_equal(f->seen[0].id, (UINT64_C(28333333) << 35) + 1);
    assert_true(f->seen[0].has_key);
    assert_string_equal(journal_texts(f), "a");
    assert_int_equal(journal_stats(f).jobs, 0);
}

/* ---- format 1 */

static void execute_format(const struct journal_fixture *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void execute_format(const struct journal_fixture *f, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    journal_execute(f, text);
}

static uint64_t add_old(const struct journal_fixture *f, int64_t deadline_ns, uint64_t sequence,
                        const char *payload) {
    uint64_t id = htw__bucket_of(deadline_ns) << 35 | sequence;
    execute_format(f,
                   "INSERT INTO job VALUES (%llu, %lld, NULL, CAST('%s' AS BLOB));"
                   "UPDATE meta SET jobs = jobs + 1",
                   (unsigned long long)id, (long long)deadline_ns, payload);
    return id;
}

/* SQLite compares the texts of tables as they were changed with those of new ones. */
JOURNAL_TEST(journal_of_format_1_becomes_one_of_format_2_with_the_same_tables) {
    char other[160];
    journal_execute(f, JOURNAL_FORMAT_1 "INSERT INTO meta VALUES (1, 0, 0, 1, 0, NULL)");
    for (int i = 0; i < 2; i++) { /* it is opened as one of format 2, too */
        journal_open(f);
        journal_put(f, HTW_HOUR, "a");
        journal_close(f);
    }
    snprintf(other, sizeof(other), "%s-new", f->path);
    assert_int_equal(htw_journal_open(&f->journal, f->scheduler, other, &f->options), 0);
    journal_close(f);
    execute_format(f,
                   "ATTACH '%s' AS n; CREATE TEMP TABLE t (same CHECK (same)); INSERT INTO t "
                   "SELECT count(*) = 9 AND count(*) = (SELECT count(*) FROM n.sqlite_master) FROM "
                   "main.sqlite_master m JOIN n.sqlite_master USING (name, sql)",
                   other);
}

/* Each is delivered once and in order, and can be ended by its id. */
/* holds: journal-14 */
JOURNAL_TEST(journal_of_format_1_keeps_the_jobs_of_all_minutes) {
    static const int64_t deadlines[] = {
        INT64_MIN, -1, 0, 59 * HTW_SECOND, HTW_MINUTE, 100 * HTW_DAY, START_NS, START_NS + HTW_HOUR
    };
    uint64_t ids[COUNT_OF(deadlines)];
    journal_execute(f, JOURNAL_FORMAT_1 "INSERT INTO meta VALUES (1, 0, 0, 131073, 0, NULL)");
    for (size_t i = 0; i < COUNT_OF(deadlines); i++)
        ids[i] = add_old(f, deadlines[i], 10 + i, "old");
    uint64_t never = add_old(f, HTW_NEVER_NS, 20, "never");
    uint64_t cancelled = add_old(f, START_NS + 2 * HTW_HOUR, 21, "cancelled");
    f->keeps = true;
    journal_open(f);
    assert_int_equal(htw_journal_cancel(f->journal, cancelled), 0);
    assert_int_equal(htw_journal_cancel(f->journal, never), 0);
    journal_advance_to(f, HTW_DAY);
    assert_int_equal(f->seen_count, COUNT_OF(deadlines));
    for (size_t i = 0; i < COUNT_OF(deadlines); i++) {
        assert_int_equal(f->seen[i].id, ids[i]);
        assert_int_equal(f->seen[i].deadline_ns, deadlines[i]);
        assert_int_equal(htw_journal_done(f->journal, ids[i]), 0);
    }
    journal_close(f);
    f->seen_count = 0;
    journal_open(f);
    journal_advance_to(f, HTW_DAY);
    assert_int_equal(f->seen_count, 0);
    journal_close(f);
    journal_execute(f, "CREATE TEMP TABLE t (same CHECK (same)); INSERT INTO t SELECT count(*) = 0 "
                       "FROM block");
}

/* Its ids are smaller than those of format 1 for the same minute; and it may be beside jobs of 1970. */
JOURNAL_TEST(journal_of_format_1_delivers_its_jobs_before_later_ones_of_the_same_deadline) {
    journal_execute(f, JOURNAL_FORMAT_1 "INSERT INTO meta VALUES (1, 0, 0, 300, 0, NULL)");
    (void)add_old(f, 0, 250, "now");
    (void)add_old(f, 100 * HTW_DAY, 299, "1970");
    (void)add_old(f, START_NS + HTW_HOUR, 7, "a");
    (void)add_old(f, START_NS + HTW_HOUR, 9, "b");
    journal_open(f);
    uint64_t id = journal_put(f, HTW_HOUR, "c");
    assert_true(id > (htw__bucket_of(100 * HTW_DAY) << 35 | 299) && id < UINT64_C(1) << 53);
    journal_close(f);
    journal_open(f);
    journal_put(f, HTW_HOUR, "d");
    journal_advance_to(f, HTW_HOUR);
    assert_string_equal(journal_texts(f), "now 1970 a b c d");
}

/* Most of a bucket is read from blocks of both kinds, in little memory. */
JOURNAL_TEST(journal_of_format_1_with_a_full_minute_is_read_in_order) {
    enum { OLD = 3000, NEW = 3000 };
    f->options.max_memory = 64 * 1024;
    journal_execute(f, JOURNAL_FORMAT_1 "INSERT INTO meta VALUES (1, 3000, 0, 3001, 0, NULL)");
    execute_format(f,
                   "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < %d) "
                   "INSERT INTO job SELECT (28333393 << 35) + x, 28333393 * 60000000000 + 2 * x, "
                   "NULL, CAST('o' AS BLOB) FROM n",
                   OLD);
    journal_open(f);
    for (int i = 1; i <= NEW; i++) {
        assert_int_equal(htw_journal_put_later(f->journal, START_NS + HTW_HOUR + 2 * i + 1, "n", 1,
                                               NULL, NULL, NULL),
                         0);
        if (i % 50 == 0)
            assert_int_equal(htw_journal_sync(f->journal), 0);
    }
    journal_advance_to(f, 2 * HTW_HOUR);
    assert_int_equal(f->seen_count, OLD + NEW);
    for (int i = 0; i < OLD + NEW; i++)
        assert_int_equal(f->seen[i].deadline_ns, START_NS + HTW_HOUR + 2 + i);
}

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
        "PRAGMA user_version = 1",
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

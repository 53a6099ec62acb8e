/* SPDX-License-Identifier: MIT */
/* schema.c - the tables of a journal's file, and whether a file has these and no others. */
#include "schema.h"

#include "error.h"

#include <errno.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* "htwj" */
#define APPLICATION_ID 0x6874776a

/* To read the schema of a journal takes about a hundred steps of SQLite's machine. */
#define STEPS_MAX 20000
#define TEXT_MAX 10000

#define JOB_1 \
    "CREATE TABLE job (id INTEGER PRIMARY KEY, deadline INTEGER NOT NULL, key BLOB, payload BLOB NOT NULL"
#define JOB_2 ", queue INTEGER, priority INTEGER, put INTEGER, lease INTEGER"
#define META_1                                                                                  \
    "CREATE TABLE meta (one INTEGER PRIMARY KEY CHECK (one = 1), jobs INTEGER NOT NULL, keyed " \
    "INTEGER NOT NULL, next_sequence INTEGER NOT NULL, generation INTEGER NOT NULL, mark BLOB"
#define META_2 ", moved INTEGER NOT NULL DEFAULT 0, last_put INTEGER NOT NULL DEFAULT 0"

/*
 * All that the schema may hold: the text as SQLite keeps it, which depends neither on its version nor
 * on `htw journal compact`, nor on whether the table is new or was one of format 1. Files have this text for ever:
 * other text is a new version, whose identification also accepts this one. Columns that are null or constant cost
 * a byte each. rows.h says what the tables are for. `next_sequence` is the first id that was not reserved.
 */
static const struct object {
    const char *name, *text;
    int first, last; /* the formats that it is of; 0: other programs add it, and it does no harm */
} objects[] = {
    { "job", JOB_1 ")", 1, 1 },
    { "job", JOB_1 JOB_2 ")", 2, 2 },
    { "job_key", "CREATE TABLE job_key (key BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID",
      1, 2 },
    { "meta", META_1 ")", 1, 1 },
    { "meta", META_1 META_2 ")", 2, 2 },
    { "block",
      "CREATE TABLE block (place INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, "
      "PRIMARY KEY (place, first)) WITHOUT ROWID",
      2, 2 },
    { "moved",
      "CREATE TABLE moved (id INTEGER PRIMARY KEY, place INTEGER NOT NULL, rank INTEGER NOT NULL, "
      "deadline INTEGER NOT NULL, priority INTEGER NOT NULL, state INTEGER NOT NULL, attempts "
      "INTEGER NOT NULL, releases INTEGER NOT NULL, timeouts INTEGER NOT NULL, buries INTEGER NOT "
      "NULL, kicks INTEGER NOT NULL)",
      2, 2 },
    { "moved_place",
      "CREATE TABLE moved_place (place INTEGER NOT NULL, rank INTEGER NOT NULL, id INTEGER NOT "
      "NULL, PRIMARY KEY (place, rank, id)) WITHOUT ROWID",
      2, 2 },
    { "queue",
      "CREATE TABLE queue (number INTEGER PRIMARY KEY, name BLOB NOT NULL, delayed INTEGER NOT "
      "NULL, ready INTEGER NOT NULL, leased INTEGER NOT NULL, buried INTEGER NOT NULL, done "
      "INTEGER NOT NULL, policy BLOB)",
      2, 2 },
    { "recurring",
      "CREATE TABLE recurring (name BLOB PRIMARY KEY, next INTEGER NOT NULL, schedule BLOB NOT NULL, "
      "zone BLOB, grace INTEGER NOT NULL, catch_up INTEGER NOT NULL, queue BLOB, priority INTEGER "
      "NOT NULL, flags INTEGER NOT NULL, lease INTEGER NOT NULL, key BLOB, payload BLOB NOT NULL) "
      "WITHOUT ROWID",
      2, 2 },
    { "recurring_next",
      "CREATE TABLE recurring_next (next INTEGER NOT NULL, name BLOB NOT NULL, PRIMARY KEY (next, "
      "name)) WITHOUT ROWID",
      2, 2 },
    /* ANALYZE */
    { "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)", 0, 0 },
    { "sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)", 0, 0 },
    /* Litestream (0.1 to 0.5), which copies databases while they are in use */
    { "_litestream_seq", "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)", 0,
      0 },
    { "_litestream_lock", "CREATE TABLE _litestream_lock (id INTEGER)", 0, 0 },
};

#define OBJECTS (sizeof(objects) / sizeof(objects[0]))

static bool is_of(size_t object, int version) {
    return objects[object].first <= version && version <= objects[object].last;
}

static int execute(struct sqlite3 *connection, const char *text) {
    return sqlite3_exec(connection, text, NULL, NULL, NULL);
}

static bool has_table(int version, const char *name) {
    for (size_t i = 0; i < OBJECTS; i++)
        if (is_of(i, version) && strcmp(objects[i].name, name) == 0)
            return true;
    return false;
}

/* The tables that a file of format `before` lacks; 0: it is empty. */
static int create_tables(struct sqlite3 *connection, int before) {
    int result = SQLITE_OK;
    for (size_t i = 0; i < OBJECTS && result == SQLITE_OK; i++)
        if (is_of(i, HTW__SCHEMA_VERSION) && !has_table(before, objects[i].name))
            result = execute(connection, objects[i].text);
    return result;
}

int htw__schema_create(struct sqlite3 *connection) {
    int result = create_tables(connection, 0);
    return result == SQLITE_OK ? execute(connection, "INSERT INTO meta (one, jobs, keyed, "
                                                     "next_sequence, generation) VALUES "
                                                     "(1, 0, 0, 256, 0);"
                                                     "PRAGMA application_id = 1752463210;"
                                                     "PRAGMA user_version = 2;")
                               : result;
}
/*
 * An id of format 1 is the minute of its deadline << 35 | a number. So the jobs of a minute are beside each other,
 * and become one block, which no other ids are in: new ones begin above all that are below 2^53.
 */
int htw__schema_migrate(struct sqlite3 *connection) {
    int result = execute(connection, "ALTER TABLE job ADD COLUMN queue INTEGER;"
                                     "ALTER TABLE job ADD COLUMN priority INTEGER;"
                                     "ALTER TABLE job ADD COLUMN put INTEGER;"
                                     "ALTER TABLE job ADD COLUMN lease INTEGER;"
                                     "ALTER TABLE meta ADD COLUMN moved INTEGER NOT NULL DEFAULT 0;"
                                     "ALTER TABLE meta ADD COLUMN last_put INTEGER NOT NULL "
                                     "DEFAULT 0");
    if (result == SQLITE_OK)
        result = create_tables(connection, 1);
    if (result == SQLITE_OK)
        result = execute(
            connection,
            /* UNION ends it also where damaged pages lead back */
            "WITH RECURSIVE minute (first) AS ("
            "SELECT (SELECT id FROM job WHERE id > 0 ORDER BY id LIMIT 1) UNION "
            "SELECT (SELECT id FROM job WHERE id >= ((first >> 35) + 1) << 35 ORDER BY id LIMIT 1) "
            "FROM minute WHERE first IS NOT NULL) "
            "INSERT INTO block SELECT first >> 35 << 32, first, (SELECT id FROM job WHERE "
            "id < ((first >> 35) + 1) << 35 ORDER BY id DESC LIMIT 1) FROM minute "
            "WHERE first IS NOT NULL;"
            "UPDATE meta SET next_sequence = (max(next_sequence & ((1 << 35) - 1), 1 + ifnull("
            "(SELECT id FROM job WHERE id < 1 << 53 ORDER BY id DESC LIMIT 1), 0)) + 255) "
            "/ 256 * 256;"
            "PRAGMA user_version = 2");
    return result;
}

/* ---- what a file has */

static int stop(void *context) {
    (void)context;
    return 1;
}

/* Nothing in the file is to be run, whatever a later statement is. */
static void limit(struct sqlite3 *connection) {
    static const int off[] = { SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                               SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_FKEY };
    for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
        sqlite3_db_config(connection, off[i], 0, NULL);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(connection, SQLITE_LIMIT_SQL_LENGTH, TEXT_MAX);
}

static bool is_text(struct sqlite3_stmt *row, int column, const char *text) {
    const unsigned char *bytes = sqlite3_column_text(row, column);
    return bytes != NULL && (size_t)sqlite3_column_bytes(row, column) == strlen(text) &&
           memcmp(bytes, text, strlen(text)) == 0;
}

/* Which object a row of the schema is; OBJECTS: none. */
static size_t object_of(struct sqlite3_stmt *row) {
    size_t i = 0;
    while (i < OBJECTS && !(is_text(row, 0, "table") && is_text(row, 1, objects[i].name) &&
                            is_text(row, 2, objects[i].name) && is_text(row, 3, objects[i].text)))
        i++;
    return i;
}

struct contents {
    int64_t application, version;
    size_t count;      /* rows of the schema */
    bool has_stranger; /* a row that is no object */
    bool has[OBJECTS];
};

static int read_number(struct sqlite3 *connection, const char *text, int64_t *ret_number) {
    struct sqlite3_stmt *statement;
    int result = sqlite3_prepare_v2(connection, text, -1, &statement, NULL);
    if (result != SQLITE_OK)
        return result;
    if (sqlite3_step(statement) == SQLITE_ROW)
        *ret_number = sqlite3_column_int64(statement, 0);
    return sqlite3_finalize(statement);
}

static int read_schema(struct sqlite3 *connection, struct contents *contents) {
    struct sqlite3_stmt *statement;
    int result = sqlite3_prepare_v2(
        connection, "SELECT type, name, tbl_name, sql FROM sqlite_master", -1, &statement, NULL);
    if (result != SQLITE_OK)
        return result;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        size_t object = object_of(statement);
        contents->count++;
        if (object == OBJECTS || contents->has[object])
            contents->has_stranger = true;
        else
            contents->has[object] = true;
    }
    return sqlite3_finalize(statement);
}

static int read_contents(struct sqlite3 *connection, struct contents *contents) {
    int result = read_number(connection, "PRAGMA application_id", &contents->application);
    if (result == SQLITE_OK)
        result = read_number(connection, "PRAGMA user_version", &contents->version);
    return result == SQLITE_OK ? read_schema(connection, contents) : result;
}

static int judge_schema(const struct contents *contents, const char *name) {
    for (size_t i = 0; i < OBJECTS; i++)
        if (objects[i].first > 0 && is_of(i, (int)contents->version) != contents->has[i])
            return htw__journal_fail(-EBADMSG,
                                     "%s: the table %s of the journal is missing or altered", name,
                                     objects[i].name);
    return contents->has_stranger
               ? htw__journal_fail(
                     -EBADMSG,
                     "%s: the journal was altered: it has a table, an index, a view or "
                     "a trigger that is not its own",
                     name)
               : 0;
}

static int judge(const struct contents *contents, const char *name) {
    if (contents->application != APPLICATION_ID)
        return htw__journal_fail(-EBADMSG, "%s: a database, but not a journal", name);
    if (contents->version > HTW__SCHEMA_VERSION)
        return htw__journal_fail(
            -EPROTONOSUPPORT,
            "%s: the journal has format %lld, and this version of libhtw knows "
            "formats up to %d",
            name, (long long)contents->version, HTW__SCHEMA_VERSION);
    return contents->version > 0
               ? judge_schema(contents, name)
               : htw__journal_fail(-EBADMSG, "%s: the format of the journal is damaged", name);
}

int htw__schema_identify(struct sqlite3 *connection, const char *name, int *ret_version) {
    struct contents contents = { .count = 0 };
    limit(connection);
    sqlite3_progress_handler(connection, STEPS_MAX, stop, NULL);
    int result = read_contents(connection, &contents);
    sqlite3_progress_handler(connection, 0, NULL, NULL);
    bool is_empty = contents.application == 0 && contents.version == 0 && contents.count == 0;
    *ret_version = is_empty ? 0 : (int)contents.version;
    if ((result & 0xff) == SQLITE_INTERRUPT || (result & 0xff) == SQLITE_TOOBIG)
        return htw__journal_fail(-EBADMSG, "%s: not a journal: its schema is too long", name);
    if (result != SQLITE_OK)
        return htw__journal_fail(htw__journal_errno(connection, result), "%s: %s", name,
                                 sqlite3_errmsg(connection));
    return is_empty ? 0 : judge(&contents, name);
}

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
#define VERSION 1

/* To read the schema of a journal takes about a hundred steps of SQLite's machine. */
#define STEPS_MAX 20000
#define TEXT_MAX 10000

/*
 * All that the schema may hold: the text as SQLite keeps it, which depends neither on its version nor
 * on `htw journal compact`. Files have this text for ever: other text is a new VERSION, whose
 * identification also accepts this one. Columns that are null or constant cost a byte each.
 */
static const struct object {
    const char *name, *text;
    bool is_foreign; /* other programs add it, and it does no harm */
} objects[] = {
    { "job",
      "CREATE TABLE job (id INTEGER PRIMARY KEY, deadline INTEGER NOT NULL, key BLOB, payload BLOB "
      "NOT NULL)",
      false },
    { "job_key", "CREATE TABLE job_key (key BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID",
      false },
    { "meta",
      "CREATE TABLE meta (one INTEGER PRIMARY KEY CHECK (one = 1), jobs INTEGER NOT NULL, keyed "
      "INTEGER NOT NULL, next_sequence INTEGER NOT NULL, generation INTEGER NOT NULL, mark BLOB)",
      false },
    /* ANALYZE */
    { "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)", true },
    { "sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)", true },
    /* Litestream (0.1 to 0.5), which copies databases while they are in use */
    { "_litestream_seq", "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)",
      true },
    { "_litestream_lock", "CREATE TABLE _litestream_lock (id INTEGER)", true },
};

#define OBJECTS (sizeof(objects) / sizeof(objects[0]))

int htw__schema_create(struct sqlite3 *connection) {
    int result = SQLITE_OK;
    for (size_t i = 0; i < OBJECTS && result == SQLITE_OK; i++)
        if (!objects[i].is_foreign)
            result = sqlite3_exec(connection, objects[i].text, NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_exec(connection,
                              "INSERT INTO meta VALUES (1, 0, 0, 1, 0, NULL);"
                              "PRAGMA application_id = 1752463210;"
                              "PRAGMA user_version = 1;",
                              NULL, NULL, NULL);
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
        if (!objects[i].is_foreign && !contents->has[i])
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
    if (contents->version > VERSION)
        return htw__journal_fail(
            -EPROTONOSUPPORT,
            "%s: the journal has format %lld, and this version of libhtw knows "
            "formats up to %d",
            name, (long long)contents->version, VERSION);
    return contents->version == VERSION
               ? judge_schema(contents, name)
               : htw__journal_fail(-EBADMSG, "%s: the format of the journal is damaged", name);
}

int htw__schema_identify(struct sqlite3 *connection, const char *name, bool *ret_is_empty) {
    struct contents contents = { .count = 0 };
    limit(connection);
    sqlite3_progress_handler(connection, STEPS_MAX, stop, NULL);
    int result = read_contents(connection, &contents);
    sqlite3_progress_handler(connection, 0, NULL, NULL);
    *ret_is_empty = result == SQLITE_OK && contents.application == 0 && contents.version == 0 &&
                    contents.count == 0;
    if ((result & 0xff) == SQLITE_INTERRUPT || (result & 0xff) == SQLITE_TOOBIG)
        return htw__journal_fail(-EBADMSG, "%s: not a journal: its schema is too long", name);
    if (result != SQLITE_OK)
        return htw__journal_fail(htw__journal_errno(connection, result), "%s: %s", name,
                                 sqlite3_errmsg(connection));
    return *ret_is_empty ? 0 : judge(&contents, name);
}

/* SPDX-License-Identifier: MIT */
/* schema.c - the tables of a journal's file, and whether a file has these and no others. */
#include "schema.h"

#include "error.h"
#include "statements.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* "htwj" */
#define APPLICATION_ID 0x6874776a

/* To read the schema of a journal takes about a hundred steps of SQLite's machine. */
#define STEPS_MAX 20000
#define TEXT_MAX 10000

/*
 * All that the schema may hold: the text as SQLite keeps it, which depends neither on its version nor
 * on `htw journal compact`. Files have this text for ever: other text is a new format. Columns that are null or
 * constant cost a byte each. rows.h says what the tables are for. `next_sequence` is the first id that was not
 * reserved.
 */
static const struct object {
    const char *text;
    enum { ADDED, OWN, OF_GUESTS } kind; /* ADDED: by other programs, and it does no harm */
} objects[] = {
    /* Of guests alone: the format; what others have put, and the journal has not yet taken in (reader.h). */
    { "CREATE TABLE htw_format (version INTEGER NOT NULL)", OF_GUESTS },
    { "CREATE TABLE htw_inbox (id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 << 52 AND "
      "(1 << 53) - 1), deadline INTEGER NOT NULL CHECK (typeof(deadline) = 'integer'), key BLOB "
      "CHECK (typeof(key) IN ('blob', 'null')), payload BLOB NOT NULL CHECK (typeof(payload) = "
      "'blob'), queue TEXT CHECK (length(CAST(queue AS BLOB)) BETWEEN 1 AND 255 AND "
      "instr(CAST(queue AS BLOB), x'00') = 0), priority INTEGER NOT NULL DEFAULT 0 CHECK "
      "(typeof(priority) = 'integer' AND priority BETWEEN 0 AND 4294967295), lease INTEGER NOT "
      "NULL DEFAULT 0 CHECK (typeof(lease) = 'integer' AND lease >= 0))",
      OF_GUESTS },
    { "CREATE UNIQUE INDEX htw_inbox_key ON htw_inbox (key) WHERE key IS NOT NULL", OF_GUESTS },

    { "CREATE TABLE htw_job (id INTEGER PRIMARY KEY, deadline INTEGER NOT NULL, key BLOB, payload "
      "BLOB NOT NULL, queue INTEGER, priority INTEGER, put INTEGER, lease INTEGER)",
      OWN },
    { "CREATE UNIQUE INDEX htw_job_key ON htw_job (key) WHERE key IS NOT NULL", OWN },
    { "CREATE TABLE htw_meta (one INTEGER PRIMARY KEY CHECK (one = 1), jobs INTEGER NOT NULL, "
      "next_sequence INTEGER NOT NULL, generation INTEGER NOT NULL, last_put INTEGER NOT NULL)",
      OWN },
    { "CREATE TABLE htw_block (place INTEGER NOT NULL, first INTEGER NOT NULL, PRIMARY KEY (place, "
      "first)) WITHOUT ROWID",
      OWN },
    { "CREATE TABLE htw_moved (id INTEGER PRIMARY KEY, place INTEGER NOT NULL, rank INTEGER NOT NULL, "
      "deadline INTEGER NOT NULL, priority INTEGER NOT NULL, state INTEGER NOT NULL, attempts "
      "INTEGER NOT NULL, releases INTEGER NOT NULL, timeouts INTEGER NOT NULL, buries INTEGER NOT "
      "NULL, kicks INTEGER NOT NULL)",
      OWN },
    { "CREATE INDEX htw_moved_place ON htw_moved (place, rank)", OWN },
    { "CREATE TABLE htw_queue (number INTEGER PRIMARY KEY, name BLOB NOT NULL, delayed INTEGER NOT "
      "NULL, ready INTEGER NOT NULL, leased INTEGER NOT NULL, buried INTEGER NOT NULL, attempts_max "
      "INTEGER, initial INTEGER, cap INTEGER, multiplier REAL, jitter REAL)",
      OWN },
    /* ANALYZE */
    { "CREATE TABLE sqlite_stat1(tbl,idx,stat)", ADDED },
    { "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)", ADDED },
    /* Litestream (0.1 to 0.5), which copies databases while they are in use */
    { "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)", ADDED },
    { "CREATE TABLE _litestream_lock (id INTEGER)", ADDED },
};

enum { FORMAT = 0, OBJECTS = sizeof(objects) / sizeof(objects[0]) };

/* ---- creating them */

static bool is_of(const struct object *object, bool is_guest) {
    return object->kind == OWN || (object->kind == OF_GUESTS && is_guest);
}

static int execute(struct sqlite3 *connection, const char *text) {
    return sqlite3_exec(connection, text, NULL, NULL, NULL);
}

int htw__schema_create(struct sqlite3 *connection, bool is_guest) {
    int result = execute(connection, "BEGIN IMMEDIATE");
    for (size_t i = 0; i < OBJECTS && result == SQLITE_OK; i++)
        if (is_of(&objects[i], is_guest))
            result = execute(connection, objects[i].text);
    if (result == SQLITE_OK)
        result = execute(connection, "INSERT INTO htw_meta VALUES (1, 0, 256, 0, 0)");
    if (result == SQLITE_OK)
        result =
            execute(connection,
                    is_guest ? /* the first id is behind it */
                        "INSERT INTO htw_inbox (id, deadline, payload) VALUES (1 << 52, 0, x'');"
                        "DELETE FROM htw_inbox;"
                        "INSERT INTO htw_format VALUES (5)"
                             : "PRAGMA application_id = 1752463210;"
                               "PRAGMA user_version = 5");
    if (result == SQLITE_OK)
        result = execute(connection, "COMMIT");
    return result;
}

/* ---- what a file has */

static int stop(void *context) {
    (void)context;
    return 1;
}

/* Nothing in the file is to be run, whatever a later statement is. What a program has in its own file may be long. */
static void limit(struct sqlite3 *connection, bool is_guest) {
    static const int off[] = { SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                               SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_FKEY };
    for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
        sqlite3_db_config(connection, off[i], 0, NULL);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (!is_guest)
        sqlite3_limit(connection, SQLITE_LIMIT_SQL_LENGTH, TEXT_MAX);
}

/* Which object a row of the schema is, by the text that SQLite makes it from; OBJECTS: none. */
static size_t object_of(const char *text) {
    size_t i = 0;
    while (i < OBJECTS && (text == NULL || strcmp(text, objects[i].text) != 0))
        i++;
    return i;
}

struct contents {
    bool is_guest;
    int64_t application, version;
    size_t count;      /* rows of the schema; of a guest: its own */
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
        connection,
        contents->is_guest ? "SELECT sql FROM sqlite_master WHERE name LIKE 'htw\\_%' ESCAPE '\\' "
                             "OR tbl_name LIKE 'htw\\_%' ESCAPE '\\'"
                           : "SELECT sql FROM sqlite_master",
        -1, &statement, NULL);
    if (result != SQLITE_OK)
        return result;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        size_t object = object_of((const char *)sqlite3_column_text(statement, 0));
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
    if (result == SQLITE_OK && !contents->is_guest)
        result = read_number(connection, "PRAGMA user_version", &contents->version);
    if (result == SQLITE_OK)
        result = read_schema(connection, contents);
    if (result == SQLITE_OK && contents->has[FORMAT])
        result = read_number(connection, "SELECT version FROM htw_format", &contents->version);
    return result;
}

static bool is_altered(const struct contents *contents) {
    bool is_altered = contents->has_stranger;
    for (size_t i = 0; i < OBJECTS; i++)
        is_altered = is_altered || (objects[i].kind != ADDED &&
                                    is_of(&objects[i], contents->is_guest) != contents->has[i]);
    return is_altered;
}

static int judge(const struct contents *contents, const char *name) {
    if ((contents->application == APPLICATION_ID) == contents->is_guest)
        return htw__journal_fail(-EBADMSG,
                                 contents->is_guest
                                     ? "%s: a journal, and not the database of a program"
                                     : "%s: a database, but not a journal",
                                 name);
    if (contents->version <= 0)
        return htw__journal_fail(-EBADMSG, "%s: the format of the journal is damaged", name);
    if (contents->version != HTW__SCHEMA_VERSION)
        return htw__journal_fail(
            -EPROTONOSUPPORT,
            "%s: the journal has format %lld, and this version of libhtw knows format %d alone",
            name, (long long)contents->version, HTW__SCHEMA_VERSION);
    return is_altered(contents)
               ? htw__journal_fail(-EBADMSG,
                                   "%s: the journal was altered: a table, an index, a view or a "
                                   "trigger is missing or not its own",
                                   name)
               : 0;
}

bool htw__schema_is_guest(struct sqlite3 *connection) {
    struct contents contents = { .is_guest = true }; /* nothing in the file is run for that */
    (void)read_contents(connection, &contents);
    return contents.count > 0 && contents.application != APPLICATION_ID;
}

static int fail(struct sqlite3 *connection, int result, const char *name) {
    int error = htw__journal_errno(connection, result);
    return htw__journal_fail(error, "%s: %s", name, htw__journal_why(connection, result, error));
}

int htw__schema_identify(struct sqlite3 *connection, const char *name, bool is_guest,
                         int *ret_version) {
    struct contents contents = { .is_guest = is_guest };
    limit(connection, is_guest);
    if (!is_guest)
        sqlite3_progress_handler(connection, STEPS_MAX, stop, NULL);
    int result = read_contents(connection, &contents);
    sqlite3_progress_handler(connection, 0, NULL, NULL);
    bool is_empty = contents.version == 0 && contents.count == 0 &&
                    (is_guest ? contents.application != APPLICATION_ID : contents.application == 0);
    *ret_version = is_empty ? 0 : (int)contents.version;
    if ((result & 0xff) == SQLITE_INTERRUPT || (result & 0xff) == SQLITE_TOOBIG)
        return htw__journal_fail(-EBADMSG, "%s: not a journal: its schema is too long", name);
    if (result != SQLITE_OK)
        return fail(connection, result, name);
    return is_empty ? 0 : judge(&contents, name);
}

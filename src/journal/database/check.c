/* SPDX-License-Identifier: MIT */
/* check.c - whether a file is whole and its tables agree with each other. */
#include "../../base/user_code.h"
#include "statements.h"

#include <stdio.h>
#include <string.h>

/* How many jobs are wrong in a way. The open has judged the counters. */
static const struct {
    const char *query;
    const char *problem;
} rules[] = {
    /* The place of a job as it was put: src/journal/database/place.h. */
    { "SELECT count(*) FROM htw_job j WHERE NOT EXISTS (SELECT 1 FROM htw_moved m WHERE m.id = j.id) AND "
      "NOT EXISTS (SELECT 1 FROM htw_block WHERE first = j.id - j.id % 256 AND place = CASE WHEN put > 0 "
      "THEN (1 << 61) + (ifnull(queue, 0) << 32) + ifnull(priority, 0) ELSE "
      "(max(deadline, 0) / 60000000000 << 32) + ifnull(queue, 0) END)",
      "jobs are in no block of their place" },
    { "SELECT count(*) FROM htw_block WHERE place < 0 OR first <= 0 OR first % 256 != 0",
      "blocks are out of range" },
    { "SELECT count(*) - count(DISTINCT first) FROM htw_block", "blocks overlap" },
    { "SELECT count(*) FROM htw_moved m WHERE NOT EXISTS (SELECT 1 FROM htw_job WHERE htw_job.id = m.id)",
      "jobs that were moved are missing" },
    { "SELECT count(*) FROM htw_meta WHERE next_sequence NOT BETWEEN 256 AND 1 << 53 OR "
      "next_sequence % 256 != 0 OR last_put < 0 OR EXISTS (SELECT 1 FROM htw_job WHERE id < 1 << 52 "
      "AND id >= next_sequence) OR last_put < (SELECT ifnull(max(max(put, ~put)), 0) FROM htw_job)",
      "rows of counters are behind the jobs or out of range" },
    { "SELECT count(*) FROM htw_job WHERE typeof(id) != 'integer' OR typeof(deadline) != 'integer' OR "
      "typeof(payload) != 'blob' OR typeof(key) NOT IN ('null', 'blob')",
      "jobs have a value of a wrong type" },
    { "SELECT abs((SELECT count(*) FROM htw_job) - (SELECT jobs FROM htw_meta))",
      "jobs differ between the counter and the table" },
    { "SELECT max(next_sequence * 100 >> 53) FROM htw_meta WHERE next_sequence > 1 << 52",
      "percent of all ids have been given: begin a new file before they end" },
};

struct problems {
    struct htw__database *database;
    const struct htw__journal_path *path;
    htw_problem *tell;
    void *context;
    uint64_t count;
};

static void tell(struct problems *self, const char *problem) {
    HTW__CALL_USER("a check", self->path, self->tell, self->tell(self->context, problem));
    self->count++;
}

/* The first row of a query has a problem; so have all of PRAGMA integrity_check. */
static int ask(struct problems *self, const char *query, const char *problem) {
    char text[256];
    struct sqlite3_stmt *statement;
    int result =
        sqlite3_prepare_v2(self->database->sqlite->connection, query, -1, &statement, NULL);
    while (result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *row = (const char *)sqlite3_column_text(statement, 0);
        if (row == NULL || strcmp(row, problem == NULL ? "ok" : "0") == 0)
            continue;
        snprintf(text, sizeof(text), "%s%s%s", row, problem == NULL ? "" : " ",
                 problem == NULL ? "" : problem);
        tell(self, text);
    }
    result = sqlite3_finalize(statement);
    return result == SQLITE_OK ? 0 : htw__database_fail(self->database, result);
}

/* SQLite reads a file whose version of writing is later than its own, and refuses to write it. */
static void check_version(struct problems *self) {
    enum { WRITE_VERSION_AT = 18, WRITE_VERSION_MAX = 2 };
    unsigned char version = 0;
    sqlite3_file *file = htw__database_file(self->database, SQLITE_FCNTL_FILE_POINTER);
    if (file != NULL &&
        file->pMethods->xRead(file, &version, sizeof(version), WRITE_VERSION_AT) == SQLITE_OK &&
        version > WRITE_VERSION_MAX)
        tell(self, "the file has a version that SQLite only reads");
}

int htw__database_check(struct htw__database *database, const struct htw__journal_path *path,
                        htw_problem *problem, void *context) {
    struct problems self = { database, path, problem, context, 0 };
    int error = ask(&self, "PRAGMA integrity_check(20)", NULL);
    check_version(&self);
    /* Further messages about a damaged file do not help. */
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]) && error == 0 && self.count == 0; i++)
        error = ask(&self, rules[i].query, rules[i].problem);
    return error;
}

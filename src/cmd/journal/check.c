/* SPDX-License-Identifier: MIT */
/* check.c - `htw journal check`: whether the file is whole and its tables agree with each other. */
#include "actions.h"

#include "../status.h"
#include "../terminal.h"
#include "../visible.h"
#include "file.h"

#include <htw/journal.h>

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define NO_KEY "NOT EXISTS (SELECT 1 FROM @job_key k WHERE k.key = @job.key AND k.id = @job.id)"

/* How many jobs are wrong in a way. All is read in one transaction, so that writers do not matter. */
static const struct {
    const char *query;
    const char *problem;
    int version; /* only of this format; 0: of all */
} rules[] = {
    { "SELECT count(*) FROM @job WHERE id <= 0 OR id >> 35 != max(deadline, 0) / 60000000000",
      "jobs have an id that does not fit their deadline", 1 },
    /* The place of a job as it was put: src/journal/place.h. */
    { "SELECT count(*) FROM @job j WHERE NOT EXISTS (SELECT 1 FROM @moved m WHERE m.id = j.id) AND "
      "NOT ifnull((SELECT j.id <= b.last FROM @block b WHERE b.place = CASE WHEN put != 0 AND "
      "deadline / 1000 <= put THEN (1 << 61) + (ifnull(queue, 0) << 32) + ifnull(priority, 0) ELSE "
      "(max(deadline, 0) / 60000000000 << 32) + ifnull(queue, 0) END AND b.first <= j.id "
      "ORDER BY b.first DESC LIMIT 1), 0)",
      "jobs are in no block of their place", 2 },
    { "SELECT count(*) FROM @block WHERE place < 0 OR first <= 0 OR last < first OR "
      "last >= 9223372036854775807",
      "blocks are out of range", 2 },
    { "SELECT count(*) FROM (SELECT last, lead(first) OVER (ORDER BY first) AS next FROM @block) "
      "WHERE next <= last",
      "blocks overlap", 2 },
    { "SELECT count(*) FROM @moved m WHERE NOT EXISTS (SELECT 1 FROM @job WHERE @job.id = m.id) OR "
      "NOT EXISTS (SELECT 1 FROM @moved_place p WHERE p.place = m.place AND p.rank = m.rank AND "
      "p.id = m.id)",
      "jobs that were moved are missing or in another place", 2 },
    { "SELECT abs((SELECT count(*) FROM @moved) - (SELECT count(*) FROM @moved_place))",
      "places have a job that was not moved there", 2 },
    { "SELECT abs((SELECT count(*) FROM @moved) - (SELECT moved FROM @meta))",
      "jobs that were moved differ between the counter and the table", 2 },
    { "SELECT count(*) FROM @meta WHERE next_sequence NOT BETWEEN 256 AND 1 << 53 OR "
      "next_sequence % 256 != 0 OR moved NOT BETWEEN 0 AND jobs OR last_put < 0 OR EXISTS (SELECT "
      "1 FROM @job WHERE id < 1 << 52 AND id >= next_sequence) OR last_put < (SELECT "
      "ifnull(max(put), 0) FROM @job)",
      "rows of counters are behind the jobs or out of range", 2 },
    { "SELECT count(*) FROM @job WHERE typeof(id) != 'integer' OR typeof(deadline) != 'integer' OR "
      "typeof(payload) != 'blob' OR typeof(key) NOT IN ('null', 'blob')",
      "jobs have a value of a wrong type", 0 },
    { "SELECT count(*) FROM @job WHERE key IS NOT NULL AND " NO_KEY,
      "jobs have a key that leads to another job or to none", 1 },
    /* Those that are done have lost it. */
    { "SELECT count(*) FROM @job WHERE key IS NOT NULL AND " NO_KEY
      " != EXISTS (SELECT 1 FROM @moved m "
      "WHERE m.id = @job.id AND place >> 61 = 3)",
      "jobs have a key that leads to another job or to none", 2 },
    { "SELECT abs((SELECT count(*) FROM @moved WHERE place >> 61 = 3) - (SELECT ifnull(sum(done), 0) "
      "FROM @queue))",
      "jobs that are done differ between the queues and the table", 2 },
    { "SELECT count(*) FROM @job_key k WHERE NOT EXISTS (SELECT 1 FROM @job WHERE @job.id = k.id AND "
      "@job.key = k.key)",
      "keys lead to a job that does not have them", 0 },
    { "SELECT abs((SELECT count(*) FROM @job) - (SELECT jobs FROM @meta))",
      "jobs differ between the counter and the table", 0 },
    { "SELECT abs((SELECT count(*) FROM @job_key) - (SELECT keyed FROM @meta))",
      "keys differ between the counter and the table", 0 },
    { "SELECT max(next_sequence * 100 >> 53) FROM @meta WHERE next_sequence > 1 << 52",
      "percent of all ids have been given: begin a new file before they end", 2 },
    { "SELECT abs((SELECT count(*) FROM @meta) - 1)", "rows of counters are missing", 0 },
    /* As src/journal/open.c reads them. */
    { "SELECT count(*) FROM @meta WHERE jobs NOT BETWEEN 0 AND 1 << 62 OR keyed NOT BETWEEN 0 AND "
      "jobs OR generation NOT BETWEEN 0 AND 1 << 62",
      "rows of counters are out of range", 0 },
    { "SELECT count(*) FROM @meta WHERE length(CAST(mark AS BLOB)) > 4096", "marks are too long",
      0 },
};

_Static_assert(HTW_JOURNAL_MARK_MAX == 4096, "the limit of marks is in a rule");

struct problems {
    bool json;
    uint64_t count;
};

static void print_problem(struct problems *problems, const char *text) {
    char visible[1024];
    bool is_cut;
    size_t size = htw__visible_format(text, strlen(text), visible, sizeof(visible), &is_cut);
    if (problems->json) {
        fputs(problems->count == 0 ? "" : ",", stdout);
        htw__visible_write_json(stdout, visible, size);
    } else {
        puts(visible);
    }
    problems->count++;
}

/* False: the file could not be read. */
static bool check_pages(struct htw__journal_file *file, struct problems *problems) {
    struct sqlite3_stmt *statement = htw__journal_file_prepare(file, "PRAGMA integrity_check(20)");
    int result = SQLITE_ERROR;
    if (statement == NULL)
        return false;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        if (text != NULL && strcmp(text, "ok") != 0)
            print_problem(problems, text);
    }
    sqlite3_finalize(statement);
    if (result == SQLITE_DONE)
        return true;
    if (result != SQLITE_CORRUPT && result != SQLITE_INTERRUPT)
        return htw__journal_file_failed(file);
    print_problem(problems, "the file is damaged");
    return true;
}

/* SQLite reads a file whose version of writing is later than its own, and refuses to write it. */
static void check_version(const char *path, struct problems *problems) {
    enum { WRITE_VERSION_AT = 18, WRITE_VERSION_MAX = 2 };
    FILE *stream = fopen(path, "rbe");
    if (stream == NULL)
        return;
    if (fseek(stream, WRITE_VERSION_AT, SEEK_SET) == 0 && getc(stream) > WRITE_VERSION_MAX)
        print_problem(problems, "the file has a version that SQLite only reads");
    (void)fclose(stream);
}

static bool check_rules(struct htw__journal_file *file, struct problems *problems) {
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        int64_t count;
        char text[256];
        if (rules[i].version != 0 && rules[i].version != file->version)
            continue;
        if (!htw__journal_file_number(file, rules[i].query, &count))
            return false;
        snprintf(text, sizeof(text), "%" PRId64 " %s", count, rules[i].problem);
        if (count != 0)
            print_problem(problems, text);
    }
    return true;
}

int htw__journal_check(const struct htw__journal_request *request) {
    struct htw__journal_file file;
    struct problems problems = { request->json, 0 };
    int64_t jobs = 0, begun;
    if (!htw__journal_file_open(&file, request->path)) {
        htw__journal_file_close(&file);
        return HTW__EXIT_FAILED;
    }
    if (request->json)
        fputs("{\"problems\":[", stdout);
    /* The first read after BEGIN begins the transaction; closing ends it. No pages are counted before
       they are checked: SQLite does that in one step, which would not end in a circle of pages. */
    bool success =
        (sqlite3_exec(file.connection, "BEGIN", NULL, NULL, NULL) == SQLITE_OK ||
         htw__journal_file_failed(&file)) &&
        htw__journal_file_number(&file, "SELECT rootpage FROM sqlite_master LIMIT 1", &begun) &&
        check_pages(&file, &problems);
    if (success)
        check_version(request->path, &problems);
    if (success && problems.count == 0) /* further messages about a damaged file do not help */
        success = check_rules(&file, &problems) &&
                  htw__journal_file_number(&file, "SELECT count(*) FROM @job", &jobs);
    htw__journal_file_close(&file);
    bool is_good = success && problems.count == 0;
    if (request->json)
        printf("],\"complete\":%s,\"jobs\":%" PRId64 "}\n", success ? "true" : "false", jobs);
    else if (is_good)
        htw__terminal_print("%s: no problem found, %" PRId64 " job%s", request->path, jobs,
                            jobs == 1 ? "" : "s");
    if (fflush(stdout) != 0)
        is_good = false;
    return is_good ? 0 : HTW__EXIT_FAILED;
}

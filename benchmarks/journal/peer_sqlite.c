/* SPDX-License-Identifier: MIT */
/*
 * peer_sqlite.c - SQLite alone, as a program would use it without htw: one table in order of
 * deadline, and a transaction for each batch. The settings are those of htw's journal.
 */
#include "files.h"
#include "peer.h"

#include "../common/process.h"
#include "../common/report.h"

#include <sqlite3.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PATH "sqlite.db"

enum statement { BEGIN, COMMIT, INSERT, DELETE, TAKE, NEXT, MOVE, STATEMENTS };

static const char *const texts[] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [INSERT] = "INSERT INTO job VALUES (?1, ?2, ?3)",
    [DELETE] = "DELETE FROM job WHERE deadline = ?1 AND id = ?2",
    [TAKE] = "SELECT deadline, id, payload FROM job WHERE deadline <= ?1 ORDER BY 1, 2 LIMIT ?2",
    [NEXT] = "SELECT id FROM job WHERE deadline = 0 AND id > ?1 ORDER BY 1 LIMIT 1",
    [MOVE] = "UPDATE job SET deadline = ?1 WHERE deadline = 0 AND id = ?2",
};

struct row {
    int64_t deadline_ns, id;
};

static sqlite3 *connection;
static sqlite3_stmt *statements[STATEMENTS];
static int64_t last_id;
static struct row taken[ROUND_MAX];
static size_t taken_count;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* of threads that put */

static void check(int result) {
    if (result != SQLITE_OK && result != SQLITE_DONE && result != SQLITE_ROW)
        report_failure("SQLite: %s", sqlite3_errmsg(connection));
}

static void execute(const char *text) {
    check(sqlite3_exec(connection, text, NULL, NULL, NULL));
}

static void run(enum statement which) {
    int result = sqlite3_step(statements[which]);
    check(sqlite3_reset(statements[which]));
    if (result != SQLITE_DONE)
        report_failure("SQLite: %s: a row too many", texts[which]);
}

static int64_t number(const char *text) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(connection, text, -1, &statement, NULL));
    check(sqlite3_step(statement));
    int64_t found = sqlite3_column_int64(statement, 0);
    check(sqlite3_finalize(statement));
    return found;
}

static void start(const struct peer *peer, size_t in_flight) {
    (void)in_flight;
    check(sqlite3_open_v2(PATH, &connection,
                          SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL));
    execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 4096;"
            "PRAGMA cache_size = -8192;"
            "CREATE TABLE IF NOT EXISTS job (deadline INTEGER NOT NULL, id INTEGER NOT NULL,"
            " payload BLOB NOT NULL, PRIMARY KEY (deadline, id)) WITHOUT ROWID");
    execute(strcmp(peer->name, "sqlite") == 0 ? "PRAGMA synchronous = FULL"
                                              : "PRAGMA synchronous = NORMAL");
    for (int i = 0; i < STATEMENTS; i++)
        check(sqlite3_prepare_v3(connection, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                 &statements[i], NULL));
    last_id = number("SELECT max(id) FROM job");
}

static void stop(void) {
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(statements[i]);
    check(sqlite3_close(connection));
}

static void *connect_to(void) {
    return connection;
}

static void insert(int64_t deadline_ns, const char *payload, size_t size) {
    sqlite3_bind_int64(statements[INSERT], 1, deadline_ns);
    sqlite3_bind_int64(statements[INSERT], 2, ++last_id);
    sqlite3_bind_blob64(statements[INSERT], 3, payload, size, SQLITE_STATIC);
    run(INSERT);
}

static void put(void *self, int64_t deadline_ns, const char *payload, size_t size) {
    (void)self;
    pthread_mutex_lock(&turn);
    run(BEGIN);
    insert(deadline_ns, payload, size);
    run(COMMIT);
    pthread_mutex_unlock(&turn);
}

/* The next job after the one that was leased last, which the process remembers. A durable lease moves the
   deadline. */
static struct row lease_next(bool is_durable) {
    static int64_t last_leased;
    struct row row = { 0, 0 };
    pthread_mutex_lock(&turn);
    sqlite3_bind_int64(statements[NEXT], 1, last_leased);
    if (sqlite3_step(statements[NEXT]) != SQLITE_ROW)
        report_failure("SQLite: a job is missing");
    row.id = last_leased = sqlite3_column_int64(statements[NEXT], 0);
    sqlite3_reset(statements[NEXT]);
    if (is_durable) {
        row.deadline_ns = clock_wall_ns();
        sqlite3_bind_int64(statements[MOVE], 1, row.deadline_ns);
        sqlite3_bind_int64(statements[MOVE], 2, row.id);
        run(MOVE);
    }
    pthread_mutex_unlock(&turn);
    return row;
}

static void pass(void *self, const char *payload, size_t size, bool is_durable) {
    put(self, 0, payload, size);
    const struct row row = lease_next(is_durable);
    pthread_mutex_lock(&turn);
    sqlite3_bind_int64(statements[DELETE], 1, row.deadline_ns);
    sqlite3_bind_int64(statements[DELETE], 2, row.id);
    run(DELETE);
    pthread_mutex_unlock(&turn);
}

static void end_taken(void) {
    for (size_t i = 0; i < taken_count; i++) {
        sqlite3_bind_int64(statements[DELETE], 1, taken[i].deadline_ns);
        sqlite3_bind_int64(statements[DELETE], 2, taken[i].id);
        run(DELETE);
        if (sqlite3_changes(connection) != 1)
            report_failure("SQLite: a job was there twice");
    }
}

static void take(struct load *load) {
    taken_count = 0;
    size_t limit = load->in_flight < ROUND_MAX ? load->in_flight : ROUND_MAX;
    sqlite3_bind_int64(statements[TAKE], 1, clock_wall_ns());
    sqlite3_bind_int64(statements[TAKE], 2, (int64_t)limit);
    int result;
    while ((result = sqlite3_step(statements[TAKE])) == SQLITE_ROW) {
        struct row *row = &taken[taken_count++];
        row->deadline_ns = sqlite3_column_int64(statements[TAKE], 0);
        row->id = sqlite3_column_int64(statements[TAKE], 1);
        load_delivered(load, sqlite3_column_blob(statements[TAKE], 2),
                       (size_t)sqlite3_column_bytes(statements[TAKE], 2));
    }
    check(result);
    sqlite3_reset(statements[TAKE]);
}

static void make_round(void *self, struct load *load) {
    (void)self;
    char payload[PAYLOAD_MAX + 1];
    size_t ended = taken_count;
    size_t puts = load->put_next + (load->replaces ? ended : 0);
    load->put_next = 0;
    if (ended + puts > 0) {
        run(BEGIN);
        end_taken();
        for (; puts > 0; puts--) {
            int64_t deadline_ns = load_next(load, payload);
            insert(deadline_ns, payload, load->payload_size);
        }
        run(COMMIT);
        load_end(load, ended);
    }
    take(load);
}

static uint64_t count(void) {
    return (uint64_t)number("SELECT count(*) FROM job");
}

static uint64_t disk_bytes(void) {
    return files_total(PATH);
}

#define PEER_SQLITE(name_, about_)                                                          \
    {                                                                                       \
        .name = name_, .about = about_, .is_embedded = true, .clients = 1, .start = start,  \
        .stop = stop, .connect = connect_to, .put = put, .pass = pass, .round = make_round, \
        .count = count, .disk_bytes = disk_bytes, .resident_bytes = process_resident_bytes  \
    }

const struct peer peer_sqlite =
    PEER_SQLITE("sqlite", "SQLite, a table keyed by (deadline, id); synchronous=FULL");
const struct peer peer_sqlite_normal = PEER_SQLITE("sqlite-normal", "the same; NORMAL");

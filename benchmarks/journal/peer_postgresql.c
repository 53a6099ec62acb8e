/* SPDX-License-Identifier: MIT */
/*
 * peer_postgresql.c - PostgreSQL with the settings of initdb. The jobs are a table with an index by
 * deadline. A round is one transaction, sent in two parts: it takes jobs with SELECT ... FOR UPDATE
 * SKIP LOCKED, and when they were delivered it deletes them, puts the next, and commits.
 */
#include "peer.h"

#include "../common/report.h"
#include "../common/server.h"

#include <libpq-fe.h>

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATA "postgresql"
#define PATH_MAX_OF_SOCKETS 80
#define ARRAY_ROOM ((size_t)2 * ROUND_MAX * (PAYLOAD_MAX + 3))

struct connection {
    PGconn *pg;
    char *ids, *deadlines, *payloads; /* arrays, as text */
};

static char folder[4096];

static struct passwd *user_of_server(void) {
    if (geteuid() != 0)
        return NULL;
    struct passwd *user = getpwnam("postgres");
    return user != NULL ? user : getpwnam("nobody");
}

/* NULL: it does not answer yet. */
static PGconn *try_to_connect(void) {
    char text[5000];
    snprintf(text, sizeof(text), "host='%s' user=bench dbname=postgres", folder);
    PGconn *pg = PQconnectdb(text);
    if (PQstatus(pg) == CONNECTION_OK)
        return pg;
    PQfinish(pg);
    return NULL;
}

static PGresult *execute(PGconn *pg, const char *text, int count, const char *const values[]) {
    PGresult *result = PQexecParams(pg, text, count, NULL, values, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        report_failure("PostgreSQL: %s", PQerrorMessage(pg));
    return result;
}

static void run(PGconn *pg, const char *text) {
    PQclear(execute(pg, text, 0, NULL));
}

static void create_cluster(const char *path, const struct passwd *user) {
    char initdb[4096];
    snprintf(initdb, sizeof(initdb), "%.*s/initdb", (int)(strrchr(path, '/') - path), path);
    if (mkdir(DATA, 0700) != 0 || (user != NULL && chown(DATA, user->pw_uid, user->pw_gid) != 0))
        report_failure(DATA ": %s", strerror(errno));
    const char *const arguments[] = { initdb,  "-D", folder, "-U",         "bench", "-A",
                                      "trust", "-E", "UTF8", "--locale=C", NULL };
    server_run("initdb", arguments, user);
}

static void start(const struct peer *peer, size_t in_flight) {
    (void)peer, (void)in_flight;
    const char *path = server_find("PostgreSQL", "/usr/lib/postgresql/*/bin/postgres");
    const struct passwd *user = user_of_server();
    if (getcwd(folder, sizeof(folder) - sizeof(DATA) - 1) == NULL ||
        strlen(folder) > PATH_MAX_OF_SOCKETS)
        report_left_out("the path of the folder is too long for a socket of PostgreSQL");
    strcat(folder, "/" DATA);
    if (access(DATA, F_OK) != 0)
        create_cluster(path, user);
    const char *const arguments[] = {
        path, "-D", folder, "-k", folder, "-c", "listen_addresses=", "-c", "max_connections=300",
        NULL
    };
    server_start("postgresql", arguments, user, SIGINT);
    PGconn *pg;
    while ((pg = try_to_connect()) == NULL)
        server_await();
    run(pg, "SET client_min_messages = warning");
    run(pg, "CREATE TABLE IF NOT EXISTS job (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
            " deadline bigint NOT NULL, payload text NOT NULL)");
    run(pg, "CREATE INDEX IF NOT EXISTS job_deadline ON job (deadline)");
    PQfinish(pg);
}

static void prepare(PGconn *pg, const char *name, const char *text) {
    PGresult *result = PQprepare(pg, name, text, 0, NULL);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        report_failure("PostgreSQL: %s", PQerrorMessage(pg));
    PQclear(result);
}

static void *connect_to(void) {
    struct connection *self = calloc(1, sizeof(*self));
    if (self == NULL || (self->ids = malloc(ARRAY_ROOM)) == NULL ||
        (self->deadlines = malloc(ARRAY_ROOM)) == NULL ||
        (self->payloads = malloc(ARRAY_ROOM)) == NULL)
        report_out_of_memory();
    while ((self->pg = try_to_connect()) == NULL)
        server_await();
    prepare(self->pg, "put", "INSERT INTO job (deadline, payload) VALUES ($1::bigint, $2)");
    prepare(self->pg, "puts",
            "INSERT INTO job (deadline, payload) SELECT * FROM unnest($1::bigint[], $2::text[])");
    prepare(self->pg, "end", "DELETE FROM job WHERE id = ANY ($1::bigint[])");
    prepare(self->pg, "take",
            "SELECT id, payload FROM job WHERE deadline <= $1::bigint ORDER BY deadline "
            "LIMIT $2::bigint FOR UPDATE SKIP LOCKED");
    return self;
}

/* ---- statements, several in a message */

static void send_statement(struct connection *self, const char *name, int count,
                           const char *const values[]) {
    if (PQsendQueryPrepared(self->pg, name, count, values, NULL, NULL, 0) != 1)
        report_failure("PostgreSQL: %s", PQerrorMessage(self->pg));
}

static void send_text(struct connection *self, const char *text) {
    if (PQsendQueryParams(self->pg, text, 0, NULL, NULL, NULL, NULL, 0) != 1)
        report_failure("PostgreSQL: %s", PQerrorMessage(self->pg));
}

static PGresult *receive(struct connection *self, ExecStatusType wanted) {
    PGresult *result = PQgetResult(self->pg);
    if (result == NULL || PQresultStatus(result) != wanted)
        report_failure("PostgreSQL: %s", PQerrorMessage(self->pg));
    if (wanted == PGRES_PIPELINE_SYNC)
        return result;
    PGresult *end = PQgetResult(self->pg); /* NULL follows each statement */
    PQclear(end);
    return result;
}

static void expect(struct connection *self, ExecStatusType wanted) {
    PQclear(receive(self, wanted));
}

static void expect_rows(struct connection *self, size_t count) {
    PGresult *result = receive(self, PGRES_COMMAND_OK);
    if (strtoull(PQcmdTuples(result), NULL, 10) != count)
        report_failure("PostgreSQL: %s jobs in place of %zu", PQcmdTuples(result), count);
    PQclear(result);
}

/* ---- a round */

static PGresult *take(struct connection *self, const struct load *load) {
    char now[24], limit[24];
    snprintf(now, sizeof(now), "%lld", (long long)load_now_ns());
    snprintf(limit, sizeof(limit), "%zu", load->in_flight);
    const char *const values[] = { now, limit };
    send_text(self, "BEGIN");
    send_statement(self, "take", 2, values);
    PQpipelineSync(self->pg);
    expect(self, PGRES_COMMAND_OK);
    PGresult *taken = receive(self, PGRES_TUPLES_OK);
    expect(self, PGRES_PIPELINE_SYNC);
    return taken;
}

static void send_ends(struct connection *self, const PGresult *taken, int count) {
    char *at = self->ids;
    for (int i = 0; i < count; i++)
        at += sprintf(at, "%c%s", i == 0 ? '{' : ',', PQgetvalue(taken, i, 0));
    strcpy(at, "}");
    const char *const values[] = { self->ids };
    send_statement(self, "end", 1, values);
}

static void send_puts(struct connection *self, struct load *load, size_t puts) {
    char *deadline = self->deadlines, *payload = self->payloads;
    for (size_t i = 0; i < puts; i++) {
        *deadline++ = *payload++ = i == 0 ? '{' : ',';
        int64_t deadline_ns = load_next(load, payload);
        payload += load->payload_size;
        deadline += sprintf(deadline, "%lld", (long long)deadline_ns);
    }
    strcpy(deadline, "}");
    strcpy(payload, "}");
    const char *const values[] = { self->deadlines, self->payloads };
    send_statement(self, "puts", 2, values);
}

static void make_round(void *connection, struct load *load) {
    struct connection *self = connection;
    PQenterPipelineMode(self->pg);
    PGresult *taken = take(self, load);
    int count = PQntuples(taken);
    for (int i = 0; i < count; i++)
        load_delivered(load, PQgetvalue(taken, i, 1), (size_t)PQgetlength(taken, i, 1));
    size_t ended = (size_t)count;
    size_t puts = load->put_next + (load->replaces ? ended : 0);
    load->put_next = 0;
    if (ended > 0)
        send_ends(self, taken, count);
    if (puts > 0)
        send_puts(self, load, puts);
    send_text(self, "COMMIT");
    PQpipelineSync(self->pg);
    PQclear(taken);
    if (ended > 0)
        expect_rows(self, ended);
    if (puts > 0)
        expect_rows(self, puts);
    expect(self, PGRES_COMMAND_OK);
    expect(self, PGRES_PIPELINE_SYNC);
    PQexitPipelineMode(self->pg);
    load_end(load, ended);
}

static void put(void *connection, int64_t deadline_ns, const char *payload, size_t size) {
    struct connection *self = connection;
    (void)size; /* it is text */
    char deadline[24];
    snprintf(deadline, sizeof(deadline), "%lld", (long long)deadline_ns);
    const char *const values[] = { deadline, payload };
    PGresult *result = PQexecPrepared(self->pg, "put", 2, values, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        report_failure("PostgreSQL: %s", PQerrorMessage(self->pg));
    PQclear(result);
}

/* ---- figures */

static uint64_t number(const char *text) {
    PGconn *pg;
    while ((pg = try_to_connect()) == NULL)
        server_await();
    PGresult *result = execute(pg, text, 0, NULL);
    uint64_t found = strtoull(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    PQfinish(pg);
    return found;
}

static uint64_t count(void) {
    return number("SELECT count(*) FROM job");
}

/* Table and indexes: the log has a size of its own. */
static uint64_t disk_bytes(void) {
    return number("SELECT pg_total_relation_size('job')");
}

const struct peer peer_postgresql = {
    .name = "postgresql",
    .about = "PostgreSQL, FOR UPDATE SKIP LOCKED; fdatasync before a commit returns",
    .has_delays = true,
    .clients = 2,
    .start = start,
    .stop = server_stop,
    .connect = connect_to,
    .put = put,
    .round = make_round,
    .count = count,
    .disk_bytes = disk_bytes,
    .resident_bytes = server_resident_bytes,
};

/* SPDX-License-Identifier: MIT */
/* peer_htw.c - htw's journal, on a scheduler with the defaults. */
#include "files.h"
#include "peer.h"

#include "../common/process.h"
#include "../common/report.h"

#include <htw/journal_inspect.h>
#include <sqlite3.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define PATH "htw.journal"

static struct htw_scheduler *scheduler;
static struct htw_journal *journal;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* for a load, and for this: */
static struct load *received;                            /* NULL: jobs stay where they are */

static void check(int error, const char *what) {
    if (error != 0)
        report_failure("%s: %s", what, htw_journal_error());
}

/* Under the lock. At the limit of memory waits until all is written. */
static void put_later(struct load *load) {
    char payload[PAYLOAD_MAX + 1];
    int64_t deadline_ns = load_next(load, payload);
    int error;
    while ((error = htw_journal_put_later(journal, deadline_ns, payload, load->payload_size, NULL,
                                          NULL, NULL)) == -EAGAIN)
        check(htw_journal_sync(journal), "htw_journal_sync");
    check(error, "htw_journal_put_later");
}

static void note_ended(void *arg, int result) {
    check(result, "htw_journal_done_later");
    load_end(arg, 1);
}

static void deliver(void *context, const struct htw_delivery *delivery) {
    (void)context;
    pthread_mutex_lock(&turn);
    struct load *load = received;
    if (load != NULL) {
        load_delivered(load, delivery->payload, delivery->payload_size);
        check(htw_journal_done_later(journal, delivery->id, note_ended, load),
              "htw_journal_done_later");
        if (load->replaces)
            put_later(load);
    }
    pthread_mutex_unlock(&turn);
}

static void start(const struct peer *peer, size_t in_flight) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = deliver;
    options.synchronous = strcmp(peer->name, "htw") == 0 ? HTW_SYNCHRONOUS_FULL //
                                                         : HTW_SYNCHRONOUS_NORMAL;
    options.max_in_flight = in_flight;
    int error = htw_scheduler_create(&scheduler, NULL);
    if (error != 0)
        report_failure("htw_scheduler_create: %s", strerror(-error));
    check(htw_journal_open(&journal, scheduler, PATH, &options), "htw_journal_open");
}

static void stop(void) {
    check(htw_journal_close(journal), "htw_journal_close");
    htw_scheduler_destroy(scheduler);
}

static void *connect_to(void) {
    return journal;
}

static void put(void *connection, int64_t deadline_ns, const char *payload, size_t size) {
    (void)connection;
    check(htw_journal_put(journal, deadline_ns, payload, size, NULL), "htw_journal_put");
}

struct taken {
    uint64_t id;
    uint32_t attempt;
};

static void take(void *arg, int result, const struct htw_delivery *delivery) {
    struct taken *taken = arg;
    if (result == 0)
        *taken = (struct taken) { delivery->id, delivery->attempt };
}

static void pass(void *connection, const char *payload, size_t size, bool is_durable) {
    static const char *const queues[] = { "jobs" };
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    struct htw_lease lease = HTW_LEASE_INIT;
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    struct taken taken;
    (void)connection;
    job.queue = queues[0];
    job.payload = payload;
    job.payload_size = size;
    change.jobs = &job;
    change.job_count = 1;
    check(htw_journal_apply(journal, &change), "htw_journal_apply");
    lease.queues = queues;
    lease.queue_count = 1;
    lease.wait_until_ns = HTW_NEVER_NS;
    lease.is_durable = is_durable;
    check(htw_journal_lease(journal, &lease, take, &taken), "htw_journal_lease");
    update.step = HTW_JOB_END;
    update.id = taken.id;
    update.attempt = taken.attempt;
    check(htw_journal_update(journal, &update), "htw_journal_update");
}

static void make_round(void *connection, struct load *load) {
    (void)connection;
    for (; load->put_next > 0; load->put_next--) {
        pthread_mutex_lock(&turn);
        put_later(load);
        pthread_mutex_unlock(&turn);
    }
}

static void receive(struct load *load) {
    pthread_mutex_lock(&turn);
    received = load;
    pthread_mutex_unlock(&turn);
}

static uint64_t count(void) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    check(htw_journal_sync(journal), "htw_journal_sync");
    check(htw_journal_get_stats(journal, &stats), "htw_journal_get_stats");
    return stats.jobs;
}

static uint64_t disk_bytes(void) {
    return files_total(PATH);
}

/* A reader keeps the log from beginning at its start again. */
static void hold_log(void) {
    sqlite3 *reader;
    if (sqlite3_open_v2(PATH, &reader, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
        sqlite3_exec(reader, "BEGIN; SELECT jobs FROM htw_meta", NULL, NULL, NULL) != SQLITE_OK)
        report_failure("a reader: %s", sqlite3_errmsg(reader));
}

#define PEER_HTW(name_, about_)                                                             \
    {                                                                                       \
        .name = name_, .about = about_, .is_embedded = true, .clients = 1, .start = start,  \
        .stop = stop, .connect = connect_to, .put = put, .pass = pass, .round = make_round, \
        .receive = receive, .count = count, .disk_bytes = disk_bytes,                       \
        .resident_bytes = process_resident_bytes, .hold_log = hold_log                      \
    }

const struct peer peer_htw =
    PEER_HTW("htw", "htw_journal_put_later(), _done_later(); FULL: fdatasync before the notice");
const struct peer peer_htw_normal = PEER_HTW("htw-normal", "the same with NORMAL: no fdatasync");

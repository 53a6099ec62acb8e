/* SPDX-License-Identifier: MIT */
/*
 * change.c - the actions of `htw journal` that open the journal as its owner. While an `htw serve` has it open, they ask that; while
 * another program has, they are refused.
 */
#include "actions.h"

#include <htw/journal_guest.h>

#include "../kit/command_line.h"
#include "../kit/terminal.h"
#include "../kit/visible.h"
#include "served.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As src/journal/database/open.c: others write to the file, and their transactions may be long. */
#define GUEST_BUSY_TIMEOUT_MS 30000

uint64_t htw__journal_file_bytes(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

bool htw__journal_identify(const char *path, bool *ret_is_guest) {
    struct htw_journal *journal = NULL;
    int error = htw_journal_open_to_read(&journal, path, ret_is_guest);
    htw_journal_close(journal);
    return htw__journal_succeeds(error);
}

/* NULL: it cannot be opened. Why was printed, unless `ret_is_served`: the server is to be asked. */
static struct htw_journal *open_as(const char *path, bool is_guest, struct htw_scheduler *scheduler,
                                   bool *ret_is_served) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    struct htw_journal *journal = NULL;
    options.is_guest = is_guest;
    int error = htw_journal_open(&journal, scheduler, path, &options);
    *ret_is_served = error == -EBUSY && htw__journal_is_served(path);
    if (error == -EBUSY && !*ret_is_served)
        htw__terminal_error("%s, which is no htw serve that can be asked", htw_journal_error());
    else if (error != 0 && error != -EBUSY)
        htw__terminal_error("%s", htw_journal_error());
    return journal;
}

struct htw_journal *htw__journal_open_unserved(const char *path, bool is_guest,
                                               struct htw_scheduler *scheduler) {
    bool is_served;
    struct htw_journal *journal = open_as(path, is_guest, scheduler, &is_served);
    if (is_served)
        htw__terminal_error("%s: not while htw serve has it open", path);
    return journal;
}

/* One that does not exist is not created. */
static struct htw_journal *open_journal(const char *path, bool *ret_is_served) {
    bool is_guest;
    *ret_is_served = false;
    return htw__journal_identify(path, &is_guest) ? open_as(path, is_guest, NULL, ret_is_served)
                                                  : NULL;
}

/* Whether all was done and printed. */
static int end(struct htw_journal *journal, bool success) {
    htw_journal_close(journal); /* all changes were waited for: nothing is left that fails */
    return htw__terminal_flush() && success ? 0 : HTW__EXIT_FAILED;
}

bool htw__journal_succeeds(int error) {
    if (error < 0)
        htw__terminal_error("%s", htw_journal_error());
    return error >= 0;
}

const char *htw__journal_queue_of(const struct htw__journal_request *request) {
    const char *queue = request->queue;
    return queue == NULL || *queue == '\0' ? NULL : queue;
}

/* ---- put */

/* All of standard input, to be freed; NULL: why not was printed. */
static char *read_input(size_t *ret_size) {
    size_t size = 0, capacity = (size_t)1 << 16;
    char *bytes = malloc(capacity);
    while (bytes != NULL) {
        size += fread(bytes + size, 1, capacity - size, stdin);
        if (size < capacity || capacity > HTW_JOURNAL_JOB_MAX)
            break;
        char *larger = realloc(bytes, capacity *= 2);
        if (larger == NULL)
            free(bytes);
        bytes = larger;
    }
    *ret_size = size;
    if (bytes != NULL && !ferror(stdin))
        return bytes;
    htw__terminal_error("standard input: %s", strerror(bytes == NULL ? ENOMEM : errno));
    free(bytes);
    return NULL;
}

static struct htw_job job_of(const struct htw__journal_request *request, const char *payload,
                             size_t size) {
    struct htw_job job = HTW_JOB_INIT;
    job.deadline_ns = request->deadline_ns;
    job.payload = payload;
    job.payload_size = size;
    job.key = request->key;
    job.key_size = request->key == NULL ? 0 : strlen(request->key);
    job.queue = htw__journal_queue_of(request);
    job.priority = request->priority;
    return job;
}

/* The job gets its id. */
static bool put(const struct htw__journal_request *request, struct htw_job *job) {
    bool is_served;
    struct htw_journal *journal = open_as(request->path, false, NULL, &is_served);
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    change.jobs = job;
    change.job_count = 1;
    bool success =
        is_served ? htw__served_put(request, job)
                  : journal != NULL && htw__journal_succeeds(htw_journal_apply(journal, &change));
    htw_journal_close(journal);
    return success;
}

/* Opens the file beside the journal, and does that. False: why not was printed. The connection is to
   be closed in both cases. */
static bool connect_and_do(struct sqlite3 **connection, const char *path, int busy_ms,
                           const char *sql) {
    int result = sqlite3_open_v2(path, connection, SQLITE_OPEN_READWRITE, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_busy_timeout(*connection, busy_ms);
    if (result == SQLITE_OK)
        result = sqlite3_exec(*connection, sql, NULL, NULL, NULL);
    if (result != SQLITE_OK)
        htw__terminal_error("%s: %s", path, sqlite3_errmsg(*connection));
    return result == SQLITE_OK;
}

/* As any program puts a job, also while the journal is open. */
static bool put_as_guest(const struct htw__journal_request *request, struct htw_job *job) {
    struct sqlite3 *connection = NULL;
    bool success = connect_and_do(&connection, request->path, GUEST_BUSY_TIMEOUT_MS,
                                  "PRAGMA synchronous = EXTRA") &&
                   htw__journal_succeeds(htw_journal_put_in(connection, job));
    sqlite3_close(connection);
    return success;
}

/* With the payload that was said, or read. The journal is created where there is none. */
int htw__journal_put(const struct htw__journal_request *request) {
    size_t size = request->content == NULL ? 0 : strlen(request->content);
    char *input = request->content == NULL ? read_input(&size) : NULL;
    const char *payload = request->content == NULL ? input : request->content;
    struct htw_job job = job_of(request, payload, size);
    bool is_guest = false, exists = access(request->path, F_OK) == 0;
    bool success = payload != NULL && (!exists || htw__journal_identify(request->path, &is_guest));
    if (success)
        success = is_guest ? put_as_guest(request, &job) : put(request, &job);
    if (success)
        printf(request->json ? "{\"put\":\"%" PRIu64 "\"}\n" : "%" PRIu64 "\n", job.id);
    free(input);
    return end(NULL, success);
}

/* ---- steps */

static bool step(struct htw_journal *journal, const struct htw__journal_request *request,
                 uint64_t id) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    if (journal == NULL)
        return htw__served_step(request, id);
    update.id = id;
    update.step = request->step;
    update.deadline_ns = request->deadline_ns;
    update.has_priority = request->has_priority;
    update.priority = request->priority;
    return htw__journal_succeeds(htw_journal_update(journal, &update));
}

int htw__journal_step(const struct htw__journal_request *request) {
    bool is_served;
    struct htw_journal *journal = open_journal(request->path, &is_served);
    bool success = journal != NULL || is_served;
    for (size_t i = 0; i < request->id_count && (journal != NULL || is_served); i++) {
        bool is_done = step(journal, request, request->ids[i]);
        if (is_done && request->json)
            printf("{\"%s\":\"%" PRIu64 "\"}\n", request->done, request->ids[i]);
        success = success && is_done;
    }
    return end(journal, success);
}

int htw__journal_kick(const struct htw__journal_request *request) {
    if (request->id_count > 0)
        return htw__journal_step(request);
    bool is_served, success = false;
    int count = 0;
    struct htw_journal *journal = open_journal(request->path, &is_served);
    if (is_served)
        success = htw__served_kick(request, &count);
    else if (journal != NULL)
        success =
            htw__journal_succeeds(count = htw_journal_kick(journal, htw__journal_queue_of(request),
                                                           (uint32_t)request->limit));
    if (success)
        printf(request->json ? "{\"kicked\":%d}\n" : "%d\n", count);
    return end(journal, success);
}

/* ---- compact */

/* By a connection of its own, while the journal keeps others out. Without a change the journal writes
   nothing meanwhile: SQLite before 3.51.3 does not survive two that write and copy the log at once. */
static bool compact(const char *path) {
    struct sqlite3 *connection = NULL;
    bool success = connect_and_do(&connection, path, 2000, "PRAGMA synchronous = FULL; VACUUM");
    if (success && sqlite3_wal_checkpoint_v2(connection, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL,
                                             NULL) != SQLITE_OK) {
        htw__terminal_error("%s: %s", path, sqlite3_errmsg(connection));
        success = false;
    }
    sqlite3_close(connection);
    return success;
}

int htw__journal_compact(const struct htw__journal_request *request) {
    bool is_guest;
    struct htw_journal *journal = NULL;
    bool is_journal = htw__journal_identify(request->path, &is_guest);
    if (is_journal && is_guest)
        htw__terminal_error("%s: the database of a program, which alone compacts it",
                            request->path);
    else if (is_journal)
        journal = htw__journal_open_unserved(request->path, false, NULL);
    uint64_t before = htw__journal_file_bytes(request->path);
    bool success = journal != NULL && compact(request->path);
    htw_journal_close(journal);
    uint64_t after = htw__journal_file_bytes(request->path);
    if (success && request->json)
        printf("{\"bytes_before\":%" PRIu64 ",\"bytes\":%" PRIu64 "}\n", before, after);
    else if (success)
        htw__terminal_print("%s: %" PRIu64 " bytes, before %" PRIu64, request->path, after, before);
    return success && fflush(stdout) == 0 ? 0 : HTW__EXIT_FAILED;
}

/* SPDX-License-Identifier: MIT */
/*
 * mend.c - `htw journal cancel` and `htw journal compact`. Both open the journal as its owner, so they
 * are refused while another process has it open.
 */
#include "actions.h"

#include "../status.h"
#include "../terminal.h"
#include "file.h"

#include <htw/journal.h>

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static uint64_t size_of(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* A journal that does not exist is not created. NULL: it cannot be opened, and why was printed. */
static struct htw_journal *open_journal(const char *path) {
    struct htw__journal_file file;
    struct htw_journal *journal = NULL;
    bool is_journal = htw__journal_file_open(&file, path);
    htw__journal_file_close(&file);
    if (is_journal && htw_journal_open(&journal, NULL, path, NULL) != 0)
        htw__terminal_error("%s", htw_journal_error());
    return journal;
}

int htw__journal_cancel(const struct htw__journal_request *request) {
    struct htw_journal *journal = open_journal(request->path);
    bool success = journal != NULL;
    for (size_t i = 0; i < request->id_count && journal != NULL; i++) {
        int error = htw_journal_cancel(journal, request->ids[i]);
        if (error != 0)
            htw__terminal_error("%s", htw_journal_error());
        else if (request->json)
            printf("{\"cancelled\":\"%" PRIu64 "\"}\n", request->ids[i]);
        success = success && error == 0;
    }
    htw_journal_close(journal); /* all changes were waited for: nothing is left that fails */
    return success && fflush(stdout) == 0 ? 0 : HTW__EXIT_FAILED;
}

/* By a connection of its own, while the journal keeps others out. Without a change the journal writes
   nothing meanwhile: SQLite before 3.51.3 does not survive two that write and copy the log at once. */
static bool compact(const char *path) {
    struct sqlite3 *connection = NULL;
    int result = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_busy_timeout(connection, 2000);
    if (result == SQLITE_OK)
        result = sqlite3_exec(connection, "PRAGMA synchronous = FULL; VACUUM", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result =
            sqlite3_wal_checkpoint_v2(connection, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    if (result != SQLITE_OK)
        htw__terminal_error("%s: %s", path, sqlite3_errmsg(connection));
    sqlite3_close(connection);
    return result == SQLITE_OK;
}

int htw__journal_compact(const struct htw__journal_request *request) {
    struct htw_journal *journal = open_journal(request->path);
    uint64_t before = size_of(request->path);
    bool success = journal != NULL && compact(request->path);
    htw_journal_close(journal);
    uint64_t after = size_of(request->path);
    if (success && request->json)
        printf("{\"bytes_before\":%" PRIu64 ",\"bytes\":%" PRIu64 "}\n", before, after);
    else if (success)
        printf("%s: %" PRIu64 " bytes, before %" PRIu64 "\n", request->path, after, before);
    return success && fflush(stdout) == 0 ? 0 : HTW__EXIT_FAILED;
}

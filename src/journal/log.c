/* SPDX-License-Identifier: MIT */
/* log.c - the log of SQLite: what a process has left in it, its size, and copying it to the file. */
#include "log.h"

#include "error.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

int htw__log_checkpoint_pages = 4096; /* 16 MiB */

sqlite3_file *htw__log_file(struct sqlite3 *connection, int which) {
    sqlite3_file *file = NULL;
    int result = sqlite3_file_control(connection, "main", which, &file);
    return result == SQLITE_OK && file != NULL && file->pMethods != NULL ? file : NULL;
}

int htw__log_result(sqlite3_file *file, int result) {
    int system_error = 0;
    (void)file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &system_error);
    return htw__journal_is_full(system_error) ? SQLITE_FULL : result;
}

/* ---- a log that a process has left */

static int copy_onto_itself(sqlite3_file *file, unsigned char *buffer, int capacity) {
    sqlite3_int64 size;
    int result = file->pMethods->xFileSize(file, &size);
    for (sqlite3_int64 at = 0; at < size && result == SQLITE_OK; at += capacity) {
        int part = size - at < capacity ? (int)(size - at) : capacity;
        result = file->pMethods->xRead(file, buffer, part, at);
        if (result == SQLITE_OK)
            result = file->pMethods->xWrite(file, buffer, part, at);
    }
    if (result == SQLITE_OK)
        return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
    return htw__log_result(file, result);
}

/*
 * Writes the log again, in place, and syncs it. If an fsync of an earlier process has failed, the
 * kernel may hold pages of the log as clean that are not on the disk, and a sync alone would not
 * write them: what SQLite reads from the log now could be lost at a power cut while it is copied to
 * the file. SQLite's lock is held, so that no other program writes. A file system that copies what is
 * written over may have no space for that.
 */
static int rewrite(struct sqlite3 *connection) {
    enum { CAPACITY = 64 * 1024 };
    int result = sqlite3_exec(connection, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (result != SQLITE_OK)
        return result;
    sqlite3_file *file = htw__log_file(connection, SQLITE_FCNTL_JOURNAL_POINTER);
    if (file != NULL) {
        unsigned char *buffer = sqlite3_malloc(CAPACITY);
        result = buffer == NULL ? SQLITE_NOMEM : copy_onto_itself(file, buffer, CAPACITY);
        sqlite3_free(buffer);
    }
    int ended = sqlite3_exec(connection, "ROLLBACK", NULL, NULL, NULL);
    return result == SQLITE_OK ? ended : result;
}

/* ---- its size */

static int note_pages(void *context, struct sqlite3 *connection, const char *name, int pages) {
    (void)connection, (void)name;
    struct htw__log *log = context;
    if (pages < log->pages) /* it begins at its start again */
        log->checkpoint_at = htw__log_checkpoint_pages;
    log->pages = pages;
    return SQLITE_OK;
}

void htw__log_init(struct htw__log *log, struct sqlite3 *connection) {
    bool is_followed = connection != NULL;
    *log = (struct htw__log) { .connection = connection,
                               .checkpoint_at = is_followed ? htw__log_checkpoint_pages : INT_MAX,
                               .is_rewritten = !is_followed };
    if (is_followed)
        sqlite3_wal_hook(connection, note_pages, log);
}

static int get_status(const char *name, struct stat *status) {
    char path[PATH_MAX + 4];
    snprintf(path, sizeof(path), "%s-wal", name);
    return stat(path, status);
}

uint64_t htw__log_bytes(const char *name) {
    struct stat status;
    return get_status(name, &status) == 0 ? (uint64_t)status.st_size : 0;
}

bool htw__log_is_in_place(struct htw__log *log, const char *name) {
    struct stat status;
    if (log->connection == NULL)
        return true;
    if (get_status(name, &status) != 0)
        return errno != ENOENT; /* what else fails says nothing about it */
    if (log->inode == 0)
        log->inode = (uint64_t)status.st_ino;
    return log->inode == (uint64_t)status.st_ino;
}

/* ---- copying it */

bool htw__log_is_long(const struct htw__log *log) {
    return log->pages >= log->checkpoint_at;
}

int htw__log_checkpoint(struct htw__log *log, bool *ret_is_whole) {
    int pages = 0, copied = 0;
    *ret_is_whole = false;
    if (!log->is_rewritten) {
        int result = rewrite(log->connection);
        if (result != SQLITE_OK)
            return result;
        log->is_rewritten = true;
    }
    /* If a reader keeps the log from beginning again, it grows meanwhile. */
    log->checkpoint_at = log->pages + htw__log_checkpoint_pages;
    int result = sqlite3_wal_checkpoint_v2(log->connection, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages,
                                           &copied);
    *ret_is_whole = copied >= pages;
    return result;
}

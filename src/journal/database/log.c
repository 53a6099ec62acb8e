/* SPDX-License-Identifier: MIT */
/* log.c - the log of SQLite, and the space that is kept for changes that end jobs. */
#include "log.h"

#include "error.h"
#include "statements.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* Of the file, and bytes of the log: 40 pages, with their headers. */
#define ROOM_PAGES 16
#define LOG_ROOM (INT64_C(168) << 10)

/* With less free space a close leaves the log. */
#define SCARCE (UINT64_C(20) << 20)

/* For those that read the log. */
#define PATIENCE_MS 100

int htw__log_checkpoint_pages = 4096; /* 16 MiB */

sqlite3_file *htw__database_file(const struct htw__database *self, int which) {
    sqlite3_file *file = NULL;
    int result = sqlite3_file_control(self->sqlite->connection, "main", which, &file);
    return result == SQLITE_OK && file != NULL && file->pMethods != NULL ? file : NULL;
}

static int result_of(sqlite3_file *file, int result) {
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
    return result_of(file, result);
}

/*
 * Writes the log again, in place, and syncs it. If an fsync of an earlier process has failed, the
 * kernel may hold pages of the log as clean that are not on the disk, and a sync alone would not
 * write them: what SQLite reads from the log now could be lost at a power cut while it is copied to
 * the file. SQLite's lock is held, so that no other program writes. A file system that copies what is
 * written over may have no space for that.
 */
static int rewrite(struct htw__database *self) {
    enum { CAPACITY = 64 * 1024 };
    int result = sqlite3_exec(self->sqlite->connection, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (result != SQLITE_OK)
        return result;
    sqlite3_file *file = htw__database_file(self, SQLITE_FCNTL_JOURNAL_POINTER);
    if (file != NULL) {
        unsigned char *buffer = sqlite3_malloc(CAPACITY);
        result = buffer == NULL ? SQLITE_NOMEM : copy_onto_itself(file, buffer, CAPACITY);
        sqlite3_free(buffer);
    }
    int ended = sqlite3_exec(self->sqlite->connection, "ROLLBACK", NULL, NULL, NULL);
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

void htw__log_init(struct htw__database *self) {
    struct htw__log *log = &self->sqlite->log;
    bool is_followed = htw__database_has_log(self);
    *log = (struct htw__log) { .checkpoint_at = is_followed ? htw__log_checkpoint_pages : INT_MAX,
                               .is_rewritten = !is_followed };
    if (is_followed)
        sqlite3_wal_hook(self->sqlite->connection, note_pages, log);
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

bool htw__log_is_in_place(struct htw__database *self) {
    struct htw__log *log = &self->sqlite->log;
    struct stat status;
    if (!htw__database_has_log(self))
        return true;
    if (get_status(self->name, &status) != 0)
        return errno != ENOENT; /* what else fails says nothing about it */
    if (log->inode == 0)
        log->inode = (uint64_t)status.st_ino;
    return log->inode == (uint64_t)status.st_ino;
}

/* ---- copying it */

bool htw__log_is_long(const struct htw__database *self) {
    return self->sqlite->log.pages >= self->sqlite->log.checkpoint_at;
}

/* A result of SQLite; SQLITE_BUSY: later. `ret_is_whole`: not only up to where a reader is. */
static int checkpoint(struct htw__database *self, bool *ret_is_whole) {
    struct htw__log *log = &self->sqlite->log;
    int pages = 0, copied = 0;
    *ret_is_whole = false;
    if (!log->is_rewritten) {
        int result = rewrite(self);
        if (result != SQLITE_OK)
            return result;
        log->is_rewritten = true;
    }
    /* If a reader keeps the log from beginning again, it grows meanwhile. */
    log->checkpoint_at = log->pages + htw__log_checkpoint_pages;
    int result = sqlite3_wal_checkpoint_v2(self->sqlite->connection, NULL,
                                           SQLITE_CHECKPOINT_PASSIVE, &pages, &copied);
    *ret_is_whole = copied >= pages;
    return result;
}

/* ---- the room */

/* Zeros behind its end take the space; SQLite writes over them. */
static int extend(struct htw__database *self, sqlite3_file *file, sqlite3_int64 wanted) {
    static const char zeros[4096];
    sqlite3_int64 size = 0;
    int result = file->pMethods->xFileSize(file, &size);
    for (; size < wanted && result == SQLITE_OK; size += (sqlite3_int64)sizeof(zeros)) {
        int part = wanted - size < (sqlite3_int64)sizeof(zeros) ? (int)(wanted - size)
                                                                : (int)sizeof(zeros);
        result = file->pMethods->xWrite(file, zeros, part, size);
    }
    return result == SQLITE_OK ? 0 : htw__database_fail(self, result_of(file, result));
}

/*
 * In a log without a commit no number of pages stands, and SQLite takes all of the file for pages, room included. The first
 * commit says so, and a file that a power cut then makes shorter is damaged for SQLite.
 */
static int sync_room(struct htw__database *self, sqlite3_file *file) {
    if (self->sqlite->log.pages > 0)
        return 0;
    int result = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
    return result == SQLITE_OK ? 0 : htw__database_fail(self, result_of(file, result));
}

static void measure(struct htw__database *self) {
    sqlite3_file *file = htw__database_file(self, SQLITE_FCNTL_FILE_POINTER);
    sqlite3_int64 size = 0;
    if (file == NULL || file->pMethods->xFileSize(file, &size) != SQLITE_OK)
        size = 0;
    self->sqlite->file_bytes = size;
}

int htw__room_cover(struct htw__database *self, int64_t pages) {
    struct htw__sqlite *sqlite = self->sqlite;
    int64_t wanted = (pages + sqlite->room_pages) * (int64_t)sqlite->page_size;
    sqlite3_file *file = htw__database_file(self, SQLITE_FCNTL_FILE_POINTER);
    sqlite->file_pages = pages;
    if (wanted <= sqlite->file_bytes || file == NULL)
        return 0;
    int error = extend(self, file, wanted);
    if (error == 0)
        error = sync_room(self, file);
    if (error == 0)
        sqlite->file_bytes = wanted;
    return error;
}

int htw__room_secure(struct htw__database *self, bool frees) {
    struct htw__sqlite *sqlite = self->sqlite;
    int result = 1;
    if (!htw__database_has_log(self))
        return 0;
    if (sqlite->page_size == 0)
        result = htw__statement_number(self, HTW__PAGE_SIZE, NULL, 0, &sqlite->page_size);
    sqlite->room_pages = frees ? 0 : ROOM_PAGES;
    if (result < 0 || frees || sqlite->has_log_room)
        return result < 0 ? result : 0;
    sqlite3_file *log = htw__database_file(self, SQLITE_FCNTL_JOURNAL_POINTER);
    int error = log == NULL ? 0 : extend(self, log, LOG_ROOM);
    sqlite->has_log_room = error == 0;
    return error;
}

/* If there is space. */
static void make_again(struct htw__database *self) {
    measure(self);
    self->sqlite->room_pages = ROOM_PAGES;
    if (self->sqlite->file_pages > 0 && self->sqlite->has_log_room)
        (void)htw__room_cover(self, self->sqlite->file_pages);
}

int htw__room_copy_log(struct htw__database *self) {
    bool is_whole;
    errno = 0; /* htw__journal_errno() */
    int result = checkpoint(self, &is_whole);
    if ((result & 0xff) == SQLITE_BUSY)
        return false;
    if (result != SQLITE_OK) {
        int error = htw__database_fail(self, result);
        return htw__journal_fail(error, "%s-wal: the log cannot be copied into the file: %s",
                                 self->name, htw__journal_why(NULL, result, error));
    }
    self->lacks_space = self->lacks_space && !is_whole;
    make_again(self);
    return true;
}

bool htw__room_regain(struct htw__database *self) {
    if (!htw__database_has_log(self) || self->is_distrusted)
        return false;
    sqlite3_busy_timeout(self->sqlite->connection, PATIENCE_MS);
    int result = sqlite3_wal_checkpoint_v2(self->sqlite->connection, NULL,
                                           SQLITE_CHECKPOINT_RESTART, NULL, NULL);
    sqlite3_busy_timeout(self->sqlite->connection, HTW__DATABASE_BUSY_MS);
    if (result != SQLITE_OK && (result & 0xff) != SQLITE_BUSY)
        (void)htw__database_fail(self, result);
    make_again(self);
    return result == SQLITE_OK;
}

int htw__room_keep(struct htw__database *self) {
    sqlite3_file *file = htw__database_file(self, SQLITE_FCNTL_FILE_POINTER);
    return file == NULL ? 0 : sync_room(self, file);
}

static bool is_scarce(const struct htw__database *self) {
    struct statvfs disk;
    return statvfs(self->name, &disk) == 0 &&
           (uint64_t)disk.f_bavail < SCARCE / (disk.f_frsize == 0 ? 1 : disk.f_frsize);
}

/* It was cut to nothing by SQLite, so no reader and no later open finds a page in it, also beside another file. */
void htw__room_leave(struct htw__database *self) {
    sqlite3_file *log = htw__database_file(self, SQLITE_FCNTL_JOURNAL_POINTER);
    int keeps = 1;
    if (!htw__database_has_log(self) || log == NULL || !is_scarce(self) ||
        sqlite3_wal_checkpoint_v2(self->sqlite->connection, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL,
                                  NULL) != SQLITE_OK ||
        extend(self, log, LOG_ROOM) != 0)
        return;
    (void)sqlite3_exec(self->sqlite->connection, "PRAGMA journal_size_limit = -1", NULL, NULL,
                       NULL);
    (void)sqlite3_file_control(self->sqlite->connection, "main", SQLITE_FCNTL_PERSIST_WAL, &keeps);
}

/* SPDX-License-Identifier: MIT */
/* room.c - the space that is kept for changes that end jobs. */
#include "room.h"

#include "error.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/statvfs.h>

/* Of the file, and bytes of the log: 40 pages, with their headers. */
#define ROOM_PAGES 16
#define LOG_ROOM (INT64_C(168) << 10)

/* With less free space a close leaves the log. */
#define SCARCE (UINT64_C(20) << 20)

/* For those that read the log. */
#define PATIENCE_MS 100

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
    return result == SQLITE_OK ? 0 : htw__database_fail(self, htw__log_result(file, result));
}

/* A result of SQLite that is a number. */
static int64_t number(struct htw__database *self, enum htw__statement which) {
    int64_t value = htw__statement_step(self, which);
    if (value == 1)
        value = sqlite3_column_int64(self->statements[which], 0);
    sqlite3_reset(self->statements[which]);
    return value;
}

void htw__room_measure(struct htw__database *self) {
    sqlite3_file *file = htw__log_file(self->connection, SQLITE_FCNTL_FILE_POINTER);
    sqlite3_int64 size = 0;
    if (file == NULL || file->pMethods->xFileSize(file, &size) != SQLITE_OK)
        size = 0;
    self->file_bytes = size;
}

/* The file is at least as long as so many pages. */
static int cover(struct htw__database *self, int64_t more) {
    int64_t pages = number(self, HTW__PAGE_COUNT);
    sqlite3_file *file;
    if (pages < 0)
        return (int)pages;
    if (self->page_size == 0)
        self->page_size = number(self, HTW__PAGE_SIZE);
    int64_t wanted = (pages + more) * self->page_size;
    if (wanted <= self->file_bytes ||
        (file = htw__log_file(self->connection, SQLITE_FCNTL_FILE_POINTER)) == NULL)
        return 0;
    int error = extend(self, file, wanted);
    if (error == 0)
        self->file_bytes = wanted;
    return error;
}

int htw__room_secure(struct htw__database *self, bool frees) {
    if (!htw__database_has_log(self))
        return 0;
    int error = cover(self, frees ? 0 : ROOM_PAGES);
    if (error != 0 || frees || self->has_log_room)
        return error;
    sqlite3_file *log = htw__log_file(self->connection, SQLITE_FCNTL_JOURNAL_POINTER);
    if (log != NULL)
        error = extend(self, log, LOG_ROOM);
    self->has_log_room = error == 0;
    return error;
}

/* If there is space. */
static void make_again(struct htw__database *self) {
    htw__room_measure(self);
    if (htw__database_has_log(self) && self->is_open && self->has_log_room)
        (void)cover(self, ROOM_PAGES);
}

int htw__room_copy_log(struct htw__database *self) {
    bool is_whole;
    errno = 0; /* htw__journal_errno() */
    int result = htw__log_checkpoint(&self->log, &is_whole);
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
    sqlite3_busy_timeout(self->connection, PATIENCE_MS);
    int result =
        sqlite3_wal_checkpoint_v2(self->connection, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL);
    sqlite3_busy_timeout(self->connection, HTW__DATABASE_BUSY_MS);
    if (result != SQLITE_OK && (result & 0xff) != SQLITE_BUSY)
        (void)htw__database_fail(self, result);
    make_again(self);
    return result == SQLITE_OK;
}

static bool is_scarce(const struct htw__database *self) {
    struct statvfs disk;
    return statvfs(self->name, &disk) == 0 &&
           (uint64_t)disk.f_bavail < SCARCE / (disk.f_frsize == 0 ? 1 : disk.f_frsize);
}

/* It was cut to nothing by SQLite, so no reader and no later open finds a page in it, also beside another file. */
void htw__room_leave(struct htw__database *self) {
    sqlite3_file *log = htw__log_file(self->connection, SQLITE_FCNTL_JOURNAL_POINTER);
    int keeps = 1;
    if (!htw__database_has_log(self) || log == NULL || !is_scarce(self) ||
        sqlite3_wal_checkpoint_v2(self->connection, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) !=
            SQLITE_OK ||
        extend(self, log, LOG_ROOM) != 0)
        return;
    (void)sqlite3_exec(self->connection, "PRAGMA journal_size_limit = -1", NULL, NULL, NULL);
    (void)sqlite3_file_control(self->connection, "main", SQLITE_FCNTL_PERSIST_WAL, &keeps);
}

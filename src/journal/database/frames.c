/* SPDX-License-Identifier: MIT */
/*
 * frames.c - the frames of a commit: methods of the log's file, in front of those of SQLite's.
 *
 * A frame is a header and a page, and SQLite writes each of both. Where it syncs the log before it shows a commit to readers,
 * the frames of the commit are held until that, and written together. The last frame says how many pages the file has then:
 * before it is written, the file has the space.
 *
 * AHEAD of the frames are zeros, as a sync that also makes a file longer takes twice as long. They end the log, as no frame is of
 * page 0. SQLite has synced the header of the log before, with salts that no older frame has: so none of what the zeros are
 * written over can come back after a power cut, also where another program has cut the log and that is not on the disk.
 */
#include "log.h"

#include "error.h"
#include "statements.h"

#include <errno.h>
#include <string.h>

/* Bytes. The size of the file, in pages, is at 4 in the header of the last frame, and 0 in others. */
#define LOG_HEADER 32
#define FRAME_HEADER 24

/* Bytes: one sync of some ten puts takes longer. */
#define AHEAD (INT64_C(128) << 10)

static struct htw__log *log_of(const sqlite3_file *file) {
    return HTW_CONTAINER_OF((uintptr_t)file->pMethods, struct htw__log, methods);
}

/* Not of the header. Where there is no space for zeros, the frames come alone. */
static void write_ahead(sqlite3_file *file, int64_t at, int64_t end) {
    static const char zeros[32 << 10];
    struct htw__log *log = log_of(file);
    sqlite3_int64 size = end;
    if (at <= LOG_HEADER) /* it begins again, and may have been cut */
        log->size = 0;
    if (at == 0 || end <= log->size || log->real->xFileSize(file, &size) != SQLITE_OK)
        return;
    int64_t wanted = end > size ? end + AHEAD : size;
    while (size < wanted && log->real->xWrite(file, zeros, sizeof(zeros), size) == SQLITE_OK)
        size += (sqlite3_int64)sizeof(zeros);
    log->size = size;
}

static int write_held(sqlite3_file *file) {
    struct htw__log *log = log_of(file);
    int size = log->held_size;
    if (size == 0)
        return SQLITE_OK;
    log->held_size = 0;
    write_ahead(file, log->held_at, log->held_at + size);
    return log->real->xWrite(file, log->held, size, log->held_at);
}

/* Of the last frame. A result of SQLite. */
static int cover(const struct htw__log *log, const void *bytes, int size, sqlite3_int64 at) {
    const unsigned char *header = bytes;
    int64_t frame = FRAME_HEADER + (int64_t)log->database->sqlite->page_size;
    if (!log->commits || size != FRAME_HEADER || (at - LOG_HEADER) % frame != 0)
        return SQLITE_OK;
    uint32_t pages = (uint32_t)header[4] << 24 | (uint32_t)header[5] << 16 |
                     (uint32_t)header[6] << 8 | header[7];
    int error = pages == 0 ? 0 : htw__room_cover(log->database, pages);
    return error == 0 ? SQLITE_OK : error == -ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int log_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at) {
    struct htw__log *log = log_of(file);
    bool joins = log->commits && log->holds && size <= HTW__LOG_HELD;
    bool follows = at == log->held_at + log->held_size && size <= HTW__LOG_HELD - log->held_size;
    int result = cover(log, bytes, size, at);
    if (result == SQLITE_OK && !(joins && follows))
        result = write_held(file);
    if (result != SQLITE_OK || !joins)
        return result == SQLITE_OK ? log->real->xWrite(file, bytes, size, at) : result;
    if (log->held_size == 0)
        log->held_at = at;
    memcpy(log->held + log->held_size, bytes, (size_t)size);
    log->held_size += size;
    return SQLITE_OK;
}

static int log_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 at) {
    int result = write_held(file);
    return result == SQLITE_OK ? log_of(file)->real->xRead(file, bytes, size, at) : result;
}

static int log_sync(sqlite3_file *file, int flags) {
    int result = write_held(file);
    return result == SQLITE_OK ? log_of(file)->real->xSync(file, flags) : result;
}

int htw__frames_follow(struct htw__database *self) {
    struct htw__log *log = &self->sqlite->log;
    sqlite3_file *file = htw__database_file(self, SQLITE_FCNTL_JOURNAL_POINTER);
    if (file == NULL)
        return htw__journal_fail(-EIO, "%s-wal: SQLite does not show the log", self->name);
    log->database = self;
    log->real = file->pMethods;
    /* Where a torn write may change its neighbours, SQLite repeats the last frame, also behind the sync. */
    bool is_padded = !(log->real->xDeviceCharacteristics(file) & SQLITE_IOCAP_POWERSAFE_OVERWRITE);
    log->holds = self->sqlite->synchronous == HTW_SYNCHRONOUS_FULL && !is_padded;
    memcpy(&log->methods, log->real, offsetof(sqlite3_io_methods, xShmMap));
    log->methods.iVersion = 1; /* the log is neither shared nor mapped */
    log->methods.xRead = log_read;
    log->methods.xWrite = log_write;
    log->methods.xSync = log_sync;
    file->pMethods = &log->methods;
    return 0;
}

/* What is held in the end is of a transaction that has failed. */
int htw__frames_commit(struct htw__database *self) {
    struct htw__log *log = &self->sqlite->log;
    log->commits = true;
    int error = htw__statement_step(self, HTW__COMMIT);
    log->commits = false;
    if (error == 0 && log->held_size > 0)
        error = htw__database_distrust(self, "SQLite has not synced its log");
    log->held_size = 0;
    return error;
}

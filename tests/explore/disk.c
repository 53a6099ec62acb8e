/* SPDX-License-Identifier: MIT */
/* disk.c - a disk in memory, as a VFS of SQLite. */
#include "disk.h"

#include "../../src/journal/schema.h"
#include "../support/access_hooks.h"
#include "../support/lone_file.h"
#include "machine.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE __builtin_return_address(0)
#define FILES 4u
#define FILE_MAX ((sqlite3_int64)512 << 10)
#define SECTOR LONE_FILE_SECTOR
#define PATH "journal"

/* ---- files */

struct contents {
    unsigned char bytes[512 << 10];
    sqlite3_int64 size;
};

struct disk_file {
    char name[32]; /* empty: none */
    struct contents present, durable;
};

struct open_file {
    sqlite3_file base;
    struct disk_file *file;
};

/* What a power cut leaves, or an empty journal is. */
struct image {
    char names[FILES][32];
    struct contents files[FILES];
};

/* Neither is memory that the scenes share: the machine sees no access to it. */
static struct disk_file *files;
static struct image *empty, *frozen;

/* A fault that is to come, after so many of its kind. */
struct fault {
    bool is_planned;
    unsigned skipped;
};
static struct fault full, bad_sync;
static int last_error;

static bool meets(struct fault *fault) {
    if (!fault->is_planned)
        return false;
    fault->is_planned = fault->skipped > 0;
    if (fault->skipped > 0)
        fault->skipped--;
    return !fault->is_planned;
}

static void plan(struct fault *fault, unsigned skipped) {
    *fault = (struct fault) { true, skipped };
}

void disk_fill(unsigned skipped) {
    plan(&full, skipped);
}

void disk_damage_sync(unsigned skipped) {
    plan(&bad_sync, skipped);
}

bool disk_has_failed(void) {
    return !full.is_planned && !bad_sync.is_planned;
}

static void copy(struct contents *to, const struct contents *from) {
    memcpy(to->bytes, from->bytes, (size_t)from->size);
    to->size = from->size;
}

static void keep(struct image *image) {
    for (unsigned i = 0; i < FILES; i++) {
        memcpy(image->names[i], files[i].name, sizeof(files[i].name));
        copy(&image->files[i], &files[i].durable);
    }
}

static void bring_back(const struct image *image) {
    for (unsigned i = 0; i < FILES; i++) {
        memcpy(files[i].name, image->names[i], sizeof(files[i].name));
        copy(&files[i].present, &image->files[i]);
        copy(&files[i].durable, &image->files[i]);
    }
}

static struct disk_file *find(const char *name) {
    for (unsigned i = 0; i < FILES; i++)
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
    return NULL;
}

static struct disk_file *create(const char *name) {
    struct disk_file *file = find("");
    if (file != NULL) {
        snprintf(file->name, sizeof(file->name), "%s", name);
        file->present.size = file->durable.size = 0;
    }
    return file;
}

bool disk_is_durable(const void *bytes, size_t size) {
    for (unsigned i = 0; i < FILES; i++)
        if (files[i].name[0] != '\0' &&
            memmem(files[i].durable.bytes, (size_t)files[i].durable.size, bytes, size) != NULL)
            return true;
    return false;
}

/* ---- the one step of SQLite */

static uint64_t connection; /* stands for all that SQLite has */

static void take_step(const char *what, const void *code) {
    if (machine_self == NULL)
        return;
    int error = errno; /* the coroutines share it */
    machine_step(&connection, what, code);
    errno = error;
}

void disk_use(const void *code) {
    hook_write(&connection, sizeof(connection), code);
}

void disk_enter(const void *code) {
    take_step("uses SQLite", code);
    disk_use(code);
}

void disk_freeze(void) {
    enum { LOSE_ALL, LOSE_NOTHING, LOSE_SOME } loss = machine_choose(&connection, 3);
    keep(frozen);
    for (unsigned i = 0; i < FILES && loss != LOSE_ALL; i++) {
        struct contents *left = &frozen->files[i];
        const struct contents *present = &files[i].present;
        for (sqlite3_int64 at = 0; at < present->size; at += SECTOR)
            if (loss == LOSE_NOTHING || at / SECTOR % 2 == 0)
                memcpy(left->bytes + at, present->bytes + at, SECTOR);
        left->size = present->size > left->size ? present->size : left->size;
    }
}

void disk_restore(void) {
    bring_back(frozen);
}

/* ---- methods of files */

static struct disk_file *file_of(sqlite3_file *base) {
    return ((struct open_file *)base)->file;
}

static int file_read(sqlite3_file *base, void *bytes, int size, sqlite3_int64 offset) {
    const struct contents *present = &file_of(base)->present;
    return lone_file_read(present->bytes, present->size, bytes, size, offset);
}

static int file_write(sqlite3_file *base, const void *bytes, int size, sqlite3_int64 offset) {
    struct contents *present = &file_of(base)->present;
    if (meets(&full)) {
        errno = last_error = ENOSPC;
        return SQLITE_FULL;
    }
    if (offset + size > FILE_MAX)
        return SQLITE_FULL;
    if (offset > present->size)
        memset(present->bytes + present->size, 0, (size_t)(offset - present->size));
    memcpy(present->bytes + offset, bytes, (size_t)size);
    present->size = offset + size > present->size ? offset + size : present->size;
    return SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    file_of(base)->present.size = size;
    return SQLITE_OK;
}

static int file_sync(sqlite3_file *base, int flags) {
    (void)flags;
    take_step("syncs", CODE);
    if (meets(&bad_sync)) {
        errno = last_error = EIO;
        return SQLITE_IOERR_FSYNC;
    }
    copy(&file_of(base)->durable, &file_of(base)->present);
    return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
    *size = file_of(base)->present.size;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int operation, void *arg) {
    (void)base;
    if (operation != SQLITE_FCNTL_LAST_ERRNO)
        return SQLITE_NOTFOUND;
    *(int *)arg = last_error;
    return SQLITE_OK;
}

static const sqlite3_io_methods methods =
    LONE_FILE_METHODS(file_read, file_write, file_truncate, file_sync, file_size, file_control);

/* ---- methods of the VFS: the other ones are those of the system */

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags,
                    int *ret_flags) {
    (void)vfs;
    struct open_file *open = (struct open_file *)base;
    memset(open, 0, sizeof(*open));
    open->file = path == NULL ? NULL : find(path);
    if (open->file == NULL && path != NULL && (flags & SQLITE_OPEN_CREATE) != 0)
        open->file = create(path);
    if (open->file == NULL)
        return SQLITE_CANTOPEN;
    open->base.pMethods = &methods;
    if (ret_flags != NULL)
        *ret_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync) {
    (void)vfs, (void)sync;
    struct disk_file *file = find(path);
    if (file == NULL)
        return SQLITE_IOERR_DELETE_NOENT;
    file->name[0] = '\0';
    return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *ret_result) {
    (void)vfs, (void)flags;
    *ret_result = find(path) != NULL;
    return SQLITE_OK;
}

static void require(bool condition) {
    if (!condition) {
        fprintf(stderr, "explore: the disk in memory cannot be made\n");
        exit(1);
    }
}

static void make_empty(void) {
    sqlite3 *database;
    create(PATH);
    require(sqlite3_open_v2(PATH, &database, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
            sqlite3_exec(database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) == SQLITE_OK &&
            htw__schema_create(database, false) == SQLITE_OK &&
            sqlite3_close(database) == SQLITE_OK);
    keep(empty);
}

static void begin(void) {
    static sqlite3_vfs vfs;
    files = calloc(FILES, sizeof(*files));
    empty = calloc(1, sizeof(*empty));
    frozen = calloc(1, sizeof(*frozen));
    require(files != NULL && empty != NULL && frozen != NULL);
    sqlite3_initialize();
    vfs = *sqlite3_vfs_find(NULL);
    vfs.iVersion = 1;
    vfs.pNext = NULL;
    vfs.zName = "memory";
    vfs.szOsFile = sizeof(struct open_file);
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    vfs.xAccess = vfs_access;
    vfs.xFullPathname = lone_file_name;
    sqlite3_vfs_register(&vfs, 1);
    struct machine_thread *self = machine_self;
    machine_self = NULL;
    make_empty();
    machine_self = self;
}

void disk_reset(void) {
    static bool has_begun;
    full = bad_sync = (struct fault) { false, 0 };
    last_error = 0;
    if (!has_begun)
        begin();
    has_begun = true;
    lone_file_forget();
    bring_back(empty);
}

/* SPDX-License-Identifier: MIT */
/* disk.c - files, and what a power cut leaves of them. */
#include "disk.h"

#include "machine.h"

#include "../stage/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* No header declares what the linker or the compiler calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { FILES = 4, SECTOR = 512, CAPACITY = 8 << 20, SECTORS = CAPACITY / SECTOR, REGIONS = 64 };
#define FIRST_FD 1000 /* of the files; the folder comes after them */

enum { CLEAN, WRITTEN, IN_DOUBT };

struct disk_file {
    bool exists;
    uint64_t inode;
    int64_t size, safe_size;
    uint8_t state[SECTORS], bytes[CAPACITY], safe[CAPACITY];
};

struct disk_image {
    struct {
        bool exists;
        uint64_t inode;
        int64_t size;
        uint8_t bytes[CAPACITY];
    } files[FILES];
};

static const char *const names[FILES] = { DISK_PATH, DISK_PATH "-wal", DISK_PATH "-lock",
                                          DISK_PATH "-journal" };

static struct {
    struct disk_file files[FILES];
    uint64_t next_inode;
} * disk;

static void *regions[REGIONS]; /* of the memory that connections share: of the one database */

void disk_require(bool condition) {
    if (!condition) {
        fprintf(stderr, "the disk in memory cannot be made\n");
        exit(1);
    }
}

void disk_init(void) {
    disk = mmap(NULL, sizeof(*disk), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    disk_require(disk != MAP_FAILED);
}

/* NULL: it has no place on the disk. */
static struct disk_file *file_of(const char *path) {
    for (unsigned i = 0; i < FILES; i++)
        if (strcmp(path, names[i]) == 0)
            return &disk->files[i];
    return NULL;
}

static int64_t extent_of(const struct disk_file *file) {
    return file->size > file->safe_size ? file->size : file->safe_size;
}

static void create(struct disk_file *file) {
    memset(file->state, CLEAN, sizeof(file->state));
    memset(file->bytes, 0, (size_t)file->size);
    memset(file->safe, 0, (size_t)file->safe_size);
    file->exists = true;
    file->inode = ++disk->next_inode;
    file->size = file->safe_size = 0;
}

uint64_t disk_bytes(void) {
    uint64_t bytes = 0;
    for (unsigned i = 0; i < FILES; i++)
        bytes += disk->files[i].exists ? (uint64_t)disk->files[i].size : 0;
    return bytes;
}

bool disk_is_durable(const void *bytes, size_t size) {
    for (unsigned i = 0; i < FILES; i++) {
        const struct disk_file *file = &disk->files[i];
        if (file->exists && memmem(file->safe, (size_t)file->safe_size, bytes, size) != NULL)
            return true;
    }
    return false;
}

/* ---- reading, writing, syncing, and what a power cut leaves */

static void mark(struct disk_file *file, int64_t from, int64_t to) {
    for (int64_t i = from / SECTOR; i * SECTOR < to; i++)
        file->state[i] = WRITTEN;
}

static void put_bytes(struct disk_file *file, const void *bytes, int64_t size, int64_t offset) {
    if (size == 0)
        return;
    if (offset > file->size)
        mark(file, file->size, offset);
    memcpy(file->bytes + offset, bytes, (size_t)size);
    mark(file, offset, offset + size);
    if (offset + size > file->size)
        file->size = offset + size;
}

static void cut_file(struct disk_file *file, int64_t size) {
    if (size >= file->size)
        return;
    memset(file->bytes + size, 0, (size_t)(file->size - size));
    mark(file, size, file->size);
    file->size = size;
}

static void make_safe(struct disk_file *file) {
    for (int64_t i = 0; i * SECTOR < extent_of(file); i++)
        if (file->state[i] == WRITTEN) {
            memcpy(file->safe + i * SECTOR, file->bytes + i * SECTOR, SECTOR);
            file->state[i] = CLEAN;
        }
    file->safe_size = file->size;
}

static void put_in_doubt(struct disk_file *file) {
    for (int64_t i = 0; i < SECTORS; i++)
        if (file->state[i] == WRITTEN)
            file->state[i] = IN_DOUBT;
}

struct disk_image *disk_image_create(void) {
    struct disk_image *image = calloc(1, sizeof(*image));
    disk_require(image != NULL);
    return image;
}

void disk_keep(struct disk_image *image, bool (*keeps)(unsigned file, int64_t sector)) {
    for (unsigned n = 0; n < FILES; n++) {
        const struct disk_file *file = &disk->files[n];
        image->files[n].exists = file->exists;
        image->files[n].inode = file->inode;
        image->files[n].size = keeps(n, -1) ? file->size : file->safe_size;
        for (int64_t i = 0; i * SECTOR < extent_of(file); i++) {
            bool is_kept = file->state[i] != CLEAN && keeps(n, i);
            memcpy(image->files[n].bytes + i * SECTOR,
                   (is_kept ? file->bytes : file->safe) + i * SECTOR, SECTOR);
        }
    }
}

void disk_restore(const struct disk_image *image) {
    for (unsigned n = 0; n < FILES; n++) {
        struct disk_file *file = &disk->files[n];
        size_t extent = (size_t)extent_of(file), size = (size_t)image->files[n].size;
        memset(file->state, CLEAN, extent / SECTOR + 1);
        memset(file->bytes, 0, extent);
        memset(file->safe, 0, extent);
        memcpy(file->bytes, image->files[n].bytes, size);
        memcpy(file->safe, image->files[n].bytes, size);
        file->size = file->safe_size = image->files[n].size;
        file->exists = image->files[n].exists;
        file->inode = image->files[n].inode;
    }
}

/* ---- SQLite's files */

struct open_file {
    sqlite3_file base;
    struct disk_file *file;
    int error; /* of the last operation that has failed */
};

static struct open_file *open_of(sqlite3_file *base) {
    return (struct open_file *)base;
}

static enum disk_outcome begin(sqlite3_file *base, enum disk_operation operation) {
    return disk_begin(operation, open_of(base)->file == disk->files);
}

static int fail_with(sqlite3_file *base, int error, int result) {
    errno = open_of(base)->error = error;
    return result;
}

static int file_close(sqlite3_file *base) {
    (void)base;
    return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *to, int size, sqlite3_int64 offset) {
    const struct disk_file *file = open_of(base)->file;
    if (begin(base, DISK_READ) != DISK_WORKS)
        return fail_with(base, EIO, SQLITE_IOERR_READ);
    int64_t there = file->size < offset          ? 0
                    : file->size - offset < size ? file->size - offset
                                                 : size;
    memcpy(to, file->bytes + offset, (size_t)there);
    memset((char *)to + there, 0, (size_t)(size - there));
    return there == size ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *base, const void *bytes, int size, sqlite3_int64 offset) {
    enum disk_outcome outcome = begin(base, DISK_WRITE);
    if (outcome == DISK_FAILS)
        return fail_with(base, EIO, SQLITE_IOERR_WRITE);
    if (outcome == DISK_IS_FULL || offset + size > CAPACITY)
        return fail_with(base, ENOSPC, SQLITE_FULL);
    bool is_whole = outcome == DISK_WORKS || disk_draw(2) == 0;
    put_bytes(open_of(base)->file, bytes, is_whole ? size : (int64_t)disk_draw((uint64_t)size),
              offset);
    return outcome == DISK_WORKS ? SQLITE_OK : fail_with(base, EIO, SQLITE_IOERR_WRITE);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    if (begin(base, DISK_TRUNCATE) != DISK_WORKS)
        return fail_with(base, EIO, SQLITE_IOERR_TRUNCATE);
    cut_file(open_of(base)->file, size);
    return SQLITE_OK;
}

static int file_sync(sqlite3_file *base, int flags) {
    (void)flags;
    if (begin(base, DISK_SYNC) != DISK_WORKS) {
        put_in_doubt(open_of(base)->file);
        return fail_with(base, EIO, SQLITE_IOERR_FSYNC);
    }
    make_safe(open_of(base)->file);
    return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
    *size = open_of(base)->file->size;
    return SQLITE_OK;
}

/* There is nobody to lock it against. */
static int file_lock(sqlite3_file *base, int level) {
    (void)base, (void)level;
    return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *base, int *ret_is) {
    (void)base;
    *ret_is = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int operation, void *arg) {
    if (operation == SQLITE_FCNTL_LAST_ERRNO)
        *(int *)arg = open_of(base)->error;
    else if (operation == SQLITE_FCNTL_HAS_MOVED)
        *(int *)arg = 0;
    else
        return SQLITE_NOTFOUND;
    return SQLITE_OK;
}

static int file_sector_size(sqlite3_file *base) {
    (void)base;
    return SECTOR;
}

static int file_characteristics(sqlite3_file *base) {
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int file_map(sqlite3_file *base, int region, int size, int extend, void volatile **memory) {
    (void)base;
    if (region >= REGIONS)
        return SQLITE_IOERR_SHMMAP;
    if (regions[region] == NULL && extend)
        regions[region] = calloc(1, (size_t)size);
    *memory = regions[region];
    return SQLITE_OK;
}

static int file_lock_shared(sqlite3_file *base, int offset, int count, int flags) {
    (void)base, (void)offset, (void)count, (void)flags;
    return SQLITE_OK;
}

static void file_order_shared(sqlite3_file *base) {
    (void)base;
}

void disk_forget_shared(void) {
    for (int i = 0; i < REGIONS; i++) {
        free(regions[i]);
        regions[i] = NULL;
    }
}

static int file_unmap(sqlite3_file *base, int removes) {
    (void)base, (void)removes;
    disk_forget_shared();
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_map,
    .xShmLock = file_lock_shared,
    .xShmBarrier = file_order_shared,
    .xShmUnmap = file_unmap,
};

/* ---- SQLite's file system */

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags,
                    int *ret_flags) {
    struct open_file *open = open_of(base);
    (void)vfs;
    *open = (struct open_file) { .file = path == NULL ? NULL : file_of(path) };
    if (open->file == NULL || (!open->file->exists && !(flags & SQLITE_OPEN_CREATE)))
        return SQLITE_CANTOPEN;
    if (!open->file->exists)
        create(open->file);
    open->base.pMethods = &methods;
    if (ret_flags != NULL)
        *ret_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int syncs) {
    struct disk_file *file = file_of(path);
    (void)vfs, (void)syncs;
    (void)disk_begin(DISK_DELETE, false);
    if (file == NULL || !file->exists)
        return SQLITE_IOERR_DELETE_NOENT;
    file->exists = false;
    return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *ret_is) {
    const struct disk_file *file = file_of(path);
    (void)vfs;
    *ret_is = file != NULL && file->exists && (flags != SQLITE_ACCESS_EXISTS || file->size > 0);
    return SQLITE_OK;
}

static int vfs_name(sqlite3_vfs *vfs, const char *path, int size, char *ret_name) {
    (void)vfs;
    snprintf(ret_name, (size_t)size, "%s", path);
    return SQLITE_OK;
}

static int vfs_random(sqlite3_vfs *vfs, int size, char *bytes) {
    (void)vfs;
    for (int i = 0; i < size; i++)
        bytes[i] = (char)disk_draw(256);
    return size;
}

static int vfs_sleep(sqlite3_vfs *vfs, int us) {
    (void)vfs;
    stage_sleep_ns(us * HTW_MICROSECOND);
    return us;
}

static int vfs_time(sqlite3_vfs *vfs, sqlite3_int64 *ret_ms) {
    (void)vfs;
    *ret_ms = INT64_C(210866760000000) + machine_wall_ns() / HTW_MILLISECOND; /* since 4714 BC */
    return SQLITE_OK;
}

static int vfs_error(sqlite3_vfs *vfs, int size, char *text) {
    (void)vfs, (void)size, (void)text;
    return errno;
}

void disk_register(void) {
    static sqlite3_vfs vfs = {
        .iVersion = 2,
        .szOsFile = sizeof(struct open_file),
        .mxPathname = 512,
        .zName = "machine",
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_name,
        .xRandomness = vfs_random,
        .xSleep = vfs_sleep,
        .xGetLastError = vfs_error,
        .xCurrentTimeInt64 = vfs_time,
    };
    disk_require(sqlite3_vfs_register(&vfs, 1) == SQLITE_OK);
}

/* ---- what the library itself calls: of the linker's --wrap */

static int fail_as(int error) {
    errno = error;
    return -1;
}

static bool is_folder(const char *path) {
    size_t size = strlen(path);
    return strncmp(path, DISK_PATH, size) == 0 && DISK_PATH[size] == '/';
}

char *__wrap_realpath(const char *path, char *name) {
    const struct disk_file *file = file_of(path);
    if (!is_folder(path) && (file == NULL || !file->exists)) {
        errno = ENOENT;
        return NULL;
    }
    return strcpy(name, path);
}

static int get_status(const struct disk_file *file, struct stat64 *status) {
    if (file == NULL || !file->exists)
        return fail_as(ENOENT);
    *status = (struct stat64) { .st_mode = S_IFREG | 0600,
                                .st_nlink = 1,
                                .st_dev = 1,
                                .st_ino = file->inode,
                                .st_size = file->size };
    return 0;
}

int __wrap_stat64(const char *path, struct stat64 *status) {
    return get_status(file_of(path), status);
}

int __wrap_lstat64(const char *path, struct stat64 *status) {
    return get_status(file_of(path), status);
}

int __wrap_fstat64(int fd, struct stat64 *status) {
    return get_status(&disk->files[fd - FIRST_FD], status);
}

int __wrap_access(const char *path, int mode) {
    (void)path, (void)mode;
    return 0;
}

int __wrap_open64(const char *path, int flags, ...) {
    struct disk_file *file = file_of(path);
    if (file == NULL)
        return is_folder(path) ? FIRST_FD + FILES : fail_as(ENOENT);
    if (file->exists && (flags & O_EXCL))
        return fail_as(EEXIST);
    if (!file->exists && !(flags & O_CREAT))
        return fail_as(ENOENT);
    if (!file->exists)
        create(file);
    return FIRST_FD + (int)(file - disk->files);
}

int __wrap_mknod(const char *path, mode_t mode, dev_t device) {
    (void)mode, (void)device;
    struct disk_file *file = file_of(path);
    if (file == NULL || file->exists)
        return fail_as(EEXIST);
    create(file);
    return 0;
}

int __wrap_unlink(const char *path) {
    struct disk_file *file = file_of(path);
    if (file == NULL || !file->exists)
        return fail_as(ENOENT);
    file->exists = false;
    return 0;
}

/* The lock of a process ends with it. */
int __wrap_fcntl64(int fd, int operation, ...) {
    (void)fd, (void)operation;
    return 0;
}

int __wrap_fsync(int fd) {
    (void)fd;
    (void)disk_begin(DISK_SYNC_FOLDER, false);
    return 0;
}

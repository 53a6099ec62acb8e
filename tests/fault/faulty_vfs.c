/* SPDX-License-Identifier: MIT */
/* faulty_vfs.c - a disk for SQLite that fails when told to, and loses what was not synced. */
#include "faulty_vfs.h"

#include "../support/random.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR 512
#define PLANS 4

/* Of a sector: the disk has it; it was written since; a sync of it has failed. */
enum sector { SYNCED, WRITTEN, IN_DOUBT };

/* What is on the disk of a file; its content is what the kernel has. */
struct disk_file {
    struct disk_file *next;
    char path[512];
    unsigned char *bytes;   /* on the disk */
    unsigned char *sectors; /* enum sector of each */
    size_t capacity, size;  /* of the bytes; what the disk has for the size of the file */
    bool is_resized;        /* it was written or made shorter, and not synced */
};

struct open_file {
    sqlite3_file base;
    struct disk_file *disk;
    sqlite3_file *real;
    int error; /* of the last operation that has failed */
};

static sqlite3_vfs *system_vfs;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct disk_file *files;
static struct {
    enum fault fault;
    long nth, times;
} plans[PLANS];
static _Atomic long operations, accesses, failures;
static _Atomic bool has_power = true;
static bool tears;
static int loses = -1; /* an enum loss, or -1: of each file another one */
static struct random_source source;

/* ---- what is on the disk */

static size_t size_of(const struct open_file *file) {
    sqlite3_int64 size = 0;
    file->real->pMethods->xFileSize(file->real, &size);
    return (size_t)size;
}

/* Behind its end a file has zeros. */
static void make_room(struct disk_file *disk, size_t size) {
    size_t capacity = disk->capacity == 0 ? 1 << 16 : disk->capacity;
    while (capacity < size)
        capacity *= 2;
    if (capacity == disk->capacity)
        return;
    disk->bytes = realloc(disk->bytes, capacity);
    disk->sectors = realloc(disk->sectors, capacity / SECTOR);
    if (disk->bytes == NULL || disk->sectors == NULL)
        abort();
    memset(disk->bytes + disk->capacity, 0, capacity - disk->capacity);
    memset(disk->sectors + disk->capacity / SECTOR, SYNCED, (capacity - disk->capacity) / SECTOR);
    disk->capacity = capacity;
}

/* A new write of what is in doubt is no longer in doubt: the next sync covers it. */
static void note_write(struct disk_file *disk, size_t offset, size_t size) {
    make_room(disk, offset + size + SECTOR);
    for (size_t n = offset / SECTOR; n <= (offset + size - 1) / SECTOR; n++)
        disk->sectors[n] = WRITTEN;
    disk->is_resized = true;
}

static void read_sector(struct open_file *file, size_t n) {
    unsigned char *bytes = file->disk->bytes + n * SECTOR;
    int result =
        file->real->pMethods->xRead(file->real, bytes, SECTOR, (sqlite3_int64)(n * SECTOR));
    if (result != SQLITE_OK && result != SQLITE_IOERR_SHORT_READ) /* which fills up with zeros */
        abort();
    file->disk->sectors[n] = SYNCED;
}

static void make_durable(struct open_file *file) {
    struct disk_file *disk = file->disk;
    size_t size = size_of(file);
    for (size_t n = 0; n < disk->capacity / SECTOR; n++)
        if (disk->sectors[n] == WRITTEN ||
            (n * SECTOR >= size && disk->sectors[n] == SYNCED && n * SECTOR < disk->size))
            read_sector(file, n);
    disk->size = size;
    disk->is_resized = false;
}

static void put_in_doubt(struct disk_file *disk) {
    for (size_t n = 0; n < disk->capacity / SECTOR; n++)
        if (disk->sectors[n] == WRITTEN)
            disk->sectors[n] = IN_DOUBT;
}

/* ---- faults */

enum operation { ACCESS, WRITE, GROW, SYNC, OTHER };

static bool concerns(enum fault fault, enum operation operation) {
    switch (fault) {
    case FAULT_NONE:
        return false;
    case FAULT_REFUSED:
    case FAULT_POWER:
        return operation != ACCESS;
    case FAULT_ACCESS:
        return operation == ACCESS;
    case FAULT_SYNC:
    case FAULT_SYNC_FULL:
        return operation == SYNC;
    case FAULT_GROWTH:
        return operation == GROW;
    default:
        return operation == WRITE || operation == GROW;
    }
}

static int errno_of(enum fault fault) {
    switch (fault) {
    case FAULT_QUOTA:
        return EDQUOT;
    case FAULT_LIMIT:
        return EFBIG;
    case FAULT_SYNC_FULL:
        return ENOSPC;
    default:
        return EIO;
    }
}

/* Counts an operation, and says which fault it meets. */
static enum fault meet(enum operation operation) {
    long number = operation == ACCESS ? ++accesses : ++operations;
    if (!has_power && operation != ACCESS) {
        failures++;
        return FAULT_POWER;
    }
    for (int i = 0; i < PLANS; i++) {
        enum fault fault = plans[i].fault;
        if (!concerns(fault, operation) || number < plans[i].nth || plans[i].times == 0)
            continue;
        plans[i].times--;
        failures++;
        if (fault == FAULT_POWER)
            has_power = false;
        return fault;
    }
    return FAULT_NONE;
}

/* ---- methods of files */

/* Passes a call on. */
#define PASS(name, method, parameters, ...)                           \
    static int name parameters {                                      \
        struct open_file *file = (struct open_file *)base;            \
        return file->real->pMethods->method(file->real, __VA_ARGS__); \
    }

PASS(file_size, xFileSize, (sqlite3_file * base, sqlite3_int64 *size), size)
PASS(file_lock, xLock, (sqlite3_file * base, int level), level)
PASS(file_unlock, xUnlock, (sqlite3_file * base, int level), level)
PASS(file_reserved, xCheckReservedLock, (sqlite3_file * base, int *reserved), reserved)
PASS(shm_lock, xShmLock, (sqlite3_file * base, int offset, int count, int flags), offset, count,
     flags)
PASS(shm_unmap, xShmUnmap, (sqlite3_file * base, int remove), remove)

static void shm_barrier(sqlite3_file *base) {
    struct open_file *file = (struct open_file *)base;
    file->real->pMethods->xShmBarrier(file->real);
}

static bool access_fails(void) {
    pthread_mutex_lock(&mutex);
    bool fails = meet(ACCESS) != FAULT_NONE;
    pthread_mutex_unlock(&mutex);
    if (fails)
        errno = EIO;
    return fails;
}

static int file_read(sqlite3_file *base, void *bytes, int size, sqlite3_int64 offset) {
    struct open_file *file = (struct open_file *)base;
    return access_fails() ? SQLITE_IOERR_READ
                          : file->real->pMethods->xRead(file->real, bytes, size, offset);
}

static int shm_map(sqlite3_file *base, int page, int size, int extend, void volatile **memory) {
    struct open_file *file = (struct open_file *)base;
    return access_fails() ? SQLITE_IOERR_SHMMAP
                          : file->real->pMethods->xShmMap(file->real, page, size, extend, memory);
}

static int file_close(sqlite3_file *base) {
    struct open_file *file = (struct open_file *)base;
    int result = file->real->pMethods->xClose(file->real);
    free(file->real);
    return result;
}

static int file_write(sqlite3_file *base, const void *bytes, int size, sqlite3_int64 offset) {
    struct open_file *file = (struct open_file *)base;
    pthread_mutex_lock(&mutex);
    enum fault fault = meet((size_t)(offset + size) > size_of(file) ? GROW : WRITE);
    bool is_full = fault == FAULT_FULL || fault == FAULT_GROWTH;
    int part = fault == FAULT_NONE ? size : 0;
    if (fault == FAULT_TORN || fault == FAULT_FULL)
        part = (int)random_below(&source, (unsigned)size);
    if (fault == FAULT_LATE || (fault == FAULT_TORN && random_one_in(&source, 3)))
        part = size;
    if (part > 0) {
        note_write(file->disk, (size_t)offset, (size_t)part);
        file->real->pMethods->xWrite(file->real, bytes, part, offset);
    }
    pthread_mutex_unlock(&mutex);
    if (fault == FAULT_NONE)
        return SQLITE_OK;
    errno = file->error = errno_of(fault); /* SQLite keeps it */
    return is_full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    struct open_file *file = (struct open_file *)base;
    int result = SQLITE_IOERR_TRUNCATE;
    pthread_mutex_lock(&mutex);
    if (meet(OTHER) == FAULT_NONE) {
        file->disk->is_resized = true;
        result = file->real->pMethods->xTruncate(file->real, size);
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

static int file_sync(sqlite3_file *base, int flags) {
    struct open_file *file = (struct open_file *)base;
    (void)flags;
    pthread_mutex_lock(&mutex);
    enum fault fault = meet(SYNC);
    if (fault == FAULT_NONE)
        make_durable(file);
    else
        put_in_doubt(file->disk);
    pthread_mutex_unlock(&mutex);
    if (fault == FAULT_NONE)
        return SQLITE_OK;
    errno = file->error = errno_of(fault);
    return SQLITE_IOERR_FSYNC;
}

static int file_control(sqlite3_file *base, int operation, void *arg) {
    struct open_file *file = (struct open_file *)base;
    if (operation == SQLITE_FCNTL_SIZE_HINT)
        return SQLITE_NOTFOUND; /* it would write past the faults */
    if (operation == SQLITE_FCNTL_LAST_ERRNO) {
        *(int *)arg = file->error;
        return SQLITE_OK;
    }
    return file->real->pMethods->xFileControl(file->real, operation, arg);
}

static int file_sector(sqlite3_file *base) {
    (void)base;
    return SECTOR;
}

static int file_device(sqlite3_file *base) {
    (void)base;
    return tears ? 0 : SQLITE_IOCAP_POWERSAFE_OVERWRITE;
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
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_device,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

/* ---- methods of the VFS: the other ones are those of the system */

static struct disk_file *disk_of(const char *path) {
    struct disk_file *disk = files;
    while (disk != NULL && strcmp(disk->path, path) != 0)
        disk = disk->next;
    if (disk == NULL) {
        disk = calloc(1, sizeof(*disk));
        if (disk == NULL)
            abort();
        snprintf(disk->path, sizeof(disk->path), "%s", path);
        disk->next = files;
        files = disk;
    }
    return disk;
}

static void forget(struct disk_file *disk) {
    free(disk->bytes);
    free(disk->sectors);
    disk->bytes = disk->sectors = NULL;
    disk->capacity = disk->size = 0;
    disk->is_resized = false;
}

/* What is there is on the disk, unless it was written here. */
static void take_over(struct open_file *file) {
    size_t size = size_of(file);
    if (file->disk->capacity > 0)
        return;
    make_room(file->disk, size);
    for (size_t n = 0; n * SECTOR < size; n++)
        read_sector(file, n);
    file->disk->size = size;
}

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags,
                    int *ret_flags) {
    (void)vfs;
    struct open_file *file = (struct open_file *)base;
    memset(file, 0, sizeof(*file));
    file->real = calloc(1, (size_t)system_vfs->szOsFile);
    if (file->real == NULL)
        return SQLITE_NOMEM;
    int result = has_power && !access_fails()
                     ? system_vfs->xOpen(system_vfs, path, file->real, flags, ret_flags)
                     : SQLITE_CANTOPEN;
    if (result != SQLITE_OK) {
        free(file->real);
        return result;
    }
    pthread_mutex_lock(&mutex);
    file->disk = disk_of(path == NULL ? "" : path);
    take_over(file);
    pthread_mutex_unlock(&mutex);
    file->base.pMethods = &methods;
    return SQLITE_OK;
}

/* A file that was deleted does not come back. */
static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync) {
    (void)vfs;
    pthread_mutex_lock(&mutex);
    bool refused = meet(OTHER) != FAULT_NONE;
    if (!refused)
        forget(disk_of(path));
    pthread_mutex_unlock(&mutex);
    return refused ? SQLITE_IOERR_DELETE : system_vfs->xDelete(system_vfs, path, sync);
}

void faulty_vfs_register(void) {
    static sqlite3_vfs vfs;
    sqlite3_initialize();
    system_vfs = sqlite3_vfs_find(NULL);
    vfs = *system_vfs;
    vfs.pNext = NULL;
    vfs.zName = "faulty";
    vfs.szOsFile = sizeof(struct open_file);
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    sqlite3_vfs_register(&vfs, 1);
}

void faulty_vfs_reset(uint64_t seed) {
    while (files != NULL) {
        struct disk_file *next = files->next;
        forget(files);
        free(files);
        files = next;
    }
    memset(plans, 0, sizeof(plans));
    operations = failures = 0;
    has_power = true;
    tears = false;
    loses = -1;
    source.state = seed;
}

void faulty_vfs_plan(enum fault fault, long nth, long times) {
    pthread_mutex_lock(&mutex);
    int i = 0;
    while (plans[i].fault != FAULT_NONE)
        if (++i == PLANS)
            abort();
    plans[i].nth = nth;
    plans[i].times = times;
    plans[i].fault = fault;
    if (fault == FAULT_ACCESS)
        accesses = operations;
    pthread_mutex_unlock(&mutex);
}

void faulty_vfs_relent(void) {
    pthread_mutex_lock(&mutex);
    memset(plans, 0, sizeof(plans));
    pthread_mutex_unlock(&mutex);
}

long faulty_vfs_operations(void) {
    return operations;
}

bool faulty_vfs_has_power(void) {
    return has_power;
}

long faulty_vfs_failures(void) {
    return failures;
}

void faulty_vfs_tear(void) {
    tears = true;
}

void faulty_vfs_power_off(void) {
    has_power = false;
}

/* The size is that of the disk, or the new one. What was cut off comes back only with the size before. */
static void settle_file(struct disk_file *disk) {
    char shm[600];
    struct stat status;
    snprintf(shm, sizeof(shm), "%s-shm", disk->path);
    unlink(shm);
    int fd = open(disk->path, O_RDWR);
    if (fd < 0)
        return;
    enum loss loss = loses < 0 ? (enum loss)random_below(&source, LOSSES) : (enum loss)loses;
    if (fstat(fd, &status) != 0)
        abort();
    size_t new_size = (size_t)status.st_size, size = new_size;
    if (disk->is_resized && loss != LOSE_NOTHING && random_one_in(&source, 2))
        size = disk->size;
    size_t front = random_below(&source, size / SECTOR + 1);
    for (size_t n = 0; n * SECTOR < size && n < disk->capacity / SECTOR; n++) {
        bool is_kept = loss == LOSE_NOTHING || (loss == LOSE_SOME && random_one_in(&source, 2)) ||
                       (loss == LOSE_FRONT && n >= front);
        bool is_cut_off = n * SECTOR >= new_size && disk->sectors[n] == SYNCED;
        if ((disk->sectors[n] != SYNCED && !is_kept) || is_cut_off)
            if (pwrite(fd, disk->bytes + n * SECTOR, SECTOR, (off_t)(n * SECTOR)) != SECTOR)
                abort();
    }
    if (ftruncate(fd, (off_t)size) != 0)
        abort();
    close(fd);
}

void faulty_vfs_lose(enum loss loss) {
    loses = (int)loss;
}

/* Each sector that was not synced holds what it held before, or what was written; so does the size. */
void faulty_vfs_cut(void) {
    for (struct disk_file *disk = files; disk != NULL; disk = disk->next)
        settle_file(disk);
    faulty_vfs_reset(source.state);
}

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

/* What a sector held before it was written and not synced. */
struct before {
    struct before *next;
    sqlite3_int64 number;
    bool in_doubt;     /* a sync of it has failed */
    bool is_cut_off;   /* the file was truncated before it */
    bool is_rewritten; /* and written there again */
    unsigned char bytes[SECTOR];
};

struct disk_file {
    struct disk_file *next;
    char path[512];
    struct before *sectors[1024]; /* by number, a hash table */
    sqlite3_int64 synced_size;
    bool has_lost_size; /* its size was changed, and not synced */
    bool is_truncated;  /* it was made shorter, and not synced */
};

struct open_file {
    sqlite3_file base;
    struct disk_file *disk; /* NULL: of no interest (-shm) */
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
static long operations, failures;
static bool has_power = true;
static int loses = -1; /* an enum loss, or -1: of each file another one */
static struct random_source source;

/* ---- what was there before */

static void forget(struct before **place) {
    struct before *sector = *place;
    *place = sector->next;
    free(sector);
}

static struct before **find(struct disk_file *disk, sqlite3_int64 number) {
    struct before **place = &disk->sectors[number % 1024];
    while (*place != NULL && (*place)->number != number)
        place = &(*place)->next;
    return place;
}

static void keep(struct open_file *file, sqlite3_int64 offset, sqlite3_int64 size,
                 bool is_cut_off) {
    for (sqlite3_int64 n = offset / SECTOR; n <= (offset + size - 1) / SECTOR; n++) {
        struct before **place = find(file->disk, n);
        if (*place != NULL) {
            (*place)->in_doubt = false; /* written again, so the next sync covers it */
            (*place)->is_rewritten = !is_cut_off;
            continue;
        }
        struct before *sector = calloc(1, sizeof(*sector));
        if (sector == NULL)
            abort();
        sector->number = n;
        sector->is_cut_off = is_cut_off;
        /* Behind the end it is zero. */
        int result = file->real->pMethods->xRead(file->real, sector->bytes, SECTOR, n * SECTOR);
        if (result != SQLITE_OK && result != SQLITE_IOERR_SHORT_READ)
            abort();
        *place = sector;
    }
}

static void make_durable(struct open_file *file) {
    for (size_t i = 0; i < 1024; i++)
        for (struct before **place = &file->disk->sectors[i]; *place != NULL;)
            if ((*place)->in_doubt)
                place = &(*place)->next;
            else
                forget(place);
    file->real->pMethods->xFileSize(file->real, &file->disk->synced_size);
    file->disk->has_lost_size = false;
    file->disk->is_truncated = false;
}

static void put_in_doubt(struct disk_file *disk) {
    for (size_t i = 0; i < 1024; i++)
        for (struct before *sector = disk->sectors[i]; sector != NULL; sector = sector->next)
            sector->in_doubt = true;
}

/* ---- faults */

enum operation { WRITE, GROW, SYNC, OTHER };

static bool concerns(enum fault fault, enum operation operation) {
    switch (fault) {
    case FAULT_NONE:
        return false;
    case FAULT_REFUSED:
    case FAULT_POWER:
        return true;
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
    operations++;
    if (!has_power) {
        failures++;
        return FAULT_POWER;
    }
    for (int i = 0; i < PLANS; i++) {
        enum fault fault = plans[i].fault;
        if (!concerns(fault, operation) || operations < plans[i].nth || plans[i].times == 0)
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

static int file_close(sqlite3_file *base) {
    struct open_file *file = (struct open_file *)base;
    int result = file->real->pMethods->xClose(file->real);
    free(file->real);
    return result;
}

static int file_read(sqlite3_file *base, void *bytes, int size, sqlite3_int64 offset) {
    struct open_file *file = (struct open_file *)base;
    return file->real->pMethods->xRead(file->real, bytes, size, offset);
}

static int file_write(sqlite3_file *base, const void *bytes, int size, sqlite3_int64 offset) {
    struct open_file *file = (struct open_file *)base;
    sqlite3_int64 end = 0;
    pthread_mutex_lock(&mutex);
    file->real->pMethods->xFileSize(file->real, &end);
    enum fault fault = meet(offset + size > end ? GROW : WRITE);
    bool is_full = fault == FAULT_FULL || fault == FAULT_GROWTH;
    int part = fault == FAULT_NONE ? size : 0;
    if (fault == FAULT_TORN || fault == FAULT_FULL)
        part = (int)random_below(&source, (unsigned)size);
    if (fault == FAULT_LATE || (fault == FAULT_TORN && random_one_in(&source, 3)))
        part = size;
    if (part > 0) {
        keep(file, offset, part, false);
        file->disk->has_lost_size = true;
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
    sqlite3_int64 before;
    int result = SQLITE_IOERR_TRUNCATE;
    pthread_mutex_lock(&mutex);
    if (meet(OTHER) == FAULT_NONE) {
        file->real->pMethods->xFileSize(file->real, &before);
        if (before > size)
            keep(file, size, before - size, true);
        file->disk->has_lost_size = true;
        file->disk->is_truncated = file->disk->is_truncated || before > size;
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

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
    struct open_file *file = (struct open_file *)base;
    return file->real->pMethods->xFileSize(file->real, size);
}

static int file_lock(sqlite3_file *base, int level) {
    struct open_file *file = (struct open_file *)base;
    return file->real->pMethods->xLock(file->real, level);
}

static int file_unlock(sqlite3_file *base, int level) {
    struct open_file *file = (struct open_file *)base;
    return file->real->pMethods->xUnlock(file->real, level);
}

static int file_reserved(sqlite3_file *base, int *reserved) {
    struct open_file *file = (struct open_file *)base;
    return file->real->pMethods->xCheckReservedLock(file->real, reserved);
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
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int shm_map(sqlite3_file *base, int page, int size, int extend, void volatile **memory) {
    struct open_file *file = (struct open_file *)base;
    return file->real->pMethods->xShmMap(file->real, page, size, extend, memory);
}

static int shm_lock(sqlite3_file *base, int offset, int count, int flags) {
    struct open_file *file = (struct open_file *)base;
    return file->real->pMethods->xShmLock(file->real, offset, count, flags);
}

static void shm_barrier(sqlite3_file *base) {
    struct open_file *file = (struct open_file *)base;
    file->real->pMethods->xShmBarrier(file->real);
}

static int shm_unmap(sqlite3_file *base, int remove) {
    struct open_file *file = (struct open_file *)base;
    return file->real->pMethods->xShmUnmap(file->real, remove);
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
    for (struct disk_file *disk = files; disk != NULL; disk = disk->next)
        if (strcmp(disk->path, path) == 0)
            return disk;
    struct disk_file *disk = calloc(1, sizeof(*disk));
    if (disk == NULL)
        abort();
    snprintf(disk->path, sizeof(disk->path), "%s", path);
    disk->next = files;
    files = disk;
    return disk;
}

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags,
                    int *ret_flags) {
    (void)vfs;
    struct open_file *file = (struct open_file *)base;
    memset(file, 0, sizeof(*file));
    file->real = calloc(1, (size_t)system_vfs->szOsFile);
    if (file->real == NULL)
        return SQLITE_NOMEM;
    int result = has_power ? system_vfs->xOpen(system_vfs, path, file->real, flags, ret_flags)
                           : SQLITE_CANTOPEN;
    if (result != SQLITE_OK) {
        free(file->real);
        return result;
    }
    pthread_mutex_lock(&mutex);
    file->disk = disk_of(path == NULL ? "" : path);
    if (!file->disk->has_lost_size)
        file->real->pMethods->xFileSize(file->real, &file->disk->synced_size);
    pthread_mutex_unlock(&mutex);
    file->base.pMethods = &methods;
    return SQLITE_OK;
}

/* A file that was deleted does not come back. */
static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync) {
    (void)vfs;
    pthread_mutex_lock(&mutex);
    bool refused = meet(OTHER) != FAULT_NONE;
    if (!refused) {
        struct disk_file *disk = disk_of(path);
        for (size_t i = 0; i < 1024; i++)
            while (disk->sectors[i] != NULL)
                forget(&disk->sectors[i]);
        disk->synced_size = 0;
        disk->has_lost_size = false;
        disk->is_truncated = false;
    }
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
        for (size_t i = 0; i < 1024; i++)
            while (files->sectors[i] != NULL)
                forget(&files->sectors[i]);
        free(files);
        files = next;
    }
    memset(plans, 0, sizeof(plans));
    operations = failures = 0;
    has_power = true;
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
    pthread_mutex_unlock(&mutex);
}

void faulty_vfs_relent(void) {
    pthread_mutex_lock(&mutex);
    memset(plans, 0, sizeof(plans));
    pthread_mutex_unlock(&mutex);
}

long faulty_vfs_operations(void) {
    pthread_mutex_lock(&mutex);
    long count = operations;
    pthread_mutex_unlock(&mutex);
    return count;
}

bool faulty_vfs_has_power(void) {
    pthread_mutex_lock(&mutex);
    bool result = has_power;
    pthread_mutex_unlock(&mutex);
    return result;
}

long faulty_vfs_failures(void) {
    pthread_mutex_lock(&mutex);
    long count = failures;
    pthread_mutex_unlock(&mutex);
    return count;
}

void faulty_vfs_power_off(void) {
    pthread_mutex_lock(&mutex);
    has_power = false;
    pthread_mutex_unlock(&mutex);
}

/* What a sector holds after the cut. A truncation has been made or not, as a whole. */
static void settle_sector(int fd, const struct before *sector, bool undoes_truncation,
                          enum loss loss) {
    static const unsigned char zeros[SECTOR];
    const unsigned char *bytes = sector->bytes;
    if (sector->is_cut_off && !sector->is_rewritten && !undoes_truncation)
        return;
    bool is_kept = loss == LOSE_NOTHING || (loss == LOSE_SOME && random_one_in(&source, 2));
    if (!(sector->is_cut_off && !sector->is_rewritten) && is_kept)
        return; /* as it was written */
    if (sector->is_cut_off && !undoes_truncation)
        bytes = zeros;
    if (pwrite(fd, bytes, SECTOR, sector->number * SECTOR) != SECTOR)
        abort();
}

static void settle_file(struct disk_file *disk) {
    char shm[600];
    snprintf(shm, sizeof(shm), "%s-shm", disk->path);
    unlink(shm);
    int fd = open(disk->path, O_RDWR);
    if (fd < 0)
        return;
    enum loss loss = loses < 0 ? (enum loss)random_below(&source, 3) : (enum loss)loses;
    bool undoes_truncation = disk->is_truncated && random_one_in(&source, 2);
    for (size_t i = 0; i < 1024; i++)
        for (struct before *sector = disk->sectors[i]; sector != NULL; sector = sector->next)
            settle_sector(fd, sector, undoes_truncation, loss);
    bool restores_size = disk->has_lost_size && disk->is_truncated == undoes_truncation;
    if (restores_size && loss != LOSE_NOTHING && random_one_in(&source, 2) &&
        ftruncate(fd, disk->synced_size) != 0)
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

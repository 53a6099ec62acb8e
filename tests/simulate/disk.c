/* SPDX-License-Identifier: MIT */
/* disk.c - files, their faults, and what a power cut leaves of them. */
#include "disk.h"

#include "../explore/machine.h"
#include "../support/lone_file.h"
#include "threads.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 4, SECTOR = LONE_FILE_SECTOR, CAPACITY = 8 << 20, SECTORS = CAPACITY / SECTOR };
#define FIRST_FD 1000 /* of the files; the folder comes after them */
#define WRITE_NS (20 * HTW_MICROSECOND)
#define SYNC_NS (2 * HTW_MILLISECOND)
#define STALL_NS HTW_SECOND
#define SYNCS_TO_STALL 300u
#define ILL_EVERY_NS (8 * HTW_SECOND)

enum { CLEAN, WRITTEN, IN_DOUBT };

struct disk_file {
    bool exists;
    uint64_t inode;
    int64_t size, safe_size;
    uint8_t state[SECTORS];
    uint8_t bytes[CAPACITY], safe[CAPACITY];
};

static const char *const names[FILES] = { DISK_PATH, DISK_PATH "-wal", DISK_PATH "-lock",
                                          DISK_PATH "-journal" };

/* In the world: shared by all lives. */
static struct {
    struct disk_file files[FILES];
    uint64_t next_inode;
} * disk;

void disk_init(void) {
    disk = mmap(NULL, sizeof(*disk), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (disk == MAP_FAILED) {
        perror("simulate: mmap");
        exit(1);
    }
}

/* NULL: it has no place on the disk. */
static struct disk_file *file_of(const char *path) {
    for (unsigned i = 0; i < FILES; i++)
        if (strcmp(path, names[i]) == 0)
            return &disk->files[i];
    return NULL;
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

/* ---- faults */

enum fault {
    FAULT_NONE,
    FAULT_WRITE,     /* a write fails */
    FAULT_TORN,      /* a write fails after a part, or after all of it */
    FAULT_FULL,      /* a write fails: the disk is full */
    FAULT_READ,      /* a read fails */
    FAULT_SYNC,      /* a sync fails */
    FAULT_SYNC_FILE, /* a sync of the database fails, not one of its log */
    FAULT_KINDS
};

static struct {
    bool are_on;
    int64_t from_ns;
    enum fault fault;
    unsigned passed,
        left; /* of the operations that it concerns: so many succeed first, and so many fail then */
} ill;

static void plan_illness(void) {
    ill.from_ns = machine_now_ns() + chance_ns(ILL_EVERY_NS);
    ill.fault = (enum fault)(1 + chance_below(FAULT_KINDS - 1));
    ill.passed = ill.fault == FAULT_SYNC_FILE ? 0 : (unsigned)chance_below(8);
    ill.left = 1 + (unsigned)chance_below(ill.fault == FAULT_FULL ? 40 : 3);
}

void disk_set_faults(bool are_on) {
    ill.are_on = are_on;
    plan_illness();
}

static int64_t full_ns = -1; /* when it was last */

bool disk_was_full_since(int64_t from_ns) {
    return full_ns >= from_ns;
}

/* Whether an operation that this fault concerns fails. */
static bool meets(enum fault fault) {
    if (!ill.are_on || machine_now_ns() < ill.from_ns || ill.fault != fault)
        return false;
    if (ill.passed > 0) {
        ill.passed--;
        return false;
    }
    if (--ill.left == 0)
        plan_illness();
    if (machine_now_ns() > failed_until_ns)
        failed_until_ns = machine_now_ns();
    if (fault == FAULT_FULL)
        full_ns = machine_now_ns();
    stage_note("disk fault", fault, 0);
    if (chance_one_in(2))
        threads_crash_soon();
    return true;
}

/* An operation takes some time, and the program may crash before and after it. */
static void take_time(int64_t mean_ns) {
    threads_interrupt();
    if (chance_one_in(2))
        stage_sleep_ns(chance_ns(mean_ns) / 4);
}

/* A disk that much else is written to. */
static void stall(void) {
    int64_t delay_ns = chance_ns(STALL_NS);
    stage_note("disk stalls", 0, delay_ns);
    if (machine_now_ns() + delay_ns > failed_until_ns)
        failed_until_ns = machine_now_ns() + delay_ns;
    stage_sleep_ns(delay_ns);
}

/* ---- reading and writing */

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
    int64_t most = file->size > file->safe_size ? file->size : file->safe_size;
    for (int64_t i = 0; i * SECTOR < most; i++)
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

static void cut_power(struct disk_file *file) {
    unsigned keeps = (unsigned)chance_below(3); /* all, nothing, or some of what was not synced */
    int64_t most = file->size > file->safe_size ? file->size : file->safe_size;
    for (int64_t i = 0; i * SECTOR < most; i++) {
        bool is_kept = keeps == 0 || (keeps == 2 && chance_one_in(2));
        if (file->state[i] != CLEAN && is_kept)
            memcpy(file->safe + i * SECTOR, file->bytes + i * SECTOR, SECTOR);
        if (file->state[i] != CLEAN)
            memcpy(file->bytes + i * SECTOR, file->safe + i * SECTOR, SECTOR);
        file->state[i] = CLEAN;
    }
    if (keeps == 1 || (keeps == 2 && chance_one_in(2)))
        file->size = file->safe_size;
    file->safe_size = file->size;
}

void disk_cut(void) {
    for (unsigned i = 0; i < FILES; i++)
        if (disk->files[i].exists)
            cut_power(&disk->files[i]);
}

/* ---- SQLite's files */

struct open_file {
    sqlite3_file base;
    struct disk_file *file;
    int error; /* of the last operation that has failed */
};

static int fail_with(struct open_file *open, int error, int result) {
    errno = open->error = error;
    return result;
}

static int file_read(sqlite3_file *base, void *bytes, int size, sqlite3_int64 offset) {
    struct open_file *open = (struct open_file *)base;
    if (meets(FAULT_READ))
        return fail_with(open, EIO, SQLITE_IOERR_READ);
    return lone_file_read(open->file->bytes, open->file->size, bytes, size, offset);
}

static int file_write(sqlite3_file *base, const void *bytes, int size, sqlite3_int64 offset) {
    struct open_file *open = (struct open_file *)base;
    take_time(WRITE_NS);
    if (meets(FAULT_WRITE))
        return fail_with(open, EIO, SQLITE_IOERR_WRITE);
    if (meets(FAULT_FULL) || offset + size > CAPACITY)
        return fail_with(open, ENOSPC, SQLITE_FULL);
    if (meets(FAULT_TORN)) {
        put_bytes(open->file, bytes,
                  chance_one_in(2) ? size : (int64_t)chance_below((unsigned)size), offset);
        return fail_with(open, EIO, SQLITE_IOERR_WRITE);
    }
    put_bytes(open->file, bytes, size, offset);
    return SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    struct open_file *open = (struct open_file *)base;
    take_time(WRITE_NS);
    if (meets(FAULT_WRITE))
        return fail_with(open, EIO, SQLITE_IOERR_TRUNCATE);
    cut_file(open->file, size);
    return SQLITE_OK;
}

static int file_sync(sqlite3_file *base, int flags) {
    struct open_file *open = (struct open_file *)base;
    (void)flags;
    take_time(SYNC_NS);
    if (ill.are_on && chance_one_in(SYNCS_TO_STALL))
        stall();
    if (meets(FAULT_SYNC) || (open->file == disk->files && meets(FAULT_SYNC_FILE))) {
        put_in_doubt(open->file);
        return fail_with(open, EIO, SQLITE_IOERR_FSYNC);
    }
    make_safe(open->file);
    threads_interrupt();
    return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
    *size = ((struct open_file *)base)->file->size;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int operation, void *arg) {
    if (operation == SQLITE_FCNTL_LAST_ERRNO)
        *(int *)arg = ((struct open_file *)base)->error;
    else if (operation == SQLITE_FCNTL_HAS_MOVED)
        *(int *)arg = 0;
    else
        return SQLITE_NOTFOUND;
    return SQLITE_OK;
}

static const sqlite3_io_methods methods =
    LONE_FILE_METHODS(file_read, file_write, file_truncate, file_sync, file_size, file_control);

/* ---- SQLite's file system */

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags,
                    int *ret_flags) {
    struct open_file *open = (struct open_file *)base;
    (void)vfs;
    open->base.pMethods = NULL;
    open->file = path == NULL ? NULL : file_of(path);
    if (open->file == NULL || (!open->file->exists && !(flags & SQLITE_OPEN_CREATE)))
        return SQLITE_CANTOPEN;
    if (!open->file->exists)
        create(open->file);
    open->error = 0;
    open->base.pMethods = &methods;
    if (ret_flags != NULL)
        *ret_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int syncs) {
    struct disk_file *file = file_of(path);
    (void)vfs, (void)syncs;
    take_time(WRITE_NS);
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

static int vfs_random(sqlite3_vfs *vfs, int size, char *bytes) {
    (void)vfs;
    for (int i = 0; i < size; i++)
        bytes[i] = (char)chance_below(256);
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

/* ---- SQLite's memory */

static sqlite3_mem_methods system_memory;

static void *sqlite_allocate(int size) {
    return memory_fails() ? NULL : system_memory.xMalloc(size);
}

static void *sqlite_enlarge(void *memory, int size) {
    return memory_fails() ? NULL : system_memory.xRealloc(memory, size);
}

void disk_begin(void) {
    static sqlite3_vfs vfs = {
        .iVersion = 2,
        .szOsFile = sizeof(struct open_file),
        .mxPathname = 512,
        .zName = "simulated",
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = lone_file_name,
        .xRandomness = vfs_random,
        .xSleep = vfs_sleep,
        .xGetLastError = vfs_error,
        .xCurrentTimeInt64 = vfs_time,
    };
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory);
    sqlite3_mem_methods memory = system_memory;
    memory.xMalloc = sqlite_allocate;
    memory.xRealloc = sqlite_enlarge;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
    if (sqlite3_vfs_register(&vfs, 1) != SQLITE_OK)
        machine_fail("SQLite does not take the disk");
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

char *__wrap_realpath(const char *path, char *name);
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

int __wrap_stat64(const char *path, struct stat64 *status);
int __wrap_stat64(const char *path, struct stat64 *status) {
    return get_status(file_of(path), status);
}

int __wrap_lstat64(const char *path, struct stat64 *status);
int __wrap_lstat64(const char *path, struct stat64 *status) {
    return get_status(file_of(path), status);
}

int __wrap_fstat64(int fd, struct stat64 *status);
int __wrap_fstat64(int fd, struct stat64 *status) {
    return get_status(&disk->files[fd - FIRST_FD], status);
}

int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode) {
    (void)path, (void)mode;
    return 0;
}

int __wrap_open64(const char *path, int flags, ...);
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

int __wrap_mknod(const char *path, mode_t mode, dev_t device);
int __wrap_mknod(const char *path, mode_t mode, dev_t device) {
    (void)mode, (void)device;
    struct disk_file *file = file_of(path);
    if (file == NULL || file->exists)
        return fail_as(EEXIST);
    create(file);
    return 0;
}

int __wrap_unlink(const char *path);
int __wrap_unlink(const char *path) {
    struct disk_file *file = file_of(path);
    if (file == NULL || !file->exists)
        return fail_as(ENOENT);
    file->exists = false;
    return 0;
}

/* The lock of a process ends with it. */
int __wrap_fcntl64(int fd, int operation, ...);
int __wrap_fcntl64(int fd, int operation, ...) {
    (void)fd, (void)operation;
    return 0;
}

int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
    (void)fd;
    take_time(SYNC_NS);
    return 0;
}

/* Of the explorer's seam (meson.build): timers. */
int seam_close(int fd);

int __wrap_close(int fd);
int __wrap_close(int fd) {
    return fd >= FIRST_FD ? 0 : seam_close(fd);
}

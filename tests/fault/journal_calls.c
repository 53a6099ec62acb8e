/* SPDX-License-Identifier: MIT */
/* journal_calls.c - system calls of a journal, and of SQLite below it, that fail when told to. */
#include "journal_calls.h"

#include "../support/failing_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a call that fails returns. mmap() returns MAP_FAILED: below. */
#define FAILURE(type) _Generic((type)0, int : -1, ssize_t : -1, char * : NULL)

/* Those of SQLite, by the names that it gives them: return type, name, parameters, arguments. */
#define OF_SQLITE(CALL)                                                                         \
    CALL(int, open, (const char *path, int flags, int mode), (path, flags, mode))               \
    CALL(int, access, (const char *path, int mode), (path, mode))                               \
    CALL(int, stat, (const char *path, struct stat *status), (path, status))                    \
    CALL(int, fstat, (int fd, struct stat *status), (fd, status))                               \
    CALL(int, lstat, (const char *path, struct stat *status), (path, status))                   \
    CALL(int, ftruncate, (int fd, off_t size), (fd, size))                                      \
    CALL(int, fcntl, (int fd, int command, void *arg), (fd, command, arg))                      \
    CALL(ssize_t, read, (int fd, void *bytes, size_t size), (fd, bytes, size))                  \
    CALL(ssize_t, pread, (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at))   \
    CALL(ssize_t, pread64, (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at)) \
    CALL(ssize_t, write, (int fd, const void *bytes, size_t size), (fd, bytes, size))           \
    CALL(ssize_t, pwrite, (int fd, const void *bytes, size_t size, off_t at),                   \
         (fd, bytes, size, at))                                                                 \
    CALL(ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off_t at),                 \
         (fd, bytes, size, at))                                                                 \
    CALL(int, fchmod, (int fd, mode_t mode), (fd, mode))                                        \
    CALL(int, unlink, (const char *path), (path))                                               \
    CALL(ssize_t, readlink, (const char *path, char *target, size_t size), (path, target, size))

/* Those of the library, by the names that the C library has for files of any size. */
#define OF_LIBRARY(CALL)                                                                  \
    CALL(int, access, (const char *path, int mode), (path, mode))                         \
    CALL(char *, realpath, (const char *path, char *resolved), (path, resolved))          \
    CALL(int, lstat64, (const char *path, struct stat *status), (path, status))           \
    CALL(int, stat64, (const char *path, struct stat *status), (path, status))            \
    CALL(int, fstat64, (int fd, struct stat *status), (fd, status))                       \
    CALL(int, mknod, (const char *path, mode_t mode, dev_t device), (path, mode, device)) \
    CALL(int, fsync, (int fd), (fd))

enum call {
#define NAME(type, name, parameters, arguments) SQLITE_##name,
    OF_SQLITE(NAME)
#undef NAME
#define NAME(type, name, parameters, arguments) LIBRARY_##name,
        OF_LIBRARY(NAME)
#undef NAME
    /* These do more than to pass the call on. */
    SQLITE_mmap,
    SQLITE_close,
    LIBRARY_close,
    LIBRARY_fcntl64,
    LIBRARY_open64,
    COUNT
};

static const char *const names[COUNT] = {
#define NAME(type, name, parameters, arguments) [SQLITE_##name] = #name " of SQLite",
    OF_SQLITE(NAME)
#undef NAME
#define NAME(type, name, parameters, arguments) [LIBRARY_##name] = #name,
        OF_LIBRARY(NAME)
#undef NAME
            [SQLITE_mmap] = "mmap of SQLite",
    [SQLITE_close] = "close of SQLite",
    [LIBRARY_close] = "close",
    [LIBRARY_fcntl64] = "fcntl64",
    [LIBRARY_open64] = "open64",
};

/* ---- those of SQLite */

#define REPLACE(type, name, parameters, arguments)                                  \
    static type(*real_##name) parameters;                                           \
    static type own_##name parameters {                                             \
        return failing_call(SQLITE_##name) ? FAILURE(type) : real_##name arguments; \
    }
OF_SQLITE(REPLACE)

static int (*real_close)(int fd);
static int own_close(int fd) {
    bool is_failing = failing_call(SQLITE_close);
    int error = errno, result = real_close(fd); /* it is closed all the same, as on Linux */
    errno = is_failing ? error : errno;
    return is_failing ? -1 : result;
}

static void *(*real_mmap)(void *at, size_t size, int protection, int flags, int fd, off_t offset);
static void *own_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    return failing_call(SQLITE_mmap) ? MAP_FAILED
                                     : real_mmap(at, size, protection, flags, fd, offset);
}

static sqlite3_syscall_ptr replace(const char *name, sqlite3_syscall_ptr own) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    sqlite3_syscall_ptr real = vfs->xGetSystemCall(vfs, name);
    if (real != NULL && vfs->xSetSystemCall(vfs, name, own) != SQLITE_OK)
        abort();
    return real;
}

/* Where a lock is refused it waits, up to ten seconds. */
static int sleep_not(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return microseconds;
}

void journal_calls_init(void) {
    sqlite3_initialize();
    sqlite3_vfs_find(NULL)->xSleep = sleep_not;
#define SET(type, name, parameters, arguments) \
    real_##name =                              \
        (type(*) parameters)(void (*)(void))replace(#name, (sqlite3_syscall_ptr)own_##name);
    OF_SQLITE(SET)
    SET(int, close, (int fd), (fd))
    SET(void *, mmap, (void *at, size_t size, int protection, int flags, int fd, off_t offset), )
}

/* ---- those of the library */

#define WRAP(type, name, parameters, arguments) \
    FAILING_WRAP(LIBRARY_##name, FAILURE(type), type, name, parameters, arguments)
OF_LIBRARY(WRAP)
FAILING_WRAP_CLOSE(LIBRARY_close)
FAILING_WRAP_OPEN64(LIBRARY_open64)

int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *arg = va_arg(arguments, void *);
    va_end(arguments);
    return failing_call(LIBRARY_fcntl64) ? -1 : __real_fcntl64(fd, command, arg);
}

/* ---- all of them */

unsigned journal_calls_count(void) {
    return COUNT;
}

const char *journal_calls_name(unsigned call) {
    return names[call];
}

bool journal_calls_is_repeated(unsigned call) {
    switch ((enum call)call) {
    case SQLITE_open:
    case SQLITE_read:
    case SQLITE_pread:
    case SQLITE_pread64:
    case SQLITE_write:
    case SQLITE_pwrite:
    case SQLITE_pwrite64:
    case SQLITE_ftruncate:
    case LIBRARY_open64:
    case LIBRARY_fsync:
        return true;
    default:
        return false;
    }
}

bool journal_calls_must_refuse(unsigned call) {
    return call == LIBRARY_realpath || call == LIBRARY_mknod || call == LIBRARY_fsync ||
           call == LIBRARY_open64;
}

/* SPDX-License-Identifier: MIT */
/* safe_file.c - atomic file replacement. */
#include "safe_file.h"

#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_TRIED 100

/* Whether a call is to be repeated because a signal came in between. */
static bool is_interrupted(long result) {
    return result < 0 && errno == EINTR && !htw__signals_gives_up();
}

static int find(const char *path, struct stat *status) {
    int result;
    do
        result = stat(path, status);
    while (is_interrupted(result));
    return result == 0 ? 0 : -errno;
}

/* 1: the path is not a regular file; 0: it is one, or nothing is there; else a negative errno: after
 * an error a regular file must not replace a device. */
static int is_special(const char *path) {
    struct stat status;
    int error = find(path, &status);
    if (error == 0)
        return !S_ISREG(status.st_mode);
    return error == -ENOENT ? 0 : error;
}

/* The directory of a path, in new memory; NULL when there is no memory. */
static char *directory_of(const char *path) {
    char *copy = strdup(path);
    if (copy == NULL)
        return NULL;
    char *directory = strdup(dirname(copy));
    free(copy);
    return directory;
}

/*
 * Returns the name of the file to replace, in new memory. A symbolic link is kept, and its target
 * is replaced; a link with no target is refused (it may be /dev/stdout, closed).
 */
static int resolve(const char *path, char **ret_path) {
    struct stat status;
    int result;
    do
        result = lstat(path, &status);
    while (is_interrupted(result));
    if (result != 0 && errno != ENOENT)
        return -errno;
    bool exists = result == 0;
    do
        *ret_path = exists ? realpath(path, NULL) : strdup(path);
    while (*ret_path == NULL && is_interrupted(-1));
    return *ret_path != NULL ? 0 : -errno;
}

static bool is_same_regular(const struct stat *one, const struct stat *two) {
    return S_ISREG(one->st_mode) && one->st_dev == two->st_dev && one->st_ino == two->st_ino;
}

bool htw__safe_file_is_same(const char *path, const char *other) {
    struct stat one;
    struct stat two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && is_same_regular(&one, &two);
}

int htw__safe_file_probe(const char *path, int kept_fd) {
    struct stat status;
    struct stat kept;
    int error = find(path, &status);
    if (error != 0 && error != -ENOENT)
        return error;
    if (error == 0) {
        if (S_ISDIR(status.st_mode))
            return -EISDIR;
        if (fstat(kept_fd, &kept) == 0 && is_same_regular(&status, &kept))
            return -EBUSY;
        if (!S_ISREG(status.st_mode))
            return access(path, W_OK) == 0 ? 0 : -errno;
    }
    char *target;
    error = resolve(path, &target);
    if (error != 0)
        return error;
    char *directory = directory_of(target);
    free(target);
    if (directory == NULL)
        return -ENOMEM;
    error = access(directory, W_OK | X_OK) == 0 ? 0 : -errno;
    free(directory);
    return error;
}

/*
 * Gives a new file the owner and the permissions of the one that it replaces, or those of any
 * new file. Where the group cannot be kept, its permissions would be another group's: then,
 * and after an error, the file remains its owner's alone. Bits above 0777 are never kept: a
 * program with set-uid would become another user's.
 */
static void copy_owner_and_mode(const char *path, int fd) {
    struct stat old;
    int error = find(path, &old);
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = 0600;
    if (error == -ENOENT)
        mode = 0666 & ~mask;
    else if (error == 0)
        mode = old.st_mode & 0777;
    if (error == 0 && fchown(fd, old.st_uid, old.st_gid) != 0 &&
        fchown(fd, (uid_t)-1, old.st_gid) != 0)
        mode &= 0700;
    (void)fchmod(fd, mode);
}

/* Creates `BASE.PID-N.tmp`, for its owner alone. */
static int open_temporary(struct htw__safe_file *file, const char *base) {
    int error = -EEXIST;
    for (int i = 0; i < NAMES_TRIED && error == -EEXIST; i++) {
        char *name;
        if (asprintf(&name, "%s.%ld-%d.tmp", base, (long)getpid(), i) < 0)
            return -ENOMEM;
        do
            file->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        while (is_interrupted(file->fd));
        if (file->fd >= 0) {
            file->temporary = name;
            return 0;
        }
        error = -errno;
        free(name);
    }
    return error;
}

/* Non-blocking: a FIFO without a reader is an error, and the wait for a slow reader is in poll(), which
 * a signal can end. */
static int open_special(struct htw__safe_file *file, const char *path) {
    do
        file->fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    while (is_interrupted(file->fd));
    return file->fd >= 0 ? 0 : -errno;
}

static void init(struct htw__safe_file *file) {
    file->fd = -1;
    file->path = NULL;
    file->temporary = NULL;
    file->is_whole = false;
    file->used = 0;
}

int htw__safe_file_open(struct htw__safe_file *file, const char *path) {
    init(file);
    int special = is_special(path);
    if (special < 0)
        return special;
    if (special)
        return open_special(file, path);
    int error = resolve(path, &file->path);
    if (error == 0)
        error = open_temporary(file, file->path);
    if (error == 0)
        copy_owner_and_mode(file->path, file->fd);
    return error;
}

int htw__safe_file_open_elsewhere(struct htw__safe_file *file) {
    init(file);
    const char *directory = getenv("TMPDIR");
    char *base;
    if (asprintf(&base, "%s/htw-delay-unreleased",
                 directory != NULL && *directory != '\0' ? directory : "/tmp") < 0)
        return -ENOMEM;
    int error = open_temporary(file, base);
    free(base);
    return error;
}

static int wait_for_room(const struct htw__safe_file *file) {
    struct pollfd wanted[] = {
        { .fd = htw__signals_fd(), .events = POLLIN },
        { .fd = file->fd, .events = POLLOUT },
    };
    htw__signals_clear();
    if (htw__signals_gives_up()) /* came after the last check, and the pipe is empty now */
        return -ECANCELED;
    return poll(wanted, 2, -1) >= 0 || errno == EINTR ? 0 : -errno;
}

static int write_all(const struct htw__safe_file *file, const char *bytes, size_t size) {
    while (size > 0) {
        if (htw__signals_gives_up())
            return -ECANCELED;
        ssize_t written = write(file->fd, bytes, size);
        int error = 0;
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        } else if (written == 0) {
            error = -EIO;
        } else if (errno == EAGAIN) {
            error = wait_for_room(file);
        } else if (errno != EINTR) {
            error = -errno;
        }
        if (error != 0)
            return error;
    }
    return 0;
}

static int flush(struct htw__safe_file *file) {
    size_t size = file->used;
    file->used = 0;
    return write_all(file, file->buffer, size);
}

int htw__safe_file_put(struct htw__safe_file *file, const void *bytes, size_t size) {
    if (size > sizeof(file->buffer) - file->used) {
        int error = flush(file);
        if (error != 0)
            return error;
    }
    if (size > sizeof(file->buffer))
        return write_all(file, bytes, size);
    memcpy(file->buffer + file->used, bytes, size);
    file->used += size;
    return 0;
}

/* A new name is safe only when its directory is on the disk. Some file systems cannot sync a
 * directory, which is no error. */
static void sync_directory(const char *path) {
    char *directory = directory_of(path);
    int fd = directory == NULL ? -1 : open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(directory);
}

static int flush_to_disk(const struct htw__safe_file *file) {
    int result;
    do
        result = fsync(file->fd);
    while (is_interrupted(result));
    return result == 0 ? 0 : -errno;
}

/* An interrupted close still closes the descriptor. */
static int close_descriptor(struct htw__safe_file *file) {
    int result = close(file->fd);
    file->fd = -1;
    return result == 0 || errno == EINTR ? 0 : -errno;
}

int htw__safe_file_commit(struct htw__safe_file *file) {
    int error = flush(file);
    if (error == 0 && file->temporary != NULL)
        error = flush_to_disk(file);
    if (error == 0)
        error = close_descriptor(file);
    file->is_whole = error == 0;
    if (error != 0 || file->path == NULL)
        return error;
    int result;
    do
        result = rename(file->temporary, file->path);
    while (is_interrupted(result));
    if (result != 0)
        return -errno;
    sync_directory(file->path);
    return 0;
}

off_t htw__safe_file_size(const struct htw__safe_file *file) {
    struct stat status;
    int error = find(file->temporary, &status);
    return error == 0 ? status.st_size : error;
}

int htw__safe_file_cut(const struct htw__safe_file *file, off_t size) {
    int result;
    do
        result = truncate(file->temporary, size);
    while (is_interrupted(result));
    return result == 0 ? 0 : -errno;
}

void htw__safe_file_remove(const struct htw__safe_file *file) {
    unlink(file->temporary);
}

void htw__safe_file_close(struct htw__safe_file *file) {
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
    free(file->temporary);
    init(file);
}

/* SPDX-License-Identifier: MIT */
#include "safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_TRIED 100

static bool is_special(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* The directory of a path, in new memory; NULL when there is none. */
static char *directory_of(const char *path) {
    char *copy = strdup(path);
    if (copy == NULL)
        return NULL;
    char *directory = strdup(dirname(copy));
    free(copy);
    return directory;
}

/*
 * The name that is to be replaced, in new memory. A symbolic link stays one: what it points
 * to is replaced; one that points nowhere is refused (it may be /dev/stdout, closed).
 */
static int resolve(const char *path, char **ret_path) {
    struct stat status;
    bool exists = lstat(path, &status) == 0;
    *ret_path = exists ? realpath(path, NULL) : strdup(path);
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
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return -EISDIR;
        if (fstat(kept_fd, &kept) == 0 && is_same_regular(&status, &kept))
            return -EBUSY;
    }
    if (is_special(path))
        return access(path, W_OK) == 0 ? 0 : -errno;
    char *target;
    int failure = resolve(path, &target);
    if (failure != 0)
        return failure;
    char *directory = directory_of(target);
    free(target);
    if (directory == NULL)
        return -ENOMEM;
    int error = access(directory, W_OK | X_OK) == 0 ? 0 : -errno;
    free(directory);
    return error;
}

static void forget(struct htw__safe_file *file) {
    free(file->path);
    free(file->temporary);
    *file = (struct htw__safe_file) { NULL, NULL, NULL };
}

/* What only its owner could read stays so; where that fails, the mode is that of a new file. */
static void keep_mode(const char *path, int fd) {
    struct stat status;
    if (stat(path, &status) == 0)
        (void)fchmod(fd, status.st_mode & 07777);
}

static int open_temporary(struct htw__safe_file *file) {
    for (int i = 0; i < NAMES_TRIED; i++) {
        free(file->temporary);
        file->temporary = NULL;
        if (asprintf(&file->temporary, "%s.%ld-%d.tmp", file->path, (long)getpid(), i) < 0) {
            file->temporary = NULL; /* which asprintf leaves undefined */
            return -ENOMEM;
        }
        int fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            keep_mode(file->path, fd);
            return fd;
        }
        if (errno != EEXIST)
            break;
    }
    return -errno;
}

/* Non-blocking only to open it: a FIFO that nobody reads is an error, not a wait. */
static int open_special(const char *path) {
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -errno;
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0 ? fd : -errno;
}

static int open_any(struct htw__safe_file *file, const char *path) {
    if (is_special(path))
        return open_special(path);
    int error = resolve(path, &file->path);
    return error != 0 ? error : open_temporary(file);
}

int htw__safe_file_open(struct htw__safe_file *file, const char *path) {
    *file = (struct htw__safe_file) { NULL, NULL, NULL };
    int fd = open_any(file, path);
    if (fd >= 0 && (file->stream = fdopen(fd, "w")) != NULL)
        return 0;
    int error = fd < 0 ? fd : -errno;
    if (fd >= 0) {
        close(fd);
        if (file->temporary != NULL)
            unlink(file->temporary);
    }
    forget(file);
    return error;
}

/* A name lasts only when its directory has reached the disk. Some file systems cannot do
 * that, and the file is then as safe as it can be. */
static void sync_directory(const char *path) {
    char *directory = directory_of(path);
    int fd = directory == NULL ? -1 : open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(directory);
}

int htw__safe_file_commit(struct htw__safe_file *file) {
    int error = 0;
    if (ferror(file->stream) || fflush(file->stream) != 0)
        error = errno != 0 ? -errno : -EIO;
    if (error == 0 && file->path != NULL && fsync(fileno(file->stream)) != 0)
        error = -errno;
    if (fclose(file->stream) != 0 && error == 0)
        error = -errno;
    if (file->path != NULL) {
        if (error == 0 && rename(file->temporary, file->path) != 0)
            error = -errno;
        if (error == 0)
            sync_directory(file->path);
        else
            unlink(file->temporary);
    }
    forget(file);
    return error;
}

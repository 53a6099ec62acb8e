/* SPDX-License-Identifier: MIT */
/* safe_file.c - atomic file replacement. */
#include "safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* `copy` is for its text. */
static const char *directory_of(const char *path, char copy[PATH_MAX]) {
    snprintf(copy, PATH_MAX, "%s", path);
    return dirname(copy);
}

/*
 * Returns the name of the file to replace, in new memory, and its status, of which the mode is 0 if there is none. A symbolic link
 * is kept, and its target is replaced; a link with no target is refused (it may be /dev/stdout, closed).
 */
static int resolve(const char *path, char **ret_path, struct stat *ret_status) {
    *ret_path = NULL;
    *ret_status = (struct stat) { .st_mode = 0 };
    bool exists = lstat(path, ret_status) == 0;
    if (!exists && errno != ENOENT)
        return -errno;
    if (exists && stat(path, ret_status) != 0)
        return -errno;
    if (exists && !S_ISREG(ret_status->st_mode))
        return S_ISDIR(ret_status->st_mode) ? -EISDIR : -ENOTSUP;
    *ret_path = exists ? realpath(path, NULL) : strdup(path);
    return *ret_path != NULL ? 0 : -errno;
}

static bool is_same(const struct stat *one, const struct stat *two) {
    return S_ISREG(one->st_mode) && one->st_dev == two->st_dev && one->st_ino == two->st_ino;
}

bool htw__safe_file_is_same(const char *path, const char *other) {
    struct stat one, two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && is_same(&one, &two);
}

int htw__safe_file_probe(const char *path, int kept_fd) {
    struct stat status, kept;
    char *target, copy[PATH_MAX];
    int error = resolve(path, &target, &status);
    if (error == 0 && fstat(kept_fd, &kept) == 0 && is_same(&status, &kept))
        error = -EBUSY;
    if (error == 0 && access(directory_of(target, copy), W_OK | X_OK) != 0)
        error = -errno;
    free(target);
    return error;
}

/* Opens a new file in a directory, for its owner alone. */
static int open_temporary(struct htw__safe_file *file, const char *base) {
    char *name;
    if (asprintf(&name, "%s.XXXXXX", base) < 0)
        return -ENOMEM;
    int fd = mkostemp(name, O_CLOEXEC), error = fd < 0 ? -errno : 0;
    if (fd < 0) {
        free(name);
        return error;
    }
    file->temporary = name;
    file->stream = fdopen(fd, "w");
    if (file->stream != NULL)
        return 0;
    error = -errno;
    close(fd);
    return error;
}

/*
 * Gives a new file the owner and the permissions of the one that it replaces, or those of any
 * new file. Where the group cannot be kept, its permissions would be another group's: then the file
 * remains its owner's alone. Bits above 0777 are never kept: a program with set-uid would become another user's.
 */
static void set_owner_and_mode(int fd, const struct stat *old) {
    mode_t mask = umask(0), mode = old->st_mode == 0 ? 0666 & ~mask : old->st_mode & 0777;
    umask(mask);
    if (old->st_mode != 0 && fchown(fd, old->st_uid, old->st_gid) != 0 &&
        fchown(fd, (uid_t)-1, old->st_gid) != 0)
        mode &= 0700;
    (void)fchmod(fd, mode);
}

int htw__safe_file_open(struct htw__safe_file *file, const char *path) {
    struct stat old;
    *file = (struct htw__safe_file) { .stream = NULL };
    int error = resolve(path, &file->path, &old);
    if (error == 0)
        error = open_temporary(file, file->path);
    if (error == 0)
        set_owner_and_mode(fileno(file->stream), &old);
    return error;
}

int htw__safe_file_open_elsewhere(struct htw__safe_file *file) {
    const char *directory = getenv("TMPDIR");
    char *base;
    *file = (struct htw__safe_file) { .stream = NULL };
    if (asprintf(&base, "%s/htw-delay-unreleased",
                 directory != NULL && *directory != '\0' ? directory : "/tmp") < 0)
        return -ENOMEM;
    int error = open_temporary(file, base);
    free(base);
    return error;
}

/* A new name is safe only when its directory is on the disk. Some file systems cannot sync a
 * directory, which is no error. */
static void sync_directory(const char *path) {
    char copy[PATH_MAX];
    int fd = open(directory_of(path, copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

int htw__safe_file_commit(struct htw__safe_file *file) {
    FILE *stream = file->stream;
    int before = ferror(stream) != 0 ? -EIO : 0; /* even if what is left could be written */
    int error = fflush(stream) != 0 || fsync(fileno(stream)) != 0 ? -errno : before;
    file->stream = NULL;
    if (fclose(stream) != 0 && error == 0)
        error = -errno;
    if (error != 0 || file->path == NULL)
        return error;
    if (rename(file->temporary, file->path) != 0)
        return -errno;
    sync_directory(file->path);
    free(file->temporary);
    file->temporary = NULL;
    return 0;
}

void htw__safe_file_close(struct htw__safe_file *file) {
    if (file->stream != NULL)
        (void)fclose(file->stream);
    if (file->temporary != NULL)
        unlink(file->temporary);
    free(file->path);
    free(file->temporary);
}

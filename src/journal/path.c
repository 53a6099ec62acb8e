/* SPDX-License-Identifier: MIT */
/* path.c - the file of a journal and the lock file beside it. */
#include "path.h"

#include "../base/fork.h"
#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* SQLite adds "-journal" at most. */
#define SUFFIX_MAX 8

/* All open journals of this process. */
static struct {
    pthread_mutex_t mutex;
    struct htw__journal_path *first;
} open_paths = { PTHREAD_MUTEX_INITIALIZER, NULL };

static int fail_errno(const char *path, int error) {
    char text[128];
    return htw__journal_fail(-error, "%s: %s", path, strerror_r(error, text, sizeof(text)));
}

/* open() that a signal interrupts, as on network file systems, is repeated. */
static int open_file(const char *name, int flags) {
    int fd;
    do
        fd = open(name, flags | O_CLOEXEC, 0600);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* The folder of a path without symbolic links, in `folder`. */
static void folder_of(const char *name, char folder[PATH_MAX]) {
    const char *slash = strrchr(name, '/');
    size_t size = slash == name ? 1 : (size_t)(slash - name);
    memcpy(folder, name, size);
    folder[size] = '\0';
}

/* A symbolic link to a file that does not exist is refused: realpath() fails, and then lstat()
   finds the link. */
static int resolve(const char *path, char name[PATH_MAX]) {
    char folder[PATH_MAX];
    struct stat status;
    if (realpath(path, name) != NULL)
        return 0;
    if (errno != ENOENT)
        return fail_errno(path, errno);
    if (lstat(path, &status) == 0)
        return htw__journal_fail(-ENOENT, "%s: a symbolic link to a file that does not exist",
                                 path);
    size_t size = strlen(path);
    if (size == 0 || path[size - 1] == '/')
        return fail_errno(path, size == 0 ? ENOENT : EISDIR);
    if (size >= sizeof(folder))
        return fail_errno(path, ENAMETOOLONG);
    const char *slash = strrchr(path, '/');
    const char *last = slash == NULL ? path : slash + 1;
    if (slash == NULL)
        strcpy(folder, ".");
    else
        snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (realpath(folder, name) == NULL)
        return fail_errno(path, errno);
    size_t used = strlen(name);
    if (used + strlen(last) + 2 > PATH_MAX - SUFFIX_MAX)
        return fail_errno(path, ENAMETOOLONG);
    snprintf(name + used, PATH_MAX - used, "%s%s", used == 1 ? "" : "/", last);
    return 0;
}

static int judge_kind(const char *name, mode_t mode) {
    if (S_ISDIR(mode))
        return fail_errno(name, EISDIR);
    return S_ISREG(mode) ? 0 : htw__journal_fail(-EBADMSG, "%s: not a regular file", name);
}

/* Whether the file can be a journal. `ret_exists` is set on success. */
static int inspect(const char *name, bool *ret_exists) {
    struct stat status;
    if (stat(name, &status) != 0) {
        *ret_exists = false;
        return errno == ENOENT ? 0 : fail_errno(name, errno);
    }
    *ret_exists = true;
    int error = judge_kind(name, status.st_mode);
    if (error != 0)
        return error;
    if (status.st_nlink > 1)
        return htw__journal_fail(
            -EINVAL, "%s: the file has several names (hard links), so it cannot be locked", name);
    if (access(name, R_OK | W_OK) != 0)
        return fail_errno(name, errno);
    return 0;
}

static int refuse_busy(const char *name, pid_t owner) {
    if (owner > 0)
        return htw__journal_fail(-EBUSY, "%s: the journal is open in process %ld", name,
                                 (long)owner);
    return htw__journal_fail(-EBUSY, "%s: the journal is open in another process", name);
}

static void lock_name(const struct htw__journal_path *self, char name[PATH_MAX]) {
    snprintf(name, PATH_MAX, "%.*s-lock", PATH_MAX - SUFFIX_MAX, self->name);
}

/* Opens the lock file and locks it. A descriptor, or a negative errno. */
static int open_locked(struct htw__journal_path *self, const char *file) {
    int fd = open_file(file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
    self->made_lock_file = fd >= 0;
    if (fd < 0 && errno == EEXIST)
        fd = open_file(file, O_RDWR | O_CREAT | O_NOFOLLOW);
    if (fd < 0)
        return fail_errno(file, errno);
    struct flock request = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    if (fcntl(fd, F_SETLK, &request) == 0)
        return fd;
    int error = errno;
    if (error == EACCES || error == EAGAIN) {
        request.l_pid = 0;
        fcntl(fd, F_GETLK, &request);
        refuse_busy(self->name, request.l_type == F_UNLCK ? 0 : request.l_pid);
        error = EBUSY;
    } else {
        fail_errno(file, error);
    }
    close(fd);
    return -error;
}

/* With the mutex held. */
static int lock(struct htw__journal_path *self) {
    char file[PATH_MAX];
    struct stat status;
    lock_name(self, file);
    if (stat(file, &status) == 0)
        for (const struct htw__journal_path *path = open_paths.first; path; path = path->next)
            if (path->device == status.st_dev && path->inode == status.st_ino &&
                path->fork_count == htw__fork_count()) /* not a journal of the parent process */
                return refuse_busy(self->name, getpid());
    do {
        self->lock_fd = open_locked(self, file);
        if (self->lock_fd < 0)
            return self->lock_fd;
        if (fstat(self->lock_fd, &status) != 0) {
            int error = errno;
            close(self->lock_fd);
            return fail_errno(file, error);
        }
        if (status.st_nlink == 0) /* one who was refused has removed it before it was locked here */
            close(self->lock_fd);
    } while (status.st_nlink == 0);
    self->device = status.st_dev;
    self->inode = status.st_ino;
    self->fork_count = htw__fork_count();
    self->next = open_paths.first;
    open_paths.first = self;
    return 0;
}

int htw__journal_path_find(struct htw__journal_path *self, const char *path) {
    struct stat status;
    memset(self, 0, sizeof(*self));
    self->lock_fd = -1;
    if (realpath(path, self->name) == NULL || stat(self->name, &status) != 0)
        return fail_errno(path, errno);
    int error = judge_kind(path, status.st_mode);
    return error != 0 || access(self->name, R_OK) == 0 ? error : fail_errno(path, errno);
}

int htw__journal_path_open(struct htw__journal_path *self, const char *path) {
    bool exists;
    if (path == NULL) {
        strcpy(self->name, "(memory)");
        self->is_in_memory = true;
        self->lock_fd = -1;
        return 0;
    }
    int error = resolve(path, self->name);
    if (error != 0)
        return error;
    if (strlen(self->name) > PATH_MAX - SUFFIX_MAX)
        return fail_errno(path, ENAMETOOLONG);
    error = inspect(self->name, &exists);
    if (error != 0)
        return error;
    pthread_mutex_lock(&open_paths.mutex);
    error = lock(self);
    pthread_mutex_unlock(&open_paths.mutex);
    if (error != 0)
        return error;
    /* Not open(), so that there is no descriptor to close. Others must not read what is in it. */
    if (!exists && mknod(self->name, S_IFREG | 0600, 0) != 0 && errno != EEXIST) {
        error = errno;
        htw__journal_path_close(self, false);
        return fail_errno(path, error);
    }
    return 0;
}

int htw__journal_path_sync_folder(const struct htw__journal_path *self) {
    char folder[PATH_MAX];
    folder_of(self->name, folder);
    int fd = open_file(folder, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return fail_errno(folder, errno);
    int result;
    do
        result = fsync(fd);
    while (result != 0 && errno == EINTR);
    int error = result == 0 || errno == EINVAL ? 0 : errno; /* EINVAL: it need not be synced */
    close(fd);
    return error == 0 ? 0 : fail_errno(folder, error);
}

void htw__journal_path_close(struct htw__journal_path *self, bool is_journal) {
    char file[PATH_MAX];
    if (self->lock_fd < 0)
        return;
    lock_name(self, file);
    pthread_mutex_lock(&open_paths.mutex);
    struct htw__journal_path **place = &open_paths.first;
    while (*place != self)
        place = &(*place)->next;
    *place = self->next;
    if (!is_journal && self->made_lock_file) /* before the lock ends: see lock() */
        unlink(file);
    close(self->lock_fd);
    pthread_mutex_unlock(&open_paths.mutex);
}

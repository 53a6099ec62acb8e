/* SPDX-License-Identifier: MIT */
/* path.c - the file of a journal and the lock file beside it. */
#include "path.h"

#include "../../base/fork.h"
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

/* The name of a file that can be a journal, without symbolic links. Unless it is only to be read, it is created if there is
   none: not by open(), so that there is no descriptor to close. Others must not read what is in it. mknod() does not follow
   a symbolic link to a file that does not exist, which then is refused. */
static int resolve(const char *path, char *name, bool is_to_read) {
    struct stat status;
    if (!is_to_read && stat(path, &status) != 0 && errno == ENOENT &&
        mknod(path, S_IFREG | 0600, 0) != 0 && errno != EEXIST)
        return fail_errno(path, errno);
    if (realpath(path, name) == NULL || stat(name, &status) != 0)
        return fail_errno(path, errno);
    if (strlen(name) > PATH_MAX - SUFFIX_MAX)
        return fail_errno(path, ENAMETOOLONG);
    if (S_ISDIR(status.st_mode))
        return fail_errno(path, EISDIR);
    if (!S_ISREG(status.st_mode))
        return htw__journal_fail(-EBADMSG, "%s: not a regular file", path);
    if (!is_to_read && status.st_nlink > 1)
        return htw__journal_fail(
            -EINVAL, "%s: the file has several names (hard links), so it cannot be locked", path);
    return access(name, is_to_read ? R_OK : R_OK | W_OK) == 0 ? 0 : fail_errno(path, errno);
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
    self->next = open_paths.first;
    open_paths.first = self;
    return 0;
}

int htw__journal_path_find(struct htw__journal_path *self, const char *path) {
    self->lock_fd = -1;
    self->fork_count = htw__fork_count();
    return resolve(path, self->name, true);
}

int htw__journal_path_open(struct htw__journal_path *self, const char *path) {
    self->lock_fd = -1;
    self->fork_count = htw__fork_count();
    self->is_in_memory = path == NULL;
    strcpy(self->name, "(memory)");
    if (path == NULL)
        return 0;
    int error = resolve(path, self->name, false);
    if (error != 0)
        return error;
    pthread_mutex_lock(&open_paths.mutex);
    error = lock(self);
    pthread_mutex_unlock(&open_paths.mutex);
    return error;
}

int htw__journal_path_sync_folder(const struct htw__journal_path *self) {
    char folder[PATH_MAX];
    strcpy(folder, self->name);
    char *slash = strrchr(folder, '/'); /* the name is absolute */
    slash[slash == folder ? 1 : 0] = '\0';
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

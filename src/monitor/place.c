/* SPDX-License-Identifier: MIT */
/* place.c - makes the socket of a monitor, and removes those of processes that have died. */
#include "place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Clients that wait to be accepted. */
#define BACKLOG 16

/* Monitors of one process, or of processes with the same id in several containers. */
#define NUMBERS 32u

/* Behind the path: the file whose lock gives the right to change what is at the path. */
#define LOCK ".lock"

/* How long to wait for others that change the same path: 100 times 10 ms. */
#define LOCK_ATTEMPTS 100
#define LOCK_PAUSE_NS 10000000L

/* ---- the folder */

/* Whether it is a file of this type that belongs to this user, and to which no other user has access. */
static bool is_private(int fd, mode_t type) {
    struct stat status;
    return fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == type &&
           status.st_uid == geteuid() && (status.st_mode & 0077) == 0;
}

/* XDG_RUNTIME_DIR counts if it is a folder of this user: `sudo` may leave that of another one. */
static const char *runtime_folder(void) {
    const char *path = secure_getenv("XDG_RUNTIME_DIR");
    struct stat status;
    if (path == NULL || *path != '/' || stat(path, &status) != 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != geteuid())
        return NULL;
    return path;
}

int htw__place_folder(char *buffer, size_t size) {
    const char *folder = runtime_folder();
    int length = folder != NULL ? snprintf(buffer, size, "%s/htw", folder)
                                : snprintf(buffer, size, "/tmp/htw-%lu", (unsigned long)geteuid());
    return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

/* Makes the default folder if need be. 0 or a negative errno. */
static int make_folder(const char *path) {
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return -errno;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) /* a link, or a file: another user may have made it */
        return errno == ENOTDIR ? -EACCES : -errno;
    /* The umask may have removed bits of the owner. */
    int error = is_private(fd, S_IFDIR) && fchmod(fd, 0700) == 0 ? 0 : -EACCES;
    close(fd);
    return error;
}

/* ---- the right to change what is at a path */

static bool is_same_file(int fd, const char *path) {
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && lstat(path, &there) == 0 && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
}

/* One attempt to lock the file. A descriptor, or a negative errno; -EBUSY: another has the lock. */
static int try_to_lock(const char *file) {
    int fd = open(file, O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == EISDIR || errno == ELOOP ? -EACCES : -errno;
    int error = is_private(fd, S_IFREG) ? -EBUSY : -EACCES;
    /* Where a file system has no locks, nothing tells two monitors apart that open one path at once. */
    if (error == -EBUSY && (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
        is_same_file(fd, file))
        return fd;
    close(fd);
    return error;
}

/* Makes and locks the file of a path. Other users cannot open it, so only processes of this user can hold
   the lock; it ends with the process. A descriptor for unlock(), or a negative errno. */
static int lock(const char *path, char *file, size_t size) {
    const struct timespec pause = { 0, LOCK_PAUSE_NS };
    int length = snprintf(file, size, "%s" LOCK, path), fd = -EBUSY;
    if (length < 0 || (size_t)length >= size)
        return -ENAMETOOLONG;
    for (int i = 0; i < LOCK_ATTEMPTS && (fd = try_to_lock(file)) == -EBUSY; i++)
        nanosleep(&pause, NULL);
    return fd;
}

static void unlock(int fd, const char *file) {
    unlink(file);
    flock(fd, LOCK_UN); /* a child that was forked meanwhile has the descriptor, too */
    close(fd);
}

/* ---- dead sockets */

/* Whether there is a socket on which no process listens any more. 1: yes; 0: nothing is there; -EBUSY: one listens;
   or another negative errno. */
static int is_dead(const char *path) {
    struct stat status;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISSOCK(status.st_mode))
        return -EEXIST;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int error = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : errno;
    close(fd);
    return error == ECONNREFUSED ? 1 : error == ENOENT ? 0 : -EBUSY;
}

/* The length of the name of a socket that a monitor of a process that does not exist has chosen: PID.sock or
   PID-N.sock, also as the name of its lock. 0: it is no such name. */
static size_t length_of_dead(const char *name) {
    const char *ending = strstr(name, ".sock");
    char *end;
    errno = 0;
    long pid = strtol(name, &end, 10);
    if (ending == NULL || pid <= 0 || errno != 0 || (*end != '.' && *end != '-') ||
        (strcmp(ending, ".sock") != 0 && strcmp(ending, ".sock" LOCK) != 0))
        return 0;
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH ? (size_t)(ending - name) + 5 : 0;
}

/* Under the lock of the path no other monitor puts a socket there that could be removed instead. */
static void remove_if_dead(const char *path) {
    char file[sizeof(((struct htw__socket_place *)0)->path)];
    int fd = lock(path, file, sizeof(file));
    if (fd < 0)
        return;
    if (is_dead(path) == 1)
        unlink(path);
    unlock(fd, file);
}

static void remove_dead(const char *folder) {
    DIR *entries = opendir(folder);
    struct dirent *entry;
    if (entries == NULL)
        return;
    /* The stream belongs to this thread alone. NOLINTNEXTLINE(concurrency-mt-unsafe) */
    while ((entry = readdir(entries)) != NULL) {
        char path[sizeof(((struct htw__socket_place *)0)->path)];
        size_t before = strlen(folder) + 1, name = length_of_dead(entry->d_name);
        if (name == 0 || before + name >= sizeof(path))
            continue;
        snprintf(path, sizeof(path), "%s/", folder);
        memcpy(path + before, entry->d_name, name);
        path[before + name] = '\0';
        remove_if_dead(path);
    }
    closedir(entries);
}

/* ---- the socket */

/* Gives the socket at the path its mode, of which the umask may have removed bits. */
static bool set_mode(const char *path, mode_t mode, struct stat *status) {
    return lstat(path, status) == 0 && ((status->st_mode & 07777) == mode ||
                                        fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW) == 0);
}

/* On Linux a socket of the file system has at its path the mode that its descriptor had, without the bits of the umask: at no
   time more users may connect than `mode` says. */
static int bind_socket(struct htw__socket_place *place, mode_t mode) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct stat status;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", place->path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    bool is_bound =
        fchmod(fd, mode) == 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    if (!is_bound || !set_mode(place->path, mode, &status) || listen(fd, BACKLOG) != 0) {
        int error = errno == EADDRINUSE ? -EBUSY : -errno;
        if (is_bound)
            unlink(place->path);
        close(fd);
        return error;
    }
    place->fd = fd;
    place->device = status.st_dev;
    place->inode = status.st_ino;
    return 0;
}

/* The path of the n-th monitor of this process. */
static int path_in(const char *folder, unsigned number, char *path, size_t size) {
    char suffix[16] = "";
    if (number > 1)
        snprintf(suffix, sizeof(suffix), "-%u", number);
    int length = snprintf(path, size, "%s/%ld%s.sock", folder, (long)getpid(), suffix);
    return length < 0 || (size_t)length > HTW__PLACE_PATH_MAX ? -ENAMETOOLONG : 0;
}

/* The lock keeps others from the path meanwhile. */
static int place_socket(struct htw__socket_place *place, mode_t mode) {
    char file[sizeof(place->path)];
    int fd = lock(place->path, file, sizeof(file));
    if (fd < 0)
        return fd;
    int error = is_dead(place->path);
    if (error == 1)
        error = unlink(place->path) == 0 || errno == ENOENT ? 0 : -errno;
    if (error == 0)
        error = bind_socket(place, mode);
    unlock(fd, file);
    return error;
}

/* The first of the names of this process that is free. */
static int place_by_default(const char *folder, struct htw__socket_place *place) {
    int error = -EBUSY;
    for (unsigned number = 1; number <= NUMBERS && error == -EBUSY; number++) {
        error = path_in(folder, number, place->path, sizeof(place->path));
        if (error == 0)
            error = place_socket(place, HTW__PLACE_MODE);
    }
    return error;
}

int htw__place_prepare(const char *path) {
    char folder[sizeof(((struct htw__socket_place *)0)->path)];
    if (path != NULL)
        return strlen(path) > HTW__PLACE_PATH_MAX ? -ENAMETOOLONG : 0;
    int error = htw__place_folder(folder, sizeof(folder));
    if (error == 0)
        error = make_folder(folder);
    if (error == 0)
        remove_dead(folder);
    return error;
}

int htw__place_open(struct htw__socket_place *place, const char *path, mode_t mode) {
    char folder[sizeof(place->path)];
    if (path != NULL) {
        snprintf(place->path, sizeof(place->path), "%s", path);
        return place_socket(place, mode);
    }
    int error = htw__place_folder(folder, sizeof(folder));
    return error != 0 ? error : place_by_default(folder, place);
}

void htw__place_close(struct htw__socket_place *place) {
    struct stat status;
    if (lstat(place->path, &status) == 0 && status.st_dev == place->device &&
        status.st_ino == place->inode)
        unlink(place->path);
    close(place->fd);
}

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

/* How long to wait for others that change the same folder: 100 times 10 ms. */
#define LOCK_ATTEMPTS 100
#define LOCK_PAUSE_NS 10000000L

/* ---- the folder */

/* Whether a folder belongs to this user, who alone may enter it. */
static bool is_private(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           (status.st_mode & 0077) == 0;
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

/* Opens the default folder, and makes it if need be. A descriptor, or a negative errno. */
static int open_folder(const char *path) {
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return -errno;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) /* a link, or a file: another user may have made it */
        return errno == ENOTDIR || errno == ELOOP ? -EACCES : -errno;
    /* The umask may have removed bits of the owner. */
    if (!is_private(fd) || fchmod(fd, 0700) != 0) {
        close(fd);
        return -EACCES;
    }
    return fd;
}

/* The folder of a path that the user has chosen. A descriptor, or a negative errno. */
static int open_parent(const char *path) {
    char folder[sizeof(((struct htw__place *)0)->path)];
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        strcpy(folder, ".");
    else
        snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path), path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Only one process at a time removes dead sockets from a folder: otherwise it could remove the one that
   another has just put in the place. Any user may hold the lock, so the wait for it is short. */
static void lock_folder(int fd) {
    const struct timespec pause = { 0, LOCK_PAUSE_NS };
    for (int i = 0; i < LOCK_ATTEMPTS && flock(fd, LOCK_EX | LOCK_NB) != 0; i++)
        nanosleep(&pause, NULL);
}

/* ---- dead sockets */

/* Whether there is a socket on which no process listens any more. 1: yes; 0: no; or a negative errno. */
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
    return error == ECONNREFUSED;
}

/* Whether `name` is one that a monitor chooses: PID.sock or PID-N.sock, of a process that does not exist. */
static bool is_of_dead_process(const char *name) {
    static const char ending[] = ".sock";
    size_t length = strlen(name);
    char *end;
    errno = 0;
    long pid = strtol(name, &end, 10);
    return pid > 0 && errno == 0 && (*end == '.' || *end == '-') && length > strlen(ending) &&
           strcmp(name + length - strlen(ending), ending) == 0 && kill((pid_t)pid, 0) != 0 &&
           errno == ESRCH;
}

static void remove_dead(const char *folder) {
    DIR *entries = opendir(folder);
    struct dirent *entry;
    if (entries == NULL)
        return;
    /* The stream belongs to this thread alone. NOLINTNEXTLINE(concurrency-mt-unsafe) */
    while ((entry = readdir(entries)) != NULL) {
        char path[sizeof(((struct htw__place *)0)->path)];
        int length = snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (length > 0 && (size_t)length < sizeof(path) && is_of_dead_process(entry->d_name) &&
            is_dead(path) == 1)
            unlink(path);
    }
    closedir(entries);
}

/* ---- the socket */

static int make_socket(const char *path, struct htw__place *place) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct stat status;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || chmod(path, 0600) != 0 ||
        listen(fd, BACKLOG) != 0 || stat(path, &status) != 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    place->fd = fd;
    place->device = status.st_dev;
    place->inode = status.st_ino;
    return 0;
}

/* Links `from` to the path, which a dead socket may have. 0, -EBUSY: one listens there, or another
   negative errno. */
static int put_in_place(const char *from, const char *path) {
    if (link(from, path) == 0)
        return 0;
    if (errno != EEXIST)
        return -errno;
    int dead = is_dead(path);
    if (dead < 0)
        return dead;
    if (dead == 1)
        unlink(path);
    if (link(from, path) == 0)
        return 0;
    return errno == EEXIST ? -EBUSY : -errno;
}

/* The path of the n-th monitor of this process. */
static int path_in(const char *folder, unsigned number, char *path, size_t size) {
    char suffix[16] = "";
    if (number > 1)
        snprintf(suffix, sizeof(suffix), "-%u", number);
    int length = snprintf(path, size, "%s/%ld%s.sock", folder, (long)getpid(), suffix);
    return length < 0 || (size_t)length > HTW__PLACE_PATH_MAX ? -ENAMETOOLONG : 0;
}

static int place_socket(const char *from, const char *path, const char *folder,
                        struct htw__place *place) {
    int error = -EBUSY;
    if (path != NULL) {
        snprintf(place->path, sizeof(place->path), "%s", path);
        return put_in_place(from, path);
    }
    for (unsigned number = 1; number <= NUMBERS && error == -EBUSY; number++) {
        error = path_in(folder, number, place->path, sizeof(place->path));
        if (error == 0)
            error = put_in_place(from, place->path);
    }
    return error;
}

/* `path` is NULL for the default folder. */
static int make_in_fresh_folder(const char *path, const char *folder, struct htw__place *place) {
    char fresh[sizeof(place->path)], bound[sizeof(place->path)];
    int length = path != NULL ? snprintf(fresh, sizeof(fresh), "%s.XXXXXX", path)
                              : snprintf(fresh, sizeof(fresh), "%s/.XXXXXX", folder);
    if (length < 0 || (size_t)length + 2 >= sizeof(fresh))
        return -ENAMETOOLONG;
    if (mkdtemp(fresh) == NULL)
        return -errno;
    snprintf(bound, sizeof(bound), "%.*s/s", (int)sizeof(bound) - 3, fresh);
    place->fd = -1;
    int error = make_socket(bound, place);
    if (error == 0)
        error = place_socket(bound, path, folder, place);
    if (error != 0 && place->fd >= 0)
        close(place->fd);
    unlink(bound);
    rmdir(fresh);
    return error;
}

/* What the caller is told: an error of the list in the header. */
static int known(int error) {
    switch (-error) {
    case EPERM:
    case ELOOP:
        return -EACCES;
    case ENOBUFS:
        return -ENOMEM;
    case EDQUOT:
        return -ENOSPC;
    case 0:
    case EACCES:
    case EBUSY:
    case EEXIST:
    case EMFILE:
    case ENAMETOOLONG:
    case ENFILE:
    case ENOENT:
    case ENOMEM:
    case ENOSPC:
    case ENOTDIR:
    case EROFS:
        return error;
    default:
        return -EIO;
    }
}

int htw__place_enter(const char *path) {
    char folder[sizeof(((struct htw__place *)0)->path)];
    int error = path == NULL ? htw__place_folder(folder, sizeof(folder)) : 0;
    if (error != 0 || (path != NULL && strlen(path) > HTW__PLACE_PATH_MAX))
        return -ENAMETOOLONG;
    int fd = path == NULL ? open_folder(folder) : open_parent(path);
    if (fd < 0)
        return known(fd);
    lock_folder(fd);
    if (path == NULL)
        remove_dead(folder);
    return fd;
}

void htw__place_leave(int folder) {
    flock(folder, LOCK_UN); /* a child that was forked meanwhile has the descriptor, too */
    close(folder);
}

int htw__place_open(struct htw__place *place, const char *path) {
    char folder[sizeof(place->path)];
    int error = path == NULL ? htw__place_folder(folder, sizeof(folder)) : 0;
    return error != 0 ? error : known(make_in_fresh_folder(path, folder, place));
}

void htw__place_close(struct htw__place *place) {
    struct stat status;
    if (lstat(place->path, &status) == 0 && status.st_dev == place->device &&
        status.st_ino == place->inode)
        unlink(place->path);
    close(place->fd);
}

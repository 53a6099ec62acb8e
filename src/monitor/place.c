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

/* How long to wait for others that change the same path: 100 times 10 ms. */
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

/* Opens a folder that only this user may enter, and makes it if need be. A descriptor, or a negative errno. What is made
   in it gets the group of a folder around it that has the bit for that. */
static int open_private(const char *path) {
    struct stat status;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return -errno;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) /* a link, or a file: another user may have made it */
        return errno == ENOTDIR || errno == ELOOP ? -EACCES : errno == ENOENT ? -EAGAIN : -errno;
    /* The umask may have removed bits of the owner. If not, nothing is set: RestrictSUIDSGID of systemd would refuse the bit of the
       group, which the folder has already. */
    bool is_ours = is_private(fd) && fstat(fd, &status) == 0;
    mode_t mode = is_ours ? 0700 | (status.st_mode & S_ISGID) : 0;
    if (!is_ours || ((status.st_mode & 07777) != mode && fchmod(fd, mode) != 0)) {
        close(fd);
        return -EACCES;
    }
    return fd;
}

/* Makes the default folder if need be. 0 or a negative errno. */
static int make_folder(const char *path) {
    int fd = open_private(path);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

/* ---- the right to change what is at a path */

#define FRESH ".new" /* behind the path */

static bool is_same_file(int fd, const char *path) {
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && lstat(path, &there) == 0 && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
}

/* One attempt to lock the fresh folder. A descriptor, or a negative errno; -EBUSY: another has it. */
static int try_to_lock(const char *fresh) {
    int fd = open_private(fresh);
    if (fd < 0)
        return fd == -EAGAIN ? -EBUSY : fd; /* who had it has just removed it */
    /* Where a file system has no locks, nothing tells two monitors apart that open one path at once. */
    if ((flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && is_same_file(fd, fresh))
        return fd;
    close(fd);
    return -EBUSY;
}

/* Makes and locks the fresh folder of a path. Others cannot even open it, so only processes of this user
   can hold the lock; it ends with the process. A descriptor for unlock(), or a negative errno. */
static int lock(const char *path, char *fresh, size_t size) {
    const struct timespec pause = { 0, LOCK_PAUSE_NS };
    int length = snprintf(fresh, size, "%s" FRESH, path), fd = -EBUSY;
    if (length < 0 || (size_t)length + 2 >= size)
        return -ENAMETOOLONG;
    for (int i = 0; i < LOCK_ATTEMPTS && (fd = try_to_lock(fresh)) == -EBUSY; i++)
        nanosleep(&pause, NULL);
    return fd;
}

/* Removes the fresh folder with what is in it. */
static void unlock(int fd, const char *fresh) {
    unlinkat(fd, "s", 0);
    rmdir(fresh);
    flock(fd, LOCK_UN); /* a child that was forked meanwhile has the descriptor, too */
    close(fd);
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

/* The length of the name of a socket that a monitor of a process that does not exist has chosen: PID.sock or
   PID-N.sock, also as the name of its fresh folder. 0: it is no such name. */
static size_t length_of_dead(const char *name) {
    const char *ending = strstr(name, ".sock");
    char *end;
    errno = 0;
    long pid = strtol(name, &end, 10);
    if (ending == NULL || pid <= 0 || errno != 0 || (*end != '.' && *end != '-') ||
        (strcmp(ending, ".sock") != 0 && strcmp(ending, ".sock" FRESH) != 0))
        return 0;
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH ? (size_t)(ending - name) + 5 : 0;
}

/* Under the lock of the path no other monitor puts a socket there that could be removed instead. */
static void remove_if_dead(const char *path) {
    char fresh[sizeof(((struct htw__socket_place *)0)->path)];
    int fd = lock(path, fresh, sizeof(fresh));
    if (fd < 0)
        return;
    if (is_dead(path) == 1)
        unlink(path);
    unlock(fd, fresh);
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

static int make_socket(const char *path, mode_t mode, struct htw__socket_place *place) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct stat status;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || chmod(path, mode) != 0 ||
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

/* Makes a socket in the fresh folder of the path, whose lock keeps others from the path meanwhile. */
static int place_socket(struct htw__socket_place *place, mode_t mode) {
    char fresh[sizeof(place->path)], bound[sizeof(place->path)];
    int folder = lock(place->path, fresh, sizeof(fresh));
    if (folder < 0)
        return folder;
    snprintf(bound, sizeof(bound), "%.*s/s", (int)sizeof(bound) - 3, fresh);
    unlink(bound); /* of a process that was killed here */
    place->fd = -1;
    int error = make_socket(bound, mode, place);
    if (error == 0)
        error = put_in_place(bound, place->path);
    if (error != 0 && place->fd >= 0)
        close(place->fd);
    unlock(folder, fresh);
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

int htw__place_prepare(const char *path) {
    char folder[sizeof(((struct htw__socket_place *)0)->path)];
    if (path != NULL)
        return strlen(path) > HTW__PLACE_PATH_MAX ? -ENAMETOOLONG : 0;
    int error = htw__place_folder(folder, sizeof(folder));
    if (error == 0)
        error = known(make_folder(folder));
    if (error == 0)
        remove_dead(folder);
    return error;
}

int htw__place_open(struct htw__socket_place *place, const char *path, mode_t mode) {
    char folder[sizeof(place->path)];
    if (path != NULL) {
        snprintf(place->path, sizeof(place->path), "%s", path);
        return known(place_socket(place, mode));
    }
    int error = htw__place_folder(folder, sizeof(folder));
    return error != 0 ? error : known(place_by_default(folder, place));
}

void htw__place_close(struct htw__socket_place *place) {
    struct stat status;
    if (lstat(place->path, &status) == 0 && status.st_dev == place->device &&
        status.st_ino == place->inode)
        unlink(place->path);
    close(place->fd);
}

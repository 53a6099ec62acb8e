/* SPDX-License-Identifier: MIT */
/*
 * place.h - where the socket of a monitor is, and how it gets there.
 *
 * The process that has locked the file PATH.lock, which only its owner may open, may put a socket at the path, or replace or remove a
 * dead one there: one that refuses connections, as no process listens any more. Nothing else could be locked: a folder
 * by any user who may read it, such as /tmp.
 */
#ifndef HTW_SRC_MONITOR_PLACE_H
#define HTW_SRC_MONITOR_PLACE_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

/* Room for the path of a socket, and for the name of its lock behind it. */
#define HTW__PLACE_PATH_MAX (sizeof(((struct sockaddr_un *)0)->sun_path) - 12)

/* A socket that listens. */
struct htw__socket_place {
    int fd;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    dev_t device; /* which file it is */
    ino_t inode;
};

/* The default folder. 0 or -ENAMETOOLONG. */
int htw__place_folder(char *buffer, size_t size);

/* Before htw__place_open(): where `path` is NULL, makes and checks the default folder, and removes the sockets of
   processes that have died from it. 0 or a negative errno. */
int htw__place_prepare(const char *path);

/* Makes a socket that listens at `path`, or in the default folder for this user alone. 0 or a
   negative errno. */
#define HTW__PLACE_MODE 0600
int htw__place_open(struct htw__socket_place *place, const char *path, mode_t mode);

/* Closes the socket, and removes it if it is still the file at its path. */
void htw__place_close(struct htw__socket_place *place);

#endif /* HTW_SRC_MONITOR_PLACE_H */

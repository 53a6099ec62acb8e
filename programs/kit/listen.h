/* SPDX-License-Identifier: MIT */
/* listen.h - where servers listen. */
#ifndef HTW_KIT_LISTEN_H
#define HTW_KIT_LISTEN_H

#include "../../src/monitor/place.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether it is [ADDRESS:]PORT, of which a name need not exist. Returns NULL, or why not (a static phrase). */
const char *htw__listen_check(const char *where);

struct htw__listener {
    int fd;
    bool is_local; /* only this machine reaches it, or at a path whom its mode allows */
    bool is_path;
    bool has_place; /* and it was made here */
    struct htw__socket_place place;
    char name[128]; /* for people: ADDRESS:PORT, of port 0 the one that was chosen, or the path */
};

/* Listens at [ADDRESS:]PORT, without an address at 127.0.0.1, or at unix:PATH, with this mode and in place of a socket whose process has died.
 * Returns NULL, or why that failed (a static phrase, or one of strerror()). */
#define HTW__LISTEN_MODE 0600 /* this user alone */
const char *htw__listen_open(struct htw__listener *listener, const char *where, unsigned mode);

/* Takes a socket that listens already. Returns as htw__listen_open(). */
const char *htw__listen_adopt(struct htw__listener *listener, int fd);
void htw__listen_close(struct htw__listener *listener);

/* ---- sockets that systemd has opened for the program: sd_listen_fds(3) */

#define HTW__ACTIVATION_FIRST 3 /* the first of the descriptors, which follow each other */
#define HTW__ACTIVATION_MAX 9

/* Takes the descriptors out of the variables LISTEN_PID and LISTEN_FDS, and removes these: no child has them. Those for another
 * process do not count. To be called once, before there are threads. Returns NULL, or why not (a static phrase). */
const char *htw__activation_take(uint32_t *ret_count);

/*
 * ---- the socket beside the file of a journal, FILE-socket, at which `htw serve` does for `htw journal` what this cannot do
 * while the server has the file open
 *
 * The path of a socket has room for 100 bytes. So it is reached through a descriptor of the folder, whose path is short.
 */

#define HTW__BESIDE_PATH 108

struct htw__beside {
    int folder;                  /* -1: none */
    char path[HTW__BESIDE_PATH]; /* valid in this process, until it is closed */
};

/* `file` exists. Returns 0 or a negative errno; either way `self` is to be closed. */
int htw__beside_open(struct htw__beside *self, const char *file);
void htw__beside_close(struct htw__beside *self);

#endif /* HTW_KIT_LISTEN_H */

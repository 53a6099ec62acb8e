/* SPDX-License-Identifier: MIT */
/* listen.h - where servers listen. */
#ifndef HTW_KIT_LISTEN_H
#define HTW_KIT_LISTEN_H

#include "../../src/monitor/place.h"

#include <stdbool.h>

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

#endif /* HTW_KIT_LISTEN_H */

/* SPDX-License-Identifier: MIT */
/*
 * tube.h - what the server knows of a tube beside the queue of the journal: who uses it, and what it counts.
 *
 * It is there as long as connections use or watch it, or jobs of it are reserved. Without these it is idle, and stays for
 * its counts while it has a queue. If that ends later, as by the end of a pause, new tubes release it.
 */
#ifndef HTW_SERVE_TUBE_H
#define HTW_SERVE_TUBE_H

#include "server.h"

struct htw__tube {
    struct htw__key_node node; /* by name */
    struct htw__link all;      /* in the list of the server */
    uint64_t users, watchers;
    uint64_t
        holders; /* reservations, and operations under way; of the tube `default` one more, for ever */
    uint64_t total_jobs, deletes, pauses;
    uint32_t pause_s;
    char name[];
};

/* The tube, or a new one that is not used yet, and htw__tube_release() is due; NULL: no memory. */
struct htw__tube *htw__tube_get(struct htw__server *server, const char *name);

/* To be called when one of its users has gone. May free it. */
void htw__tube_release(struct htw__server *server, struct htw__tube *tube);

/* Appends the names of those that are not idle, each with its NUL. */
void htw__tubes_in_use(const struct htw__server *server, struct htw__buffer *ret_names);

/* Whether it exists for clients: a connection uses or watches it, or it has jobs. */
bool htw__tube_exists(const struct htw__server *server, const char *name);

/* ---- those that a connection watches */

/* False: it watches as many as it may, or there is no memory. */
#define HTW__WATCHED_MAX 10000
bool htw__tube_watch(struct htw__connection *connection, const char *name);

/* False: it is the only one. */
bool htw__tube_ignore(struct htw__connection *connection, const char *name);
void htw__tube_ignore_all(struct htw__connection *connection);

/* ---- all */

void htw__tubes_init(struct htw__server *server, const struct htw_allocator *allocator);
void htw__tubes_fini(struct htw__server *server);

#endif /* HTW_SERVE_TUBE_H */

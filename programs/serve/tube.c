/* SPDX-License-Identifier: MIT */
/* tube.c - the table of tubes. */
#include "tube.h"

#include <stdlib.h>
#include <string.h>

#define SWEPT 2 /* tubes for each new one: so there are never many idle ones without a queue */

static bool has_queue(const struct htw__server *server, const char *name) {
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    return htw_journal_get_queue(server->journal, name, &stats) == 0;
}

static struct htw__tube *tube_of(struct htw__key_node *node) {
    return (struct htw__tube *)(void *)node;
}

static bool is_idle(const struct htw__tube *tube) {
    return tube->users + tube->watchers + tube->holders == 0;
}

/* NULL: there is none. */
static struct htw__tube *find(const struct htw__server *server, const char *name) {
    size_t size = strlen(name);
    struct htw__key_node *node =
        htw__key_table_find(&server->tubes, htw__key_hash(name, size, server->seed), name, size);
    return node == NULL ? NULL : tube_of(node);
}

/* Releases some tubes, the next ones each time: their queues may have ended since they became idle. */
static void sweep(struct htw__server *server) {
    struct htw__link *link;
    for (int i = 0; i < SWEPT && (link = htw__ring_pop_front(&server->all_tubes)) != NULL; i++) {
        htw__ring_push_back(&server->all_tubes, link);
        htw__tube_release(server, HTW__HOLDER(link, htw__tube, all));
    }
}

struct htw__tube *htw__tube_get(struct htw__server *server, const char *name) {
    struct htw__tube *tube = find(server, name);
    size_t size = strlen(name);
    if (tube != NULL)
        return tube;
    sweep(server);
    tube = calloc(1, sizeof(*tube) + size + 1);
    if (tube == NULL)
        return NULL;
    memcpy(tube->name, name, size + 1);
    htw__key_node_set(&tube->node, htw__key_hash(name, size, server->seed), tube->name, size);
    htw__key_table_insert(&server->tubes, &tube->node);
    htw__ring_push_back(&server->all_tubes, &tube->all);
    return tube;
}

void htw__tube_release(struct htw__server *server, struct htw__tube *tube) {
    if (!is_idle(tube) || has_queue(server, tube->name))
        return;
    htw__key_table_remove(&server->tubes, &tube->node);
    htw__link_unlink(&tube->all);
    free(tube);
}

void htw__tubes_in_use(const struct htw__server *server, struct htw__buffer *ret_names) {
    for (const struct htw__link *link = server->all_tubes._next; link != &server->all_tubes;
         link = link->_next) {
        const struct htw__tube *tube = HTW__HOLDER(link, htw__tube, all);
        if (!is_idle(tube))
            htw__buffer_append(ret_names, tube->name, strlen(tube->name) + 1);
    }
}

bool htw__tube_exists(const struct htw__server *server, const char *name) {
    const struct htw__tube *tube = find(server, name);
    return (tube != NULL && !is_idle(tube)) || has_queue(server, name);
}

/* ---- those that a connection watches */

/* Where the name is among those, by its address: of 10 000 that takes some microseconds. Their count: it is not watched. */
static size_t place_of(const struct htw__connection *connection, const struct htw__tube *tube) {
    size_t place = 0;
    while (place < connection->watched_count &&
           (tube == NULL || connection->watched[place] != tube->name))
        place++;
    return place;
}

static bool grow(struct htw__connection *connection) {
    size_t count = connection->watched_count;
    if (count > 0 && (count & (count - 1)) != 0) /* it doubles at powers of two */
        return true;
    const char **watched =
        realloc(connection->watched, (count == 0 ? 1 : 2 * count) * sizeof(*watched));
    if (watched != NULL)
        connection->watched = watched;
    return watched != NULL;
}

bool htw__tube_watch(struct htw__connection *connection, const char *name) {
    struct htw__tube *tube = find(connection->server, name);
    if (place_of(connection, tube) < connection->watched_count)
        return true;
    if (connection->watched_count >= HTW__WATCHED_MAX || !grow(connection) ||
        (tube = htw__tube_get(connection->server, name)) == NULL)
        return false;
    tube->watchers++;
    connection->watched[connection->watched_count++] = tube->name;
    return true;
}

static void release_watched(struct htw__server *server, const char *name) {
    struct htw__tube *tube = HTW__HOLDER(name, htw__tube, name);
    tube->watchers--;
    htw__tube_release(server, tube);
}

bool htw__tube_ignore(struct htw__connection *connection, const char *name) {
    struct htw__tube *tube = find(connection->server, name);
    size_t place = place_of(connection, tube);
    if (place == connection->watched_count)
        return true;
    if (connection->watched_count == 1)
        return false;
    connection->watched[place] = connection->watched[--connection->watched_count];
    release_watched(connection->server, tube->name);
    return true;
}

void htw__tube_ignore_all(struct htw__connection *connection) {
    while (connection->watched_count > 0)
        release_watched(connection->server, connection->watched[--connection->watched_count]);
}

/* ---- all */

void htw__tubes_init(struct htw__server *server, const struct htw_allocator *allocator) {
    htw__key_table_init(&server->tubes, allocator);
    htw__ring_init(&server->all_tubes);
}

void htw__tubes_fini(struct htw__server *server) {
    struct htw__key_node *node;
    while ((node = htw__key_table_remove_any(&server->tubes)) != NULL)
        free(tube_of(node));
    htw__key_table_fini(&server->tubes);
}

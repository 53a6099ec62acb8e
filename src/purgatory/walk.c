/* SPDX-License-Identifier: MIT */
#include "walk.h"

#include "request.h"
#include "watch.h"

/* The watch from which the walk goes on: behind its cursor, or where it begins. */
static struct htw__link *place(const struct htw__walk *walk) {
    return walk->has_cursor ? walk->cursor._link._next : walk->key->watches._next;
}

static bool is_end(const struct htw__walk *walk, const struct htw__link *link) {
    return link == &walk->key->watches || link == &walk->end._link;
}

static void unlink_markers(struct htw__walk *walk) {
    if (walk->has_cursor)
        htw__link_unlink(&walk->cursor._link);
    if (walk->has_end)
        htw__link_unlink(&walk->end._link);
    walk->has_cursor = false;
    walk->has_end = false;
}

/* What comes after a watch that is visited; where nothing does, no marker is needed any more. */
static void mark_place(struct htw__walk *walk, struct htw__watch *watch) {
    struct htw__link *next = watch->_link._next;
    if (is_end(walk, next)) {
        unlink_markers(walk);
        walk->key = NULL;
        return;
    }
    if (walk->has_cursor)
        htw__link_unlink(&walk->cursor._link);
    htw__link_insert(&watch->_link._next, &walk->cursor._link);
    walk->has_cursor = true;
}

/* Takes the next request that `take` accepts; NULL at the end. Under the lock. */
static struct htw_request *take_next(struct htw__walk *walk) {
    for (struct htw__link *link = place(walk); !is_end(walk, link); link = link->_next) {
        struct htw__watch *watch = htw__watch_of(link);
        bool marked;
        if (watch->_request == NULL) /* a marker of another walk */
            continue;
        if (walk->mark == 0 ? htw__request_take(watch->_request)
                            : htw__request_force(watch->_request, walk->mark, &marked)) {
            mark_place(walk, watch);
            return watch->_request;
        }
    }
    struct htw__watched_key *key = walk->key;
    unlink_markers(walk);
    walk->key = NULL;
    htw__watched_key_leave(walk->shard, key);
    return NULL;
}

/* Begins at the first watch of `walk->key`. Requests that come later are behind the end. */
static struct htw_request *take_first(struct htw__walk *walk) {
    if (walk->key == NULL)
        return NULL;
    struct htw__link *watches = &walk->key->watches;
    if (watches->_next->_next != watches) {
        walk->end._request = NULL;
        htw__ring_push_back(watches, &walk->end._link);
        walk->has_end = true;
    }
    return take_next(walk);
}

struct htw_request *htw__walk_begin(struct htw__walk *walk, uint64_t hash, const void *key,
                                    size_t size) {
    htw__lock_take(&walk->shard->lock);
    walk->key = htw__watched_key_find(walk->shard, hash, key, size);
    struct htw_request *request = take_first(walk);
    htw__lock_give(&walk->shard->lock);
    return request;
}

struct htw_request *htw__walk_begin_orphan(struct htw__walk *walk) {
    htw__lock_take(&walk->shard->lock);
    walk->shard->closed = true;
    struct htw_request *request = NULL;
    /* Of some keys all the requests may be busy, and marked. */
    while (request == NULL && (walk->key = htw__watched_key_orphan(walk->shard)) != NULL)
        request = take_first(walk);
    htw__lock_give(&walk->shard->lock);
    return request;
}

struct htw_request *htw__walk_next(struct htw__walk *walk) {
    if (walk->key == NULL)
        return NULL;
    htw__lock_take(&walk->shard->lock);
    struct htw_request *request = take_next(walk);
    htw__lock_give(&walk->shard->lock);
    return request;
}

void htw__walk_stop(struct htw__walk *walk) {
    if (walk->key == NULL)
        return;
    htw__lock_take(&walk->shard->lock);
    unlink_markers(walk);
    htw__watched_key_leave(walk->shard, walk->key);
    htw__lock_give(&walk->shard->lock);
}

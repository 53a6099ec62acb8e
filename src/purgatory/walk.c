/* SPDX-License-Identifier: MIT */
/* walk.c - visits the requests that wait on a key, with no lock held in between. */
#include "walk.h"

#include "watch.h"

/* How many watches are counted under one lock. */
#define BUDGET 64u

static void unlink_markers(struct htw__walk *walk) {
    if (walk->has_markers) {
        htw__link_unlink(&walk->cursor._link);
        htw__link_unlink(&walk->end._link);
    }
    walk->has_markers = false;
}

/* The walk has ended. */
static void finish(struct htw__walk *walk) {
    unlink_markers(walk);
    htw__watched_key_free_if_unused(walk->purgatory, walk->shard, walk->key);
    walk->key = NULL;
}

/* The walk continues behind `last`. */
static void mark_place(struct htw__walk *walk, struct htw__link *last) {
    if (walk->has_markers) {
        htw__link_unlink(&walk->cursor._link);
    } else {
        HTW__ANNOTATE_OWN(walk, sizeof(*walk));
        walk->cursor._key = 0;
        walk->end._key = 0;
        htw__ring_push_back(&walk->key->watches, &walk->end._link);
        walk->has_markers = true;
    }
    htw__link_insert(&last->_next, &walk->cursor._link);
}

static bool is_end(const struct htw__walk *walk, const struct htw__link *link) {
    return link == &walk->key->watches || link == &walk->end._link;
}

static bool own(struct htw__walk *walk, struct htw_request *request) {
    if (walk->mark == 0)
        return htw__request_own(request);
    bool marked;
    bool owned = htw__request_own_to_end(request, walk->mark, &marked);
    walk->marked += marked;
    return owned;
}

/* Under the lock. */
static struct htw_request *own_first(struct htw__walk *walk, struct htw__link *from) {
    for (struct htw__link *link = from; !is_end(walk, link); link = link->_next) {
        struct htw_request *request = htw__watch_request(htw__watch_of(link));
        if (request == NULL || !own(walk, request)) /* a marker of another walk, or busy */
            continue;
        if (is_end(walk, link->_next))
            finish(walk);
        else
            mark_place(walk, link);
        return request;
    }
    finish(walk);
    return NULL;
}

struct htw_request *htw__walk_begin(struct htw__walk *walk, uint64_t hash, const void *key,
                                    size_t size) {
    struct htw_request *request = NULL;
    walk->has_markers = false;
    htw__lock_acquire(&walk->shard->lock);
    walk->key = htw__watched_key_find(walk->shard, hash, key, size);
    if (walk->key != NULL)
        request = own_first(walk, walk->key->watches._next);
    htw__lock_release(&walk->shard->lock);
    return request;
}

struct htw_request *htw__walk_begin_orphan(struct htw__walk *walk) {
    struct htw_request *request = NULL;
    walk->has_markers = false;
    if (htw__purgatory_is_child(walk->purgatory))
        return NULL;
    htw__lock_acquire(&walk->shard->lock);
    walk->shard->closed = true;
    /* Keys of which all requests are busy, and marked now, are passed over. */
    while (request == NULL && (walk->key = htw__watched_key_orphan(walk->shard)) != NULL)
        request = own_first(walk, walk->key->watches._next);
    htw__lock_release(&walk->shard->lock);
    return request;
}

struct htw_request *htw__walk_next(struct htw__walk *walk) {
    if (walk->key == NULL || htw__purgatory_is_child(walk->purgatory))
        return NULL;
    htw__lock_acquire(&walk->shard->lock);
    struct htw_request *request = own_first(walk, walk->cursor._link._next);
    htw__lock_release(&walk->shard->lock);
    return request;
}

/* Counts requests from a link on, at most BUDGET. Under the lock. */
static uint64_t count_from(struct htw__walk *walk, struct htw__link *link) {
    uint64_t count = 0;
    for (unsigned steps = 1; !is_end(walk, link); steps++) {
        count += htw__watch_request(htw__watch_of(link)) != NULL;
        struct htw__link *next = link->_next;
        if (steps == BUDGET && !is_end(walk, next)) {
            mark_place(walk, link);
            return count;
        }
        link = next;
    }
    finish(walk);
    return count;
}

uint64_t htw__walk_count(struct htw__walk *walk, uint64_t hash, const void *key, size_t size) {
    uint64_t count = 0;
    walk->has_markers = false;
    htw__lock_acquire(&walk->shard->lock);
    walk->key = htw__watched_key_find(walk->shard, hash, key, size);
    if (walk->key != NULL)
        count = count_from(walk, walk->key->watches._next);
    htw__lock_release(&walk->shard->lock);
    while (walk->key != NULL) {
        htw__lock_acquire(&walk->shard->lock);
        count += count_from(walk, walk->cursor._link._next);
        htw__lock_release(&walk->shard->lock);
    }
    return count;
}

void htw__walk_stop(struct htw__walk *walk) {
    if (walk->key == NULL || htw__purgatory_is_child(walk->purgatory))
        return;
    htw__lock_acquire(&walk->shard->lock);
    finish(walk);
    htw__lock_release(&walk->shard->lock);
}

/* SPDX-License-Identifier: MIT */
/* walk.c - visits the requests that wait on a key, with no lock held in between. */
#include "walk.h"

#include "../base/assert.h"
#include "watch.h"

/* How many watches are counted under one lock. */
#define BUDGET 64u

static void init(struct htw__walk *walk) {
    walk->has_cursor = false;
    walk->has_end = false;
    walk->is_last = false;
    walk->current = NULL;
}

static void unlink_cursor(struct htw__walk *walk) {
    if (walk->has_cursor)
        htw__link_unlink(&walk->cursor._link);
    walk->has_cursor = false;
}

/* No request follows. */
static void finish(struct htw__walk *walk) {
    unlink_cursor(walk);
    if (walk->has_end)
        htw__link_unlink(&walk->end._link);
    htw__watched_key_free_if_unused(walk->purgatory, walk->shard, walk->key);
    walk->key = NULL;
    walk->current = NULL;
}

/* What is linked from now on does not belong to the walk. */
static void link_end(struct htw__walk *walk) {
    if (walk->has_end)
        return;
    HTW__ANNOTATE_OWN(walk, sizeof(*walk));
    walk->end._key = 0;
    htw__ring_push_back(&walk->key->watches, &walk->end._link);
    walk->has_end = true;
}

/* The walk continues behind `last`. */
static void link_cursor(struct htw__walk *walk, struct htw__link *last) {
    walk->cursor._key = 0;
    htw__link_insert(&last->_next, &walk->cursor._link);
    walk->has_cursor = true;
    walk->current = NULL;
}

static bool is_end(const struct htw__walk *walk, const struct htw__link *link) {
    return link == &walk->key->watches || link == &walk->end._link;
}

/* Apart: the common case has no variable whose address is passed on. */
static __attribute__((noinline)) bool own_to_end(struct htw__walk *walk,
                                                 struct htw_request *request) {
    bool marked;
    bool owned = htw__request_own_to_end(request, walk->mark, &marked);
    walk->marked += marked;
    return owned;
}

static inline bool own(struct htw__walk *walk, struct htw_request *request) {
    return walk->mark == 0 ? htw__request_own(request) : own_to_end(walk, request);
}

/* Under the lock. */
static struct htw_request *own_first(struct htw__walk *walk, struct htw__link *from) {
    for (struct htw__link *link = from; !is_end(walk, link); link = link->_next) {
        struct htw_request *request = htw__watch_request(htw__watch_of(link));
        if (request == NULL || !own(walk, request)) /* a marker of another walk, or busy */
            continue;
        if (is_end(walk, link->_next)) {
            finish(walk);
        } else {
            link_end(walk);
            walk->current = htw__watch_of(link);
        }
        return request;
    }
    finish(walk);
    return NULL;
}

struct htw_request *htw__walk_begin(struct htw__walk *walk, const struct htw__key *key) {
    struct htw_request *request = NULL;
    init(walk);
    walk->shard = htw__purgatory_shard_of(walk->purgatory, key->hash);
    htw__lock_acquire(&walk->shard->lock);
    walk->key = htw__watched_key_find(walk->shard, key);
    if (walk->key != NULL)
        request = own_first(walk, walk->key->watches._next);
    htw__lock_release(&walk->shard->lock);
    return request;
}

struct htw_request *htw__walk_begin_orphan(struct htw__walk *walk) {
    struct htw_request *request = NULL;
    init(walk);
    htw__lock_acquire(&walk->shard->lock);
    walk->shard->closed = true;
    /* Keys of which all requests are busy, and marked now, are passed over. */
    while (request == NULL && (walk->key = htw__watched_key_orphan(walk->shard)) != NULL)
        request = own_first(walk, walk->key->watches._next);
    htw__lock_release(&walk->shard->lock);
    return request;
}

struct htw_request *htw__walk_next(struct htw__walk *walk) {
    if (walk->key == NULL)
        return NULL;
    HTW_ASSERT(walk->current == NULL); /* there is a cursor */
    htw__lock_acquire(&walk->shard->lock);
    struct htw__link *next = walk->cursor._link._next;
    unlink_cursor(walk);
    struct htw_request *request = own_first(walk, next);
    htw__lock_release(&walk->shard->lock);
    return request;
}

/* The lock keeps the request in the ring when it is disowned, until the next one was found. */
bool htw__walk_pass(struct htw__walk *walk, struct htw_request **request) {
    struct htw_request *next = NULL;
    bool disowned = true;
    if (walk->key == NULL) {
        disowned = htw__request_disown(*request, HTW__REQUEST_PENDING);
    } else {
        htw__lock_acquire(&walk->shard->lock);
        struct htw__link *link = &walk->current->_link;
        disowned = htw__request_disown(*request, HTW__REQUEST_PENDING);
        if (disowned)
            next = own_first(walk, link->_next);
        else
            link_cursor(walk, link);
        htw__lock_release(&walk->shard->lock);
    }
    if (disowned)
        *request = next;
    return disowned;
}

/* Puts the cursor in the place of a link, which leaves the ring. */
static void replace_by_cursor(struct htw__walk *walk, const struct htw__link *old) {
    struct htw__link *link = &walk->cursor._link;
    walk->cursor._key = 0;
    *link = *old;
    *link->_back = link;
    link->_next->_back = &link->_next;
    walk->has_cursor = true;
    walk->current = NULL;
}

void htw__walk_unlink(struct htw__walk *walk, struct htw__purgatory_shard *shard,
                      struct htw__watch *watch) {
    if (walk->current != watch) {
        htw__watch_unlink(walk->purgatory, shard, watch);
        return;
    }
    shard->watched--;
    if (walk->is_last || is_end(walk, watch->_link._next)) {
        htw__link_unlink(&watch->_link);
        finish(walk);
        return;
    }
    replace_by_cursor(walk, &watch->_link);
}

/* Counts requests from a link on, at most BUDGET. Under the lock. */
static uint64_t count_from(struct htw__walk *walk, struct htw__link *link) {
    uint64_t count = 0;
    for (unsigned steps = 1; !is_end(walk, link); steps++) {
        count += htw__watch_request(htw__watch_of(link)) != NULL;
        struct htw__link *next = link->_next;
        if (steps == BUDGET && !is_end(walk, next)) {
            link_end(walk);
            link_cursor(walk, link);
            return count;
        }
        link = next;
    }
    finish(walk);
    return count;
}

uint64_t htw__walk_count(struct htw__walk *walk, const struct htw__key *key) {
    uint64_t count = 0;
    init(walk);
    walk->shard = htw__purgatory_shard_of(walk->purgatory, key->hash);
    htw__lock_acquire(&walk->shard->lock);
    walk->key = htw__watched_key_find(walk->shard, key);
    if (walk->key != NULL)
        count = count_from(walk, walk->key->watches._next);
    htw__lock_release(&walk->shard->lock);
    while (walk->key != NULL) {
        htw__lock_acquire(&walk->shard->lock);
        struct htw__link *next = walk->cursor._link._next;
        unlink_cursor(walk);
        count += count_from(walk, next);
        htw__lock_release(&walk->shard->lock);
    }
    return count;
}

void htw__walk_stop(struct htw__walk *walk) {
    walk->is_last = true;
    if (walk->key == NULL || walk->current != NULL)
        return;
    htw__lock_acquire(&walk->shard->lock);
    finish(walk);
    htw__lock_release(&walk->shard->lock);
}

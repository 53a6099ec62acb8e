/* SPDX-License-Identifier: MIT */
/* walk.c - visits the requests that wait on a key, with no lock held in between. */
#include "walk.h"

#include "../base/assert.h"
#include "watch.h"

/* How many watches are counted under one lock. */
#define BUDGET 64u

static void init_walk(struct htw__walk *walk) {
    walk->is_last = false;
    walk->at.cell = NULL;
    walk->end.cell = NULL;
}

static void pin_cell(struct htw__key_cell *cell) {
    cell->pins++;
    HTW_ASSERT(cell->pins != 0);
}

/* No request follows. */
static void end_walk(struct htw__walk *walk) {
    if (walk->at.cell != NULL)
        htw__cell_unpin(walk->shard, walk->key, walk->at.cell);
    if (walk->end.cell != walk->at.cell)
        htw__cell_unpin(walk->shard, walk->key, walk->end.cell);
    htw__watched_key_free_if_unused(walk->purgatory, walk->shard, walk->key);
    walk->key = NULL;
}

/* The walk continues behind this watch. The first time it also ends where the key ends now. */
static void move_to(struct htw__walk *walk, struct htw__walk_position at) {
    struct htw__key_cell *before = walk->at.cell;
    if (walk->end.cell == NULL) {
        struct htw__key_cell *last = htw__watched_key_last(walk->key);
        walk->end = (struct htw__walk_position) { last, last->count };
        pin_cell(last);
    }
    walk->at = at;
    if (at.cell == before)
        return;
    if (at.cell != walk->end.cell)
        pin_cell(at.cell);
    if (before != NULL)
        htw__cell_unpin(walk->shard, walk->key, before);
}

/* Moves to the next request, which may be where `at` is. False: there is none in the walk. */
static bool seek_request(const struct htw__walk *walk, struct htw__walk_position *at) {
    for (;;) {
        unsigned count = at->cell == walk->end.cell ? walk->end.index : at->cell->count;
        for (; at->index < count; at->index++)
            if (at->cell->watches[at->index] != NULL)
                return true;
        if (at->cell == walk->end.cell || at->cell->more == NULL)
            return false;
        *at = (struct htw__walk_position) { at->cell->more, 0 };
    }
}

static struct htw__walk_position position_behind(struct htw__walk_position at) {
    return (struct htw__walk_position) { at.cell, at.index + 1 };
}

/* Apart: the common case has no variable whose address is passed on. */
static __attribute__((noinline)) bool own_to_end(struct htw__walk *walk,
                                                 struct htw_request *request) {
    bool marked;
    bool owned = htw__request_own_to_end(request, walk->mark, &marked);
    walk->marked += marked;
    return owned;
}

/* Under the lock. */
static struct htw_request *own_first(struct htw__walk *walk, struct htw__walk_position at) {
    for (; seek_request(walk, &at); at.index++) {
        struct htw_request *request = at.cell->watches[at.index];
        HTW_ASSERT_REQUEST(request, walk->purgatory);
        if (!(walk->mark == 0 ? htw__request_own(request) : own_to_end(walk, request)))
            continue;
        struct htw__walk_position next = position_behind(at);
        if (seek_request(walk, &next)) {
            HTW__PREFETCH(next.cell->watches[next.index]);
            move_to(walk, at);
        } else {
            end_walk(walk);
        }
        return request;
    }
    end_walk(walk);
    return NULL;
}

struct htw_request *htw__walk_begin(struct htw__walk *walk, const struct htw__key *key) {
    struct htw_request *request = NULL;
    init_walk(walk);
    walk->shard = htw__purgatory_shard_of(walk->purgatory, key->hash);
    htw__lock_acquire(&walk->shard->first.lock);
    walk->key = htw__watched_key_find(walk->shard, key);
    if (walk->key != NULL)
        request = own_first(walk, (struct htw__walk_position) { walk->key, 0 });
    htw__lock_release(&walk->shard->first.lock);
    return request;
}

struct htw_request *htw__walk_begin_orphan(struct htw__walk *walk) {
    struct htw_request *request = NULL;
    init_walk(walk);
    htw__lock_acquire(&walk->shard->first.lock);
    walk->shard->first.is_closed = true;
    /* Keys of which all requests are busy, and marked now, are passed over. */
    while (request == NULL && (walk->key = htw__watched_key_orphan(walk->shard)) != NULL)
        request = own_first(walk, (struct htw__walk_position) { walk->key, 0 });
    htw__lock_release(&walk->shard->first.lock);
    return request;
}

struct htw_request *htw__walk_next(struct htw__walk *walk) {
    if (walk->key == NULL)
        return NULL;
    htw__lock_acquire(&walk->shard->first.lock);
    struct htw_request *request = own_first(walk, position_behind(walk->at));
    htw__lock_release(&walk->shard->first.lock);
    return request;
}

/* The lock keeps the request on its key when it is disowned, until the next one was found. */
bool htw__walk_pass(struct htw__walk *walk, struct htw_request **request) {
    struct htw_request *next = NULL;
    bool disowned;
    if (walk->key == NULL) {
        disowned = htw__request_disown(*request, HTW__REQUEST_PENDING);
    } else {
        htw__lock_acquire(&walk->shard->first.lock);
        disowned = htw__request_disown(*request, HTW__REQUEST_PENDING);
        if (disowned)
            next = own_first(walk, position_behind(walk->at));
        htw__lock_release(&walk->shard->first.lock);
    }
    if (disowned)
        *request = next;
    return disowned;
}

void htw__walk_unlink(struct htw__walk *walk, struct htw__purgatory_shard *shard,
                      const struct htw_request *request, const struct htw__watch *watch) {
    bool is_place = walk->key != NULL && walk->key == htw__watch_key(watch);
    htw__watch_unlink(walk->purgatory, shard, request, watch);
    if (!is_place)
        return;
    struct htw__walk_position next = position_behind(walk->at);
    if (walk->is_last || !seek_request(walk, &next))
        end_walk(walk);
}

/* Counts requests from a watch on, at most BUDGET. Under the lock. */
static uint64_t count_from(struct htw__walk *walk, struct htw__walk_position at) {
    uint64_t count = 0;
    for (; seek_request(walk, &at); at.index++)
        if (++count == BUDGET) {
            move_to(walk, at);
            return count;
        }
    end_walk(walk);
    return count;
}

uint64_t htw__walk_count(struct htw__walk *walk, const struct htw__key *key) {
    uint64_t count = 0;
    init_walk(walk);
    walk->shard = htw__purgatory_shard_of(walk->purgatory, key->hash);
    htw__lock_acquire(&walk->shard->first.lock);
    walk->key = htw__watched_key_find(walk->shard, key);
    struct htw__walk_position at = { walk->key, 0 };
    while (walk->key != NULL) {
        count += count_from(walk, at);
        at = position_behind(walk->at);
        htw__lock_release(&walk->shard->first.lock);
        htw__lock_acquire(&walk->shard->first.lock);
    }
    htw__lock_release(&walk->shard->first.lock);
    return count;
}

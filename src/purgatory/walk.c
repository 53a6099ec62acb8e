/* SPDX-License-Identifier: MIT */
/* walk.c - visits the requests that wait on a key, with no lock held in between. */
#include "walk.h"

#include "../base/assert.h"
#include "watch.h"

/* How many watches are counted under one lock. */
#define BUDGET 64u

static void pin_cell(struct htw__key_cell *cell) {
    cell->pins++;
    HTW_ASSERT(cell->pins != 0);
}

static void unpin_cell(const struct htw__walk *walk, struct htw__key_cell *cell) {
    htw__cell_unpin(walk->purgatory, walk->shard, walk->key, cell);
}

/* No request follows. */
static void end_walk(struct htw__walk *walk) {
    if (walk->next.cell != NULL) {
        unpin_cell(walk, walk->next.cell);
        unpin_cell(walk, walk->end.cell);
    }
    walk->key = NULL;
}

/* The walk continues there. The first time, it also pins its end. */
static void continue_at(struct htw__walk *walk, struct htw__walk_position at) {
    struct htw__key_cell *before = walk->next.cell;
    walk->next = at;
    if (at.cell == before)
        return;
    pin_cell(at.cell);
    if (before != NULL)
        unpin_cell(walk, before);
    else
        pin_cell(walk->end.cell);
}

/* Where the walk enters a cell. */
static inline struct htw__walk_position at_cell(const struct htw__walk *walk,
                                                struct htw__key_cell *cell) {
    return cell == walk->end.cell ? walk->end : (struct htw__walk_position) { cell, cell->linked };
}

/* Moves on to a cell with a watch that was not visited. False: there is none in the walk. */
static inline bool seek_watch(const struct htw__walk *walk, struct htw__walk_position *at) {
    while ((at->watches &= at->cell->linked) == 0) {
        if (at->cell == walk->end.cell)
            return false;
        *at = at_cell(walk, at->cell->more);
    }
    return true;
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
static inline struct htw_request *own_first(struct htw__walk *walk, struct htw__walk_position at) {
    while (seek_watch(walk, &at)) {
        struct htw_request *request = at.cell->watches[htw__lowest_bit(at.watches)];
        HTW_ASSERT_REQUEST(request, walk->purgatory);
        at.watches &= at.watches - 1;
        if (!(walk->mark == 0 ? htw__request_own(request) : own_to_end(walk, request)))
            continue;
        if (seek_watch(walk, &at)) {
            HTW__PREFETCH(at.cell->watches[htw__lowest_bit(at.watches)]);
            continue_at(walk, at);
        } else {
            end_walk(walk);
        }
        return request;
    }
    end_walk(walk);
    return NULL;
}

/* The walk is before the first request of a key. NULL: there is no such key. */
static void begin_walk(struct htw__walk *walk, struct htw__key_cell *key) {
    walk->key = key;
    walk->next.cell = NULL;
    if (key == NULL)
        return;
    struct htw__key_cell *last = htw__watched_key_last(key);
    walk->end = (struct htw__walk_position) { last, last->linked };
}

struct htw_request *htw__walk_begin(struct htw__walk *walk, const struct htw__key *key) {
    struct htw_request *request = NULL;
    walk->shard = key->shard;
    htw__lock_acquire(&walk->shard->first.lock);
    begin_walk(walk, htw__watched_key_find(key));
    if (walk->key != NULL)
        request = own_first(walk, at_cell(walk, walk->key));
    htw__lock_release(&walk->shard->first.lock);
    return request;
}

struct htw_request *htw__walk_begin_orphan(struct htw__walk *walk) {
    struct htw_request *request = NULL;
    struct htw__key_cell *key;
    htw__lock_acquire(&walk->shard->first.lock);
    /* Keys of which all requests are busy, and marked now, are passed over. */
    while (request == NULL && (key = htw__watched_key_orphan(walk->shard)) != NULL) {
        begin_walk(walk, key);
        request = own_first(walk, at_cell(walk, walk->key));
    }
    htw__lock_release(&walk->shard->first.lock);
    return request;
}

struct htw_request *htw__walk_next(struct htw__walk *walk) {
    if (walk->key == NULL)
        return NULL;
    htw__lock_acquire(&walk->shard->first.lock);
    struct htw_request *request = own_first(walk, walk->next);
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
            next = own_first(walk, walk->next);
        htw__lock_release(&walk->shard->first.lock);
    }
    if (disowned)
        *request = next;
    return disowned;
}

void htw__walk_stop(struct htw__walk *walk) {
    if (walk->key == NULL)
        return;
    htw__lock_acquire(&walk->shard->first.lock);
    end_walk(walk);
    htw__lock_release(&walk->shard->first.lock);
}

/* Counts requests from a watch on, at most BUDGET. Under the lock. */
static uint64_t count_from(struct htw__walk *walk, struct htw__walk_position at) {
    uint64_t count = 0;
    for (; seek_watch(walk, &at); at.watches &= at.watches - 1)
        if (count++ == BUDGET) {
            continue_at(walk, at);
            return BUDGET;
        }
    end_walk(walk);
    return count;
}

uint64_t htw__walk_count(struct htw__walk *walk, const struct htw__key *key) {
    uint64_t count = 0;
    walk->shard = key->shard;
    htw__lock_acquire(&walk->shard->first.lock);
    begin_walk(walk, htw__watched_key_find(key));
    if (walk->key != NULL)
        count = count_from(walk, at_cell(walk, walk->key));
    while (walk->key != NULL) {
        htw__lock_release(&walk->shard->first.lock);
        htw__lock_acquire(&walk->shard->first.lock);
        count += count_from(walk, walk->next);
    }
    htw__lock_release(&walk->shard->first.lock);
    return count;
}

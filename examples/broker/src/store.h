/* SPDX-License-Identifier: MIT */
/*
 * store.h - the keys and their values, and what they take.
 *
 * One lock guards everything in it, and is held for a whole command, together with the serving of
 * those whom the command has woken: so a command is one step, for all threads, as in a server
 * with a single one. Every function here is called with the lock held, but init and fini.
 */
#ifndef BROKER_STORE_H
#define BROKER_STORE_H

#include "list.h"
#include "table.h"

#include <pthread.h>
#include <stdint.h>

#include <htw/scheduler.h>

enum entry_kind { ENTRY_STRING, ENTRY_LIST };

struct entry {
    struct table_link link;
    union {
        struct item *string; /* not NULL */
        struct list *list;   /* not NULL; empty only within a command */
    } value;
    /* See blocking.h: the queue of the lists that may have something for those who wait. */
    struct entry *prev;
    struct entry *next;
    /* See expiry.h. */
    struct store *store;
    int64_t deadline_ns;
    htw_handle expiry;
    enum entry_kind kind;
    bool is_queued; /* in the queue */
    size_t key_size;
    char key[];
};

struct store {
    pthread_mutex_t mutex;
    struct table entries;
    struct entry *changed; /* the queue */
    struct htw_scheduler *scheduler;
    int64_t now_ns;  /* see store_now(); 0: not read yet */
    uint64_t seed;   /* of the hashes, so that nobody can foresee which keys collide */
    uint64_t memory; /* bytes of keys, values, timers, and of what is to be delivered later */
    uint64_t expired;
    uint64_t hits;
    uint64_t misses;
};

/* `scheduler` is for the keys' expiry. false: no memory, or no randomness. */
bool store_init(struct store *store, struct htw_scheduler *scheduler);
/* The timers must have ended. */
void store_fini(struct store *store);

void store_lock(struct store *store);
void store_unlock(struct store *store);

/* The time of the scheduler's clock, read once while the lock is held: a command happens at one
   instant, and a key that it has found does not expire in the middle of it. */
int64_t store_now(struct store *store);

/* NULL: no such key. One whose time has come is deleted here, if its timer has not done so yet. */
struct entry *store_find(struct store *store, const char *key, size_t key_size);
size_t store_count(const struct store *store);

/* Bytes that all of it takes. */
uint64_t store_memory(const struct store *store);

/* Sets a string, whatever the key was before; the expiry stays. The item becomes the
   store's. NULL: no memory; then nothing has changed, and the item is the caller's. */
struct entry *store_set(struct store *store, const char *key, size_t key_size, struct item *item);

/* The list of that key, made if there is none, with room for `more` items. NULL: no memory; the
   key must not hold a string. A list that stays empty must be deleted. */
struct entry *store_list(struct store *store, const char *key, size_t key_size, size_t more);

/* Pushes and pops, with regard to memory. A list that has become empty is to be deleted with
   store_delete_if_empty(). */
void store_push(struct store *store, struct entry *entry, enum list_end end, struct item *item);
struct item *store_pop(struct store *store, struct entry *entry, enum list_end end);
void store_delete_if_empty(struct store *store, struct entry *entry);

void store_delete(struct store *store, struct entry *entry);
void store_clear(struct store *store);

#endif /* BROKER_STORE_H */

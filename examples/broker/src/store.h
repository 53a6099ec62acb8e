/* SPDX-License-Identifier: MIT */
/*
 * store.h - the keys, their values, and the memory of both.
 *
 * One lock guards everything. A command holds it until the clients that it wakes are served. So for
 * all threads a command is one atomic step, as in a server with a single thread. Call all functions
 * here under the lock, except init and fini.
 */
#ifndef BROKER_STORE_H
#define BROKER_STORE_H

#include "entry.h"
#include "list.h"
#include "table.h"

#include <pthread.h>

/* Bytes of a timer in the scheduler. */
#define TIMER_COST 64

struct store {
    pthread_mutex_t mutex;
    struct table entries;
    struct entry *changed; /* the queue of changed lists */
    struct htw_scheduler *scheduler;
    int64_t now_ns;  /* see store_now(); 0: not read yet */
    uint64_t seed;   /* of the hashes: clients cannot predict collisions */
    uint64_t memory; /* bytes of keys, values, timers and delayed values */
    uint64_t expired;
    uint64_t hits;
    uint64_t misses;
};

/* `scheduler` runs the timers of keys. Returns false if there is no memory, or no random seed. */
bool store_init(struct store *store, struct htw_scheduler *scheduler);
/* Deletes all keys, and cancels their timers. */
void store_fini(struct store *store);

void store_lock(struct store *store);
void store_unlock(struct store *store);

/* Returns the time, which is read once while the lock is held: so a command has one time, and a key
   that it has found does not expire before it ends. */
int64_t store_now(struct store *store);

/* Returns NULL if there is no such key. Deletes a key whose deadline has passed (its timer is late). */
struct entry *store_find(struct store *store, const char *key, size_t key_size);
size_t store_count(const struct store *store);

/* The memory of the store, in bytes. */
uint64_t store_memory(const struct store *store);

/* Sets a key of any type to a string. Its expiry stays. The store owns the item. Returns NULL if
   there is no memory: then nothing has changed, and the caller still owns the item. */
struct entry *store_set(struct store *store, const char *key, size_t key_size, struct item *item);

/* Returns the list of a key, and creates it if there is none, with room for `more` items; NULL if
   there is no memory. The key must not hold a string. If the list stays empty, delete it. */
struct entry *store_list(struct store *store, const char *key, size_t key_size, size_t more);

/* Push and pop, and count the memory. After a pop, call store_delete_if_empty(). */
void store_push(struct store *store, struct entry *entry, enum list_end end, struct item *item);
struct item *store_pop(struct store *store, struct entry *entry, enum list_end end);
void store_delete_if_empty(struct store *store, struct entry *entry);

/* Cancels the timer of a key, if it has one. */
void store_cancel_timer(struct entry *entry);

void store_delete(struct store *store, struct entry *entry);
void store_clear(struct store *store);

#endif /* BROKER_STORE_H */

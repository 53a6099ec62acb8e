/* SPDX-License-Identifier: MIT */
/* lists.h - what commands and blocked requests do with lists. Under the store's lock. */
#ifndef BROKER_LISTS_H
#define BROKER_LISTS_H

#include "broker.h"

/* The list of that key; NULL if there is none. `ret_wrong_type`: the key holds something else. */
struct entry *lists_find(struct store *store, const void *key, size_t key_size,
                         bool *ret_wrong_type);

/* Takes an item off; deletes the list if that was the last. */
struct item *lists_take(struct store *store, struct entry *entry, enum list_end end);

/* Pushes an item, making the list if need be; those who wait for it are to be served. false: the
   key holds something else, or no memory: the item is the caller's. */
bool lists_give(struct broker *broker, const void *key, size_t key_size, enum list_end end,
                struct item *item);

enum lists_move { LISTS_MOVED, LISTS_WRONG_TYPE, LISTS_NO_MEMORY };

/* Moves an item of `entry`, which has one, to another list, or to the same. Unless it was moved,
   nothing has changed. `ret_copy`: a copy, the caller's. */
enum lists_move lists_move(struct broker *broker, struct entry *entry, enum list_end from,
                           const void *key, size_t key_size, enum list_end to,
                           struct item **ret_copy);

#endif /* BROKER_LISTS_H */

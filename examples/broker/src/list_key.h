/* SPDX-License-Identifier: MIT */
/* list_key.h - operations on the list of a key, for commands and blocked requests. Call them under
   the store's lock. */
#ifndef BROKER_LIST_KEY_H
#define BROKER_LIST_KEY_H

#include "broker.h"

/* Returns the list of a key; NULL if there is none. `ret_wrong_type`: the key holds a string. */
struct entry *list_key_find(struct store *store, const void *key, size_t key_size,
                            bool *ret_wrong_type);

/* Pops an item, and deletes the list if it was the last one. The caller owns the item. */
struct item *list_key_pop(struct store *store, struct entry *entry, enum list_end end);

/* Pushes an item, and creates the list if there is none. Call blocking_serve() afterwards. Returns
   false if the key holds a string or there is no memory: then the caller still owns the item. */
bool list_key_push(struct broker *broker, const void *key, size_t key_size, enum list_end end,
                   struct item *item);

enum list_key_move { LIST_KEY_MOVED, LIST_KEY_WRONG_TYPE, LIST_KEY_NO_MEMORY };

/* Moves an item of the list `entry`, which must not be empty, to the list of `key`, which may be
   the same. If it is not moved, nothing has changed. `ret_copy`: a copy of the item, for the
   caller. */
enum list_key_move list_key_move(struct broker *broker, struct entry *entry, enum list_end from,
                                 const void *key, size_t key_size, enum list_end to,
                                 struct item **ret_copy);

#endif /* BROKER_LIST_KEY_H */

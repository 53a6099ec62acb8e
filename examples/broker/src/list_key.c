/* SPDX-License-Identifier: MIT */
/* list_key.c - operations on the list of a key. */
#include "list_key.h"

#include "blocking.h"

#include <stdlib.h>

struct entry *list_key_find(struct store *store, const void *key, size_t key_size,
                            bool *ret_wrong_type) {
    struct entry *entry = store_find(store, key, key_size);
    *ret_wrong_type = entry != NULL && entry->kind != ENTRY_LIST;
    return *ret_wrong_type ? NULL : entry;
}

struct item *list_key_pop(struct store *store, struct entry *entry, enum list_end end) {
    struct item *item = store_pop(store, entry, end);
    store_delete_if_empty(store, entry);
    return item;
}

bool list_key_push(struct broker *broker, const void *key, size_t key_size, enum list_end end,
                   struct item *item) {
    bool wrong_type;
    struct entry *entry = list_key_find(&broker->store, key, key_size, &wrong_type);
    entry = wrong_type ? NULL : store_list(&broker->store, key, key_size, 1);
    if (entry == NULL)
        return false;
    store_push(&broker->store, entry, end, item);
    blocking_list_changed(broker, entry);
    return true;
}

enum list_key_move list_key_move(struct broker *broker, struct entry *entry, enum list_end from,
                                 const void *key, size_t key_size, enum list_end to,
                                 struct item **ret_copy) {
    struct store *store = &broker->store;
    bool wrong_type;
    list_key_find(store, key, key_size, &wrong_type);
    if (wrong_type)
        return LIST_KEY_WRONG_TYPE;
    const struct list *list = entry->value.list;
    const struct item *next = list_at(list, from == LIST_LEFT ? 0 : list->count - 1);
    struct item *copy = item_create(next->bytes, next->size);
    struct entry *target = copy == NULL ? NULL : store_list(store, key, key_size, 1);
    if (target == NULL) {
        free(copy);
        return LIST_KEY_NO_MEMORY;
    }
    store_push(store, target, to, store_pop(store, entry, from));
    blocking_list_changed(broker, target);
    store_delete_if_empty(store, entry); /* keeps it if it is also the target */
    *ret_copy = copy;
    return LIST_KEY_MOVED;
}

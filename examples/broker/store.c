/* SPDX-License-Identifier: MIT */
/* A failure to grow the table is told by `tbl`, instead of ending the program. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(entry) ((entry)->hh.tbl = NULL)
#include "store.h"

#include "expiry.h"

#include <stdlib.h>
#include <sys/random.h>
#include <utlist.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* uthash counts in unsigned, and converts without saying so. */
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"

bool store_init(struct store *store, struct htw_scheduler *scheduler) {
    *store = (struct store) { .scheduler = scheduler };
    return getrandom(&store->seed, sizeof(store->seed), 0) == sizeof(store->seed) &&
           pthread_mutex_init(&store->mutex, NULL) == 0;
}

void store_fini(struct store *store) {
    store_clear(store);
    pthread_mutex_destroy(&store->mutex);
}

void store_lock(struct store *store) {
    pthread_mutex_lock(&store->mutex);
}

void store_unlock(struct store *store) {
    pthread_mutex_unlock(&store->mutex);
}

static unsigned hash(const struct store *store, const char *key, size_t key_size) {
    return (unsigned)XXH3_64bits_withSeed(key, key_size, store->seed);
}

struct entry *store_find(struct store *store, const char *key, size_t key_size) {
    struct entry *entry;
    HASH_FIND_BYHASHVALUE(hh, store->entries, key, (unsigned)key_size, hash(store, key, key_size),
                          entry);
    return entry;
}

size_t store_count(const struct store *store) {
    return HASH_COUNT(store->entries);
}

static size_t entry_cost(const struct entry *entry) {
    return sizeof(*entry) + entry->key_size + 4 * sizeof(void *) +
           (entry->kind == ENTRY_LIST ? sizeof(struct list) : 0);
}

/* A key that is not there yet, of a kind, with no value. */
static struct entry *add(struct store *store, const char *key, size_t key_size,
                         enum entry_kind kind) {
    struct entry *entry = calloc(1, sizeof(*entry) + key_size);
    if (entry == NULL)
        return NULL;
    memcpy(entry->key, key, key_size);
    entry->key_size = key_size;
    entry->kind = kind;
    entry->store = store;
    entry->deadline_ns = HTW_FOREVER;
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, store->entries, entry->key, (unsigned)key_size,
                                hash(store, key, key_size), entry);
    if (entry->hh.tbl == NULL) {
        free(entry);
        return NULL;
    }
    store->memory += entry_cost(entry);
    return entry;
}

static void free_value(struct store *store, struct entry *entry) {
    if (entry->kind == ENTRY_STRING && entry->value.string != NULL) {
        store->memory -= item_cost(entry->value.string);
        free(entry->value.string);
    } else if (entry->kind == ENTRY_LIST && entry->value.list != NULL) {
        for (size_t i = 0; i < entry->value.list->count; i++)
            store->memory -= item_cost(list_at(entry->value.list, i));
        list_fini(entry->value.list);
        free(entry->value.list);
    }
    entry->value.string = NULL;
}

static void leave_queue(struct store *store, struct entry *entry) {
    if (entry->is_queued)
        DL_DELETE(store->changed, entry);
    entry->is_queued = false;
}

struct entry *store_set(struct store *store, const char *key, size_t key_size, struct item *item) {
    struct entry *entry = store_find(store, key, key_size);
    if (entry == NULL)
        entry = add(store, key, key_size, ENTRY_STRING);
    if (entry == NULL)
        return NULL;
    free_value(store, entry);
    leave_queue(store, entry);
    store->memory -= entry_cost(entry);
    entry->kind = ENTRY_STRING;
    entry->value.string = item;
    store->memory += entry_cost(entry) + item_cost(item);
    return entry;
}

struct entry *store_list(struct store *store, const char *key, size_t key_size, size_t more) {
    struct entry *entry = store_find(store, key, key_size);
    if (entry == NULL) {
        entry = add(store, key, key_size, ENTRY_LIST);
        if (entry == NULL)
            return NULL;
        entry->value.list = calloc(1, sizeof(*entry->value.list));
    }
    if (entry->value.list == NULL || !list_reserve(entry->value.list, more)) {
        store_delete_if_empty(store, entry);
        return NULL;
    }
    return entry;
}

void store_push(struct store *store, struct entry *entry, enum list_end end, struct item *item) {
    store->memory += item_cost(item);
    list_push(entry->value.list, end, item);
}

struct item *store_pop(struct store *store, struct entry *entry, enum list_end end) {
    struct item *item = list_pop(entry->value.list, end);
    store->memory -= item_cost(item);
    return item;
}

void store_delete_if_empty(struct store *store, struct entry *entry) {
    if (entry->value.list == NULL || entry->value.list->count == 0)
        store_delete(store, entry);
}

void store_delete(struct store *store, struct entry *entry) {
    HASH_DEL(store->entries, entry);
    store->memory -= entry_cost(entry);
    free_value(store, entry);
    leave_queue(store, entry);
    if (expiry_abandon(entry))
        free(entry);
}

void store_clear(struct store *store) {
    struct entry *entry, *next;
    HASH_ITER(hh, store->entries, entry, next)
    store_delete(store, entry);
}

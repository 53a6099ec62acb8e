/* SPDX-License-Identifier: MIT */
/* store.c - keys and values, and their memory. */
#include "store.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>
#include <utlist.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

bool store_init(struct store *store, struct htw_scheduler *scheduler) {
    *store = (struct store) { .scheduler = scheduler };
    return getrandom(&store->seed, sizeof(store->seed), 0) == sizeof(store->seed) &&
           table_init(&store->entries) && pthread_mutex_init(&store->mutex, NULL) == 0;
}

void store_fini(struct store *store) {
    store_clear(store);
    table_fini(&store->entries);
    pthread_mutex_destroy(&store->mutex);
}

void store_lock(struct store *store) {
    pthread_mutex_lock(&store->mutex);
    store->now_ns = 0;
}

void store_unlock(struct store *store) {
    pthread_mutex_unlock(&store->mutex);
}

int64_t store_now(struct store *store) {
    if (store->now_ns == 0)
        store->now_ns = htw_scheduler_now(store->scheduler);
    return store->now_ns;
}

static uint32_t hash(const struct store *store, const char *key, size_t key_size) {
    return (uint32_t)XXH3_64bits_withSeed(key, key_size, store->seed);
}

struct entry *store_find(struct store *store, const char *key, size_t key_size) {
    struct entry *entry = table_find(&store->entries, hash(store, key, key_size), key, key_size);
    if (entry == NULL || entry->deadline_ns == HTW_NEVER_NS ||
        entry->deadline_ns > store_now(store))
        return entry;
    store->expired++;
    store_delete(store, entry);
    return NULL;
}

size_t store_count(const struct store *store) {
    return store->entries.entry_count;
}

uint64_t store_memory(const struct store *store) {
    return store->memory + table_memory(&store->entries);
}

static size_t entry_cost(const struct entry *entry) {
    return block_cost(sizeof(*entry) + entry->key_size) +
           (entry->kind == ENTRY_LIST ? block_cost(sizeof(struct list)) : 0) +
           (entry->expiry != 0 ? TIMER_COST : 0);
}

/* Adds a key that does not exist yet, without a value. */
static struct entry *add(struct store *store, const char *key, size_t key_size,
                         enum entry_kind kind) {
    struct entry *entry = calloc(1, sizeof(*entry) + key_size);
    if (entry == NULL)
        return NULL;
    memcpy(entry->key, key, key_size);
    entry->key_size = key_size;
    entry->kind = kind;
    entry->store = store;
    entry->deadline_ns = HTW_NEVER_NS;
    entry->hash = hash(store, key, key_size);
    table_insert(&store->entries, entry);
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
        store->memory -= list_cost(entry->value.list);
        list_fini(entry->value.list);
        free(entry->value.list);
    }
    entry->value.string = NULL;
}

static void remove_from_queue(struct store *store, struct entry *entry) {
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
    remove_from_queue(store, entry);
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
    if (entry->value.list != NULL) {
        size_t before = list_cost(entry->value.list);
        bool has_room = list_reserve(entry->value.list, more);
        store->memory += list_cost(entry->value.list) - before;
        if (has_room)
            return entry;
    }
    store_delete_if_empty(store, entry);
    return NULL;
}

void store_push(struct store *store, struct entry *entry, enum list_end end, struct item *item) {
    store->memory += item_cost(item);
    list_push(entry->value.list, end, item);
}

struct item *store_pop(struct store *store, struct entry *entry, enum list_end end) {
    size_t before = list_cost(entry->value.list);
    struct item *item = list_pop(entry->value.list, end);
    store->memory += list_cost(entry->value.list) - before - item_cost(item);
    return item;
}

void store_delete_if_empty(struct store *store, struct entry *entry) {
    if (entry->value.list == NULL || entry->value.list->count == 0)
        store_delete(store, entry);
}

void store_cancel_timer(struct entry *entry) {
    if (entry->expiry == 0)
        return;
    int outcome = htw_cancel(entry->store->scheduler, entry->expiry);
    assert(outcome == HTW_CANCELLED); /* no callback runs under the lock */
    (void)outcome;
}

/* Frees an entry that is no longer in the table. */
static void release(struct store *store, struct entry *entry) {
    store->memory -= entry_cost(entry);
    free_value(store, entry);
    remove_from_queue(store, entry);
    store_cancel_timer(entry);
    free(entry);
}

void store_delete(struct store *store, struct entry *entry) {
    table_remove(&store->entries, entry);
    release(store, entry);
}

void store_clear(struct store *store) {
    struct entry *next;
    for (struct entry *entry = table_remove_all(&store->entries); entry != NULL; entry = next) {
        next = entry->next_in_bucket;
        release(store, entry);
    }
}

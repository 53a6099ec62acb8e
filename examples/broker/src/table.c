/* SPDX-License-Identifier: MIT */
/* table.c - linear hashing. */
#include "table.h"

#include "entry.h"

#include <stdlib.h>
#include <string.h>

#define SEGMENT 1024 /* buckets in a segment */

static struct entry **bucket(const struct table *table, size_t index) {
    return &table->segments[index / SEGMENT][index % SEGMENT];
}

/* Returns the highest power of two that is at most `value`, which is not 0. */
static size_t power_below(size_t value) {
    return (size_t)1 << (63 - __builtin_clzll(value));
}

/* A bucket from `bucket_count` on does not exist yet: its entries are in the bucket whose number
   lacks the top bit. */
static size_t index_of(const struct table *table, uint32_t hash) {
    size_t power = power_below(table->bucket_count);
    size_t index = hash & (2 * power - 1);
    return index < table->bucket_count ? index : hash & (power - 1);
}

static bool add_segment(struct table *table) {
    if (table->segment_count == table->segment_capacity) {
        size_t capacity = table->segment_capacity == 0 ? 16 : 2 * table->segment_capacity;
        struct entry ***segments = realloc(table->segments, capacity * sizeof(*segments));
        if (segments == NULL)
            return false;
        table->segments = segments;
        table->segment_capacity = capacity;
    }
    struct entry **segment = calloc(SEGMENT, sizeof(struct entry *));
    if (segment == NULL)
        return false;
    table->segments[table->segment_count++] = segment;
    return true;
}

bool table_init(struct table *table) {
    *table = (struct table) { .bucket_count = 1 };
    return add_segment(table);
}

void table_fini(struct table *table) {
    for (size_t i = 0; i < table->segment_count; i++)
        free(table->segments[i]);
    free(table->segments);
    *table = (struct table) { .segments = NULL };
}

struct entry *table_find(const struct table *table, uint32_t hash, const char *key,
                         size_t key_size) {
    struct entry *entry = *bucket(table, index_of(table, hash));
    while (entry != NULL && (entry->hash != hash || entry->key_size != key_size ||
                             memcmp(entry->key, key, key_size) != 0))
        entry = entry->next_in_bucket;
    return entry;
}

/* Adds a bucket, and moves its entries to it. All of them are in one other bucket. */
static void split(struct table *table) {
    if (table->bucket_count == table->segment_count * SEGMENT && !add_segment(table))
        return;
    size_t added = table->bucket_count++;
    struct entry **from = bucket(table, added - power_below(added)), **to = bucket(table, added);
    while (*from != NULL) {
        struct entry *entry = *from;
        if (index_of(table, entry->hash) != added) {
            from = &entry->next_in_bucket;
            continue;
        }
        *from = entry->next_in_bucket;
        entry->next_in_bucket = *to;
        *to = entry;
    }
}

/* Removes the last bucket. */
static void merge(struct table *table) {
    size_t last = --table->bucket_count;
    struct entry **to = bucket(table, last - power_below(last)), **from = bucket(table, last);
    while (*to != NULL)
        to = &(*to)->next_in_bucket;
    *to = *from;
    *from = NULL;
    /* Keeps one empty segment: the next insertion may need it. */
    if (table->bucket_count + SEGMENT <= (table->segment_count - 1) * SEGMENT)
        free(table->segments[--table->segment_count]);
}

void table_insert(struct table *table, struct entry *entry) {
    struct entry **first = bucket(table, index_of(table, entry->hash));
    entry->next_in_bucket = *first;
    *first = entry;
    if (++table->entry_count > table->bucket_count)
        split(table);
}

void table_remove(struct table *table, struct entry *entry) {
    struct entry **at = bucket(table, index_of(table, entry->hash));
    while (*at != entry)
        at = &(*at)->next_in_bucket;
    *at = entry->next_in_bucket;
    table->entry_count--;
    for (int i = 0; i < 2 && table->bucket_count > 2 * table->entry_count + 1; i++)
        merge(table);
}

struct entry *table_remove_all(struct table *table) {
    struct entry *all = NULL, *next;
    for (size_t i = 0; i < table->bucket_count; i++) {
        for (struct entry *entry = *bucket(table, i); entry != NULL; entry = next) {
            next = entry->next_in_bucket;
            entry->next_in_bucket = all;
            all = entry;
        }
    }
    while (table->segment_count > 1)
        free(table->segments[--table->segment_count]);
    memset(table->segments[0], 0, SEGMENT * sizeof(struct entry *));
    table->bucket_count = 1;
    table->entry_count = 0;
    return all;
}

size_t table_memory(const struct table *table) {
    return table->segment_count * SEGMENT * sizeof(struct entry *);
}

/* SPDX-License-Identifier: MIT */
/*
 * table.h - the hash table of the keys. It uses linear hashing, so that no single insertion or
 * removal is slow.
 *
 * The table has about as many buckets as entries. An insertion splits at most one bucket, a removal
 * merges at most two. So all entries are never moved at once. For the same reason buckets are
 * allocated in segments, one at a time. Without memory for a segment chains become longer, and
 * nothing fails.
 */
#ifndef BROKER_TABLE_H
#define BROKER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct entry;

struct table {
    struct entry ***segments;
    size_t segment_count;
    size_t segment_capacity;
    size_t bucket_count;
    size_t entry_count;
};

/* Returns false if there is no memory. */
bool table_init(struct table *table);
/* The table must be empty. */
void table_fini(struct table *table);

/* Returns NULL if there is no such key. */
struct entry *table_find(const struct table *table, uint32_t hash, const char *key,
                         size_t key_size);

/* The hash of the entry must be set. Its key must not be in the table. */
void table_insert(struct table *table, struct entry *entry);

/* The entry must be in the table. */
void table_remove(struct table *table, struct entry *entry);

/* Removes all entries, and returns them, linked by `next_in_bucket`. */
struct entry *table_remove_all(struct table *table);

/* The memory of the buckets, in bytes. */
size_t table_memory(const struct table *table);

#endif /* BROKER_TABLE_H */

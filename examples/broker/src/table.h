/* SPDX-License-Identifier: MIT */
/*
 * table.h - the keys, hashed: linear hashing, so that no insertion and no removal is ever slow.
 *
 * The table has as many buckets as entries, more or less. An insertion splits one bucket, a removal
 * merges up to two, so there is no moment at which all entries are moved. Buckets lie in segments
 * that are allocated and freed one at a time, for the same reason. If memory is refused, chains
 * become longer, and nothing fails.
 */
#ifndef BROKER_TABLE_H
#define BROKER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct entry;

/* To be embedded in what is stored. */
struct table_link {
    struct entry *next; /* in the bucket */
    uint32_t hash;
};

struct table {
    struct entry ***segments;
    size_t segment_count;
    size_t segment_capacity;
    size_t bucket_count;
    size_t entry_count;
};

/* false: no memory. */
bool table_init(struct table *table);
/* The table must be empty. */
void table_fini(struct table *table);

/* NULL: there is none. */
struct entry *table_find(const struct table *table, uint32_t hash, const char *key,
                         size_t key_size);

/* The entry's hash must be set, and its key must not be in the table. */
void table_insert(struct table *table, struct entry *entry);

/* The entry must be in the table. */
void table_remove(struct table *table, struct entry *entry);

/* Removes all; the entries, linked by `next`. */
struct entry *table_take_all(struct table *table);

/* Bytes that the buckets take. */
size_t table_memory(const struct table *table);

#endif /* BROKER_TABLE_H */

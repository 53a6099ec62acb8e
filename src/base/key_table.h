/* SPDX-License-Identifier: MIT */
/*
 * key_table.h - a hash table of objects with bytes for keys; intrusive: the node stands in
 * the user's object, and the key wherever the user has it.
 *
 * It is made to be used under a spin lock, so that no operation may have to move the whole
 * table. Hashing is linear (Litwin 1980): an insert that makes the load greater than 1 splits
 * one bucket or two, a remove that makes it less than 1/2 merges one or two. The buckets stand
 * in segments, each as large as all before it together, which are never moved, copied or
 * cleared. Between the two loads nothing is allocated or given back, however often keys come
 * and go. What cannot be bounded here is the time that the allocator takes for a segment, and
 * that for comparing a long key with an equal one.
 *
 * The first 16 buckets are in the table itself: while no more than 16 keys have been there, or
 * again fewer than 8, it holds no other memory.
 *
 * Hashes come from htw__key_hash(), with a seed that nobody can guess where keys come from
 * strangers: keys of one hash make one long chain. The table uses the low bits; who spreads
 * keys over several tables must do so by the high ones. One thread at a time.
 */
#ifndef HTW_SRC_BASE_KEY_TABLE_H
#define HTW_SRC_BASE_KEY_TABLE_H

#include "alloc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* To be embedded in the user's object. While it is in a table, neither it nor the key may
 * move or change. `next` is the table's; the user sets the others before the insert. */
struct htw__key_node {
    struct htw__key_node *next;
    uint64_t hash;   /* htw__key_hash() of the key */
    const void *key; /* may be NULL if `size` is 0 */
    uint32_t size;   /* of the key, in bytes */
    uint32_t tag;    /* for what the user likes: it would be padding */
};

#define HTW__KEY_TABLE_FIRST_BITS 4u
#define HTW__KEY_TABLE_FIRST_BUCKETS ((size_t)1 << HTW__KEY_TABLE_FIRST_BITS)

/* Enough for 2^27 buckets; beyond, chains grow longer. */
#define HTW__KEY_TABLE_SEGMENTS 24u

struct htw__key_table {
    size_t count;   /* nodes */
    size_t buckets; /* in use; those of the last segment beyond them are not initialised */
    struct htw__key_node *first[HTW__KEY_TABLE_FIRST_BUCKETS]; /* what is segment 0 */
    struct htw__key_node **segments[HTW__KEY_TABLE_SEGMENTS];  /* NULL from the first unneeded */
    struct htw_allocator allocator;
};

/* The hash of `size` bytes at `key` (which may be NULL if `size` is 0): XXH3, 64 bits. O(size),
 * so better done before a lock is taken. */
uint64_t htw__key_hash(const void *key, size_t size, uint64_t seed);

/* Makes an empty table, which must not move. Copies the allocator. Allocates nothing. */
void htw__key_table_init(struct htw__key_table *table, const struct htw_allocator *allocator);

/* Gives all memory back. Nodes that are still in the table are not touched. */
void htw__key_table_fini(struct htw__key_table *table);

/* The node with this key, whose hash is `hash`; NULL when there is none. O(1) expected. */
struct htw__key_node *htw__key_table_find(const struct htw__key_table *table, uint64_t hash,
                                          const void *key, size_t size);

/*
 * Puts in a node whose key is not in the table. Cannot fail: when there is no memory for more
 * buckets, chains grow longer, and each insert that wants another bucket asks again; once
 * there is memory, two buckets an insert make up for it. O(1) expected.
 */
void htw__key_table_insert(struct htw__key_table *table, struct htw__key_node *node);

/* Takes out a node, which must be in this table. O(1) expected. */
void htw__key_table_remove(struct htw__key_table *table, struct htw__key_node *node);

/* How many nodes are in the table. */
static inline size_t htw__key_table_count(const struct htw__key_table *table) {
    return table->count;
}

/*
 * Takes any node out; NULL when there is none. To empty a table, where looking for the first
 * node again and again would pass ever more empty buckets: this one takes from the end, and
 * takes the empty buckets there away. O(1) amortised.
 */
struct htw__key_node *htw__key_table_remove_any(struct htw__key_table *table);

/*
 * The node that comes after `node`, and the first for NULL; NULL at the end. In no particular
 * order, but each once if the table does not change meanwhile. O(1) amortised over a walk.
 */
struct htw__key_node *htw__key_table_next(const struct htw__key_table *table,
                                          const struct htw__key_node *node);

/* The bytes that the table holds beside itself. */
size_t htw__key_table_memory(const struct htw__key_table *table);

/* Whether every node is in its bucket, and counts and segments agree. O(count + buckets). */
bool htw__key_table_is_valid(const struct htw__key_table *table);

#endif /* HTW_SRC_BASE_KEY_TABLE_H */

/* SPDX-License-Identifier: MIT */
/*
 * key_table.h - a hash table of objects whose keys are bytes. The node is embedded in the user's
 * object; the key may be anywhere.
 *
 * The table is used under a spin lock, so no operation moves the whole table. Hashing is linear
 * (Litwin 1980): an insert that makes the load greater than 1 splits one or two buckets, a remove
 * that makes it less than 1/2 merges one or two. Buckets are in segments, each as large as all
 * before it together, which are never moved, copied or cleared. Between the two loads nothing is
 * allocated or released. Only two steps are not bounded here: the allocation of a segment, and the
 * comparison of a long key with an equal one.
 *
 * The first 8 buckets are in the table itself, beside the counts: a small table is used in one cache
 * line or two. A table that has never held more than 8 keys, or holds fewer than 4 again, uses no other
 * memory. (With 4, shards of the purgatory that hold about three keys allocated again and again.)
 *
 * Hashes come from htw__key_hash(). If untrusted clients choose keys, use a secret seed
 * (htw__random_seed()); otherwise they can create hash collisions. The table uses the low bits of a
 * hash; code that divides keys among several tables must use the high ones. Only one thread at a
 * time may use a table.
 */
#ifndef HTW_SRC_BASE_KEY_TABLE_H
#define HTW_SRC_BASE_KEY_TABLE_H

#include "alloc.h"
#include "annotate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Embedded in the user's object, with the key behind it. While it is in a table, neither may move or
   change. `next` belongs to the table; htw__key_node_set() sets the others before the insert. */
struct htw__key_node {
    struct htw__key_node *next;
    uint64_t hash;   /* htw__key_hash() of the key */
    uint32_t size;   /* of the key, in bytes */
    uint32_t offset; /* from the node to the key */
};

#define HTW__KEY_TABLE_FIRST_BITS 3u
#define HTW__KEY_TABLE_FIRST_BUCKETS ((size_t)1 << HTW__KEY_TABLE_FIRST_BITS)

/* Enough for 2^28 buckets. With more keys chains grow longer. */
#define HTW__KEY_TABLE_SEGMENTS 26u

struct htw__key_table {
    uint32_t count;   /* nodes */
    uint32_t buckets; /* in use; those of the last segment beyond them are not initialised */
    struct htw__key_node *first[HTW__KEY_TABLE_FIRST_BUCKETS]; /* segment 0 */
    struct htw__key_node ***segments; /* by number, NULL from the first unneeded; NULL: no other is
                                         needed */
    struct htw_allocator allocator;
};

/* The hash (XXH3, 64 bits) of `size` bytes at `key`, which may be NULL if `size` is 0. O(size), so
   call it before a lock is taken. */
HTW__SHARED uint64_t htw__key_hash(const void *key, size_t size, uint64_t seed);

static inline const void *htw__key_node_key(const struct htw__key_node *node) {
    return (const char *)node + node->offset;
}

/* Copies a key, which may be NULL if `size` is 0, to where there is room for it. */
static inline void htw__key_copy(void *room, const void *key, size_t size) {
    HTW__ANNOTATE_IGNORE_BEGIN();
    if (size >= 8 && size <= 16) { /* common sizes, without a call */
        memcpy(room, key, 8);
        memcpy((char *)room + size - 8, (const char *)key + size - 8, 8);
    } else if (size > 0) {
        memcpy(room, key, size);
    }
    HTW__ANNOTATE_IGNORE_END();
}

/* Sets hash and key of a node that is in no table. The key is at `key`, in the object of the node and
   behind it. */
static inline void htw__key_node_set(struct htw__key_node *node, uint64_t hash, const void *key,
                                     size_t size) {
    node->hash = hash;
    node->size = (uint32_t)size;
    node->offset = (uint32_t)((const char *)key - (const char *)node);
}

/* Whether two keys of `size` bytes are the same. */
bool htw__key_compare(const char *a, const char *b, size_t size);

static inline bool htw__key_bytes_equal(const void *a, const void *b, size_t size) {
    uint64_t one[2], other[2];
    if (size < 8 || size > 16) /* memcmp() must not get NULL, not even for no bytes */
        return size == 0 || htw__key_compare(a, b, size);
    /* Keys of common sizes, without the cost of a call. */
    memcpy(&one[0], a, 8);
    memcpy(&other[0], b, 8);
    memcpy(&one[1], (const char *)a + size - 8, 8);
    memcpy(&other[1], (const char *)b + size - 8, 8);
    return one[0] == other[0] && one[1] == other[1];
}

/* Makes an empty table, which must not move. Copies the allocator. Allocates nothing. */
HTW__SHARED void htw__key_table_init(struct htw__key_table *table,
                                     const struct htw_allocator *allocator);

/* Releases all memory. Does not touch nodes that are still in the table. */
HTW__SHARED void htw__key_table_fini(struct htw__key_table *table);

/* The node with this key, whose hash is `hash`. NULL: there is none. O(1) expected. */
HTW__SHARED struct htw__key_node *htw__key_table_find(const struct htw__key_table *table,
                                                      uint64_t hash, const void *key, size_t size);

/*
 * Inserts a node whose key is not in the table. Cannot fail: without memory for more buckets chains
 * grow longer, and each later insert tries again, two buckets at a time. O(1) expected.
 */
HTW__SHARED void htw__key_table_insert(struct htw__key_table *table, struct htw__key_node *node);

/* Removes a node, which must be in this table. O(1) expected. */
HTW__SHARED void htw__key_table_remove(struct htw__key_table *table, struct htw__key_node *node);

/* How many nodes are in the table. */
static inline size_t htw__key_table_count(const struct htw__key_table *table) {
    return table->count;
}

/*
 * Removes any node; NULL: there is none. For emptying a table: it removes the last node and the
 * empty buckets behind it, so it passes each bucket once. O(1) amortized.
 */
HTW__SHARED struct htw__key_node *htw__key_table_remove_any(struct htw__key_table *table);

/*
 * The node after `node`, or the first for NULL; NULL at the end. In no particular order, each once
 * if the table does not change meanwhile. O(1) amortized over a walk.
 */
HTW__SHARED struct htw__key_node *htw__key_table_next(const struct htw__key_table *table,
                                                      const struct htw__key_node *node);

/* The bytes that the table has allocated. */
HTW__SHARED size_t htw__key_table_memory(const struct htw__key_table *table);

/* Whether each node is in its bucket, and counts and segments agree. O(count + buckets). */
bool htw__key_table_is_valid(const struct htw__key_table *table);

#endif /* HTW_SRC_BASE_KEY_TABLE_H */

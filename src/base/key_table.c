/* SPDX-License-Identifier: MIT */
/* key_table.c - a hash table of keys that grows and shrinks by single buckets. */
#include "key_table.h"

#include "assert.h"
#include "compiler.h"

/* Compiled in, so that xxHash is needed neither to link nor to run. */
#define XXH_INLINE_ALL
#include <xxhash.h>

/* The most buckets that one insert splits or one remove merges. With 2, a table that could not grow
   catches up, and an emptied table has shrunk when it is empty. */
#define STEPS 2

uint64_t htw__key_hash(const void *key, size_t size, uint64_t seed) {
    return XXH3_64bits_withSeed(key, size, seed);
}

/* Its first bucket. Except for segment 0 this is also how many buckets it has. */
static size_t segment_start(unsigned segment) {
    return segment == 0 ? 0 : HTW__KEY_TABLE_FIRST_BUCKETS << (segment - 1);
}

static size_t segment_bytes(unsigned segment) {
    return segment_start(segment) * sizeof(struct htw__key_node *);
}

static unsigned segment_of(size_t bucket) {
    return htw__highest_bit(bucket | (HTW__KEY_TABLE_FIRST_BUCKETS - 1)) -
           (HTW__KEY_TABLE_FIRST_BITS - 1);
}

static struct htw__key_node **head_of(const struct htw__key_table *table, size_t bucket) {
    if (bucket < HTW__KEY_TABLE_FIRST_BUCKETS) /* saves a cache line */
        return (struct htw__key_node **)&table->first[bucket];
    unsigned segment = segment_of(bucket);
    return &table->segments[segment][bucket - segment_start(segment)];
}

/* The bucket of a hash. With N buckets, and 2^k the greatest power of two up to N, the buckets
   below N - 2^k have been split: these and their siblings, from 2^k on, use k + 1 bits of the hash;
   the others use k. */
static size_t bucket_of(const struct htw__key_table *table, uint64_t hash) {
    if (table->buckets == HTW__KEY_TABLE_FIRST_BUCKETS)
        return (size_t)hash & (HTW__KEY_TABLE_FIRST_BUCKETS - 1);
    size_t power = (size_t)1 << htw__highest_bit(table->buckets);
    size_t bucket = (size_t)hash & (2 * power - 1);
    return bucket < table->buckets ? bucket : bucket ^ power;
}

void htw__key_table_init(struct htw__key_table *table, const struct htw_allocator *allocator) {
    *table = (struct htw__key_table) {
        .allocator = *allocator,
        .buckets = HTW__KEY_TABLE_FIRST_BUCKETS,
    };
}

#define DIRECTORY_BYTES (HTW__KEY_TABLE_SEGMENTS * sizeof(struct htw__key_node **))

static void release_directory(struct htw__key_table *table) {
    htw__release(&table->allocator, table->segments, DIRECTORY_BYTES);
    table->segments = NULL;
}

/* The last one. The directory goes with the first. */
static void release_segment(struct htw__key_table *table, unsigned segment) {
    htw__release(&table->allocator, table->segments[segment], segment_bytes(segment));
    table->segments[segment] = NULL;
    if (segment == 1)
        release_directory(table);
}

void htw__key_table_fini(struct htw__key_table *table) {
    for (unsigned i = HTW__KEY_TABLE_SEGMENTS; i-- > 1 && table->segments != NULL;)
        release_segment(table, i);
}

HTW__NOINLINE bool htw__key_compare(const char *a, const char *b, size_t size) {
    HTW__ANNOTATE_IGNORE_BEGIN();
    bool equal = memcmp(a, b, size) == 0;
    HTW__ANNOTATE_IGNORE_END();
    return equal;
}

static bool is_key(const struct htw__key_node *node, uint64_t hash, const void *key, size_t size) {
    return node->hash == hash && node->size == size &&
           htw__key_bytes_equal(htw__key_node_key(node), key, size);
}

struct htw__key_node *htw__key_table_find(const struct htw__key_table *table, uint64_t hash,
                                          const void *key, size_t size) {
    struct htw__key_node *node = *head_of(table, bucket_of(table, hash));
    for (; node != NULL; node = node->next) {
        HTW__PREFETCH(node); /* callers change what they find */
        if (is_key(node, hash, key, size))
            break;
    }
    return node;
}

static bool provide_directory(struct htw__key_table *table) {
    if (table->segments != NULL)
        return true;
    table->segments = htw__allocate(&table->allocator, DIRECTORY_BYTES);
    for (unsigned i = 0; table->segments != NULL && i < HTW__KEY_TABLE_SEGMENTS; i++)
        table->segments[i] = NULL;
    return table->segments != NULL;
}

/* Whether bucket `table->buckets` has a segment, or could get one. */
static bool provide_segment(struct htw__key_table *table) {
    unsigned segment = segment_of(table->buckets);
    if (segment >= HTW__KEY_TABLE_SEGMENTS || !provide_directory(table))
        return false;
    if (table->segments[segment] == NULL)
        table->segments[segment] = htw__allocate(&table->allocator, segment_bytes(segment));
    if (table->segments[segment] == NULL && segment == 1)
        release_directory(table);
    return table->segments != NULL && table->segments[segment] != NULL;
}

/* Adds a bucket, and divides the nodes of its sibling between the two. */
static bool split(struct htw__key_table *table) {
    if (!provide_segment(table))
        return false;
    size_t bucket = table->buckets;
    size_t power = (size_t)1 << htw__highest_bit(bucket);
    struct htw__key_node **low = head_of(table, bucket ^ power);
    struct htw__key_node **high = head_of(table, bucket);
    for (struct htw__key_node *node = *low; node != NULL; node = node->next) {
        struct htw__key_node ***end = (node->hash & power) != 0 ? &high : &low;
        **end = node;
        *end = &node->next;
    }
    *low = NULL;
    *high = NULL;
    table->buckets++;
    return true;
}

/* Removes the last bucket; its nodes go to its sibling. */
static void merge(struct htw__key_table *table) {
    size_t bucket = table->buckets - 1;
    size_t power = (size_t)1 << htw__highest_bit(bucket);
    struct htw__key_node **low = head_of(table, bucket ^ power);
    struct htw__key_node *high = *head_of(table, bucket);
    while (*low != NULL)
        low = &(*low)->next;
    *low = high;
    table->buckets--;
    if (bucket == power)
        release_segment(table, segment_of(bucket));
    HTW_ASSERT(table->segments != NULL || table->buckets == HTW__KEY_TABLE_FIRST_BUCKETS);
}

void htw__key_table_insert(struct htw__key_table *table, struct htw__key_node *node) {
    HTW_ASSERT_SLOW(htw__key_table_find(table, node->hash, htw__key_node_key(node), node->size) ==
                    NULL);
    struct htw__key_node **head = head_of(table, bucket_of(table, node->hash));
    node->next = *head;
    *head = node;
    table->count++;
    for (int i = 0; i < STEPS && table->count > table->buckets; i++)
        if (!split(table))
            break;
}

void htw__key_table_remove(struct htw__key_table *table, struct htw__key_node *node) {
    struct htw__key_node **place = head_of(table, bucket_of(table, node->hash));
    while (*place != node) {
        HTW_ASSERT(*place != NULL);
        place = &(*place)->next;
    }
    *place = node->next;
    table->count--;
    for (int i = 0; i < STEPS && table->count < table->buckets / 2 &&
                    table->buckets > HTW__KEY_TABLE_FIRST_BUCKETS;
         i++)
        merge(table);
}

struct htw__key_node *htw__key_table_remove_any(struct htw__key_table *table) {
    if (table->count == 0)
        return NULL;
    while (table->buckets > HTW__KEY_TABLE_FIRST_BUCKETS &&
           *head_of(table, table->buckets - 1) == NULL)
        merge(table);
    size_t bucket = table->buckets - 1;
    while (*head_of(table, bucket) == NULL)
        bucket--;
    struct htw__key_node *node = *head_of(table, bucket);
    htw__key_table_remove(table, node);
    return node;
}

struct htw__key_node *htw__key_table_next(const struct htw__key_table *table,
                                          const struct htw__key_node *node) {
    if (node != NULL && node->next != NULL)
        return node->next;
    size_t bucket = node == NULL ? 0 : bucket_of(table, node->hash) + 1;
    for (; bucket < table->buckets; bucket++) {
        struct htw__key_node *head = *head_of(table, bucket);
        if (head != NULL)
            return head;
    }
    return NULL;
}

size_t htw__key_table_memory(const struct htw__key_table *table) {
    if (table->segments == NULL)
        return 0;
    size_t bytes = DIRECTORY_BYTES;
    for (unsigned i = 1; i < HTW__KEY_TABLE_SEGMENTS && table->segments[i] != NULL; i++)
        bytes += segment_bytes(i);
    return bytes;
}

bool htw__key_table_is_valid(const struct htw__key_table *table) {
    if (table->buckets < HTW__KEY_TABLE_FIRST_BUCKETS)
        return false;
    if ((table->segments != NULL) != (table->buckets > HTW__KEY_TABLE_FIRST_BUCKETS))
        return false;
    for (unsigned i = 1; i < HTW__KEY_TABLE_SEGMENTS && table->segments != NULL; i++)
        if ((table->segments[i] != NULL) != (segment_start(i) < table->buckets))
            return false;
    size_t count = 0;
    for (size_t bucket = 0; bucket < table->buckets; bucket++)
        for (struct htw__key_node *node = *head_of(table, bucket); node != NULL; node = node->next)
            if (++count > table->count || bucket_of(table, node->hash) != bucket)
                return false;
    return count == table->count;
}

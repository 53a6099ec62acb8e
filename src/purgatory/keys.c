/* SPDX-License-Identifier: MIT */
/* keys.c - the keys of a call: checks that they are valid, and hashes each once. */
#include "keys.h"

#include <stdlib.h>
#include <string.h>

static bool is_valid(const void *key, size_t size) {
    return size <= UINT32_MAX && (key != NULL || size == 0);
}

/* So the sizes of all blocks for the keys fit into a size_t. */
#define KEYS_MAX (SIZE_MAX / 64 < UINT32_MAX ? SIZE_MAX / 64 : UINT32_MAX)

bool htw__keys_are_valid(const struct htw_key *keys, size_t count) {
    if (keys == NULL || count == 0 || count > KEYS_MAX)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!is_valid(keys[i].bytes, keys[i].size))
            return false;
    return true;
}

int htw__key_refusal(const struct htw_purgatory *purgatory, const void *key, size_t key_size) {
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    return is_valid(key, key_size) ? 0 : -EINVAL;
}

/* Of keys with the same hash. */
static bool are_equal(const struct htw__hashed_key *a, const struct htw__hashed_key *b) {
    return a->key->size == b->key->size &&
           (a->key->size == 0 || memcmp(a->key->bytes, b->key->bytes, a->key->size) == 0);
}

/* Adds a key unless it is among those from `first` on. */
static inline void add(struct htw__keys *keys, size_t first, uint64_t hash,
                       const struct htw_key *key) {
    size_t count = keys->count;
    struct htw__hashed_key *added = &keys->hashed[count];
    *added = (struct htw__hashed_key) { hash, key };
    for (size_t i = first; i < count; i++)
        if (keys->hashed[i].hash == hash && are_equal(&keys->hashed[i], added))
            return;
    keys->count = count + 1;
}

static int compare(const void *one, const void *two) {
    const struct htw__hashed_key *a = one, *b = two;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

/* Many keys are sorted, so that only those of the same hash need to be compared. */
static void add_many(struct htw__keys *keys, const struct htw_purgatory *purgatory,
                     const struct htw_key *source, size_t count) {
    struct htw__hashed_key *hashed = keys->hashed;
    for (size_t i = 0; i < count; i++)
        hashed[i] = (struct htw__hashed_key) {
            htw__key_hash(source[i].bytes, source[i].size, purgatory->seed), &source[i]
        };
    qsort(hashed, count, sizeof(*hashed), compare);
    for (size_t i = 0, first = 0; i < count; i++) {
        const struct htw__hashed_key key = hashed[i]; /* it is written to where it was, or before */
        if (keys->count > 0 && hashed[keys->count - 1].hash != key.hash)
            first = keys->count;
        add(keys, first, key.hash, key.key);
    }
}

int htw__keys_init(struct htw__keys *keys, const struct htw_purgatory *purgatory,
                   const struct htw_key *source, size_t count) {
    keys->count = 0;
    keys->allocated = 0;
    keys->hashed = keys->few;
    if (count <= HTW__KEYS_FEW) {
        for (size_t i = 0; i < count; i++) {
            uint64_t hash = htw__key_hash(source[i].bytes, source[i].size, purgatory->seed);
            htw__purgatory_shard_prefetch(purgatory, hash);
            add(keys, 0, hash, &source[i]);
        }
        return 0;
    }
    keys->hashed = htw__allocate(&purgatory->allocator, count * sizeof(*keys->hashed));
    if (keys->hashed == NULL)
        return -ENOMEM;
    keys->allocated = count * sizeof(*keys->hashed);
    add_many(keys, purgatory, source, count);
    return 0;
}

void htw__keys_fini(struct htw__keys *keys, const struct htw_purgatory *purgatory) {
    if (keys->allocated > 0)
        htw__release(&purgatory->allocator, keys->hashed, keys->allocated);
}

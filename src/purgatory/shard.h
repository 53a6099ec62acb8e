/* SPDX-License-Identifier: MIT */
/* shard.h - a part of the purgatory with its own lock: its keys. */
#ifndef HTW_SRC_PURGATORY_SHARD_H
#define HTW_SRC_PURGATORY_SHARD_H

#include "../base/compiler.h"
#include "cell.h"
#include "state.h"

#include <string.h>

/* A key that a call has been given. */
struct htw__key {
    uint64_t hash;
    const void *bytes;
    size_t size;
};

static inline bool htw__key_equals(const struct htw__key *a, const struct htw__key *b) {
    return a->hash == b->hash && a->size == b->size &&
           (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

/*
 * What a call about a key touches is one cache line, if the key is short and no other of the shard came
 * before it: so nothing else of a shard moves between CPUs.
 */
struct htw__purgatory_shard {
    alignas(HTW__CACHE_LINE) struct htw__key_cell first; /* its lock guards all members */
    struct htw__key_cell second; /* for another key, or for more watches of any */
    struct htw__key_table table; /* the keys that have cells of their own */
    uint64_t bytes;              /* of long keys, and of deferred checks (check.c) */
    uint32_t orphans;            /* keys that are no longer in the table */
    struct htw_purgatory *purgatory;
};

static inline struct htw__purgatory_shard *
htw__purgatory_shard_of(const struct htw_purgatory *purgatory, uint64_t hash) {
    return &purgatory->shards[hash >> purgatory->shard_shift >> 1];
}

static inline bool htw__key_is_valid(const void *bytes, size_t size) {
    return size <= UINT32_MAX && (bytes != NULL || size == 0);
}

/* Hashes a valid key, and loads the cache line that it needs: before the lock, across which the
   processor loads nothing ahead. */
static inline struct htw__key htw__key_hashed(const struct htw_purgatory *purgatory,
                                              const void *bytes, size_t size) {
    uint64_t hash = htw__key_hash(bytes, size, purgatory->seed);
    HTW__PREFETCH(htw__purgatory_shard_of(purgatory, hash));
    return (struct htw__key) { hash, bytes, size };
}

/* For a call about one key. 0, or why it cannot begin: as htw__purgatory_refusal(), or -EINVAL for
   the key. */
static inline int htw__key_of_call(const struct htw_purgatory *purgatory, const void *bytes,
                                   size_t size, struct htw__key *ret_key) {
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    if (!htw__key_is_valid(bytes, size))
        return -EINVAL;
    *ret_key = htw__key_hashed(purgatory, bytes, size);
    return 0;
}

/* As the header and the documents say. tests/api/docs.py reads the numbers here. */
_Static_assert(HTW__IS_OF_SIZE(sizeof(struct htw_request) == 104), "a request");
_Static_assert(HTW__IS_OF_SIZE(sizeof(struct htw__purgatory_shard) == 256), "a shard");

#endif /* HTW_SRC_PURGATORY_SHARD_H */

/* SPDX-License-Identifier: MIT */
/* shard.h - a part of the purgatory with its own lock: a table of keys, and counts of requests. */
#ifndef HTW_SRC_PURGATORY_SHARD_H
#define HTW_SRC_PURGATORY_SHARD_H

#include "../base/compiler.h"
#include "../base/key_table.h"
#include "state.h"

#include <string.h>

#define HTW__REASONS 4

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
 * A request counts in the shard of its first key, or of its threshold. What each watch touches is the
 * first cache line: so it is the only one of a shard that moves between CPUs. The counts of 32 bits
 * are of objects that exist at once, and each of those takes 24 bytes or more.
 */
struct htw__purgatory_shard {
    alignas(HTW__CACHE_LINE) struct htw__lock lock; /* guards all members */
    uint32_t watched;                               /* watches; markers are not counted */
    uint32_t pending;      /* requests that count here and have not ended */
    uint32_t delayed : 31; /* of these, the ones with a timeout */
    uint32_t closed : 1;
    uint64_t submitted; /* requests that count here, ended ones too */
    struct htw__key_table table;
    uint64_t ended[HTW__REASONS]; /* [HTW_REASON_COMPLETED] stays 0: it is the difference */
    uint64_t bytes;               /* of long keys, blocks of watches, and deferred checks */
    uint32_t orphans;             /* keys that are no longer in the table */
    uint32_t idle;                /* keys that only a deferred check holds */

    /* Checks that wait for a callback of the scheduler, the oldest first: see deferred.c. */
    struct htw__deferred *deferred;
    struct htw__deferred **deferred_end;
    int32_t runs_due;      /* callbacks scheduled that have neither begun nor been dropped */
    uint32_t runs_begun;   /* callbacks begun of which the release hook has not been called */
    uint32_t runs_dropped; /* callbacks in a row that an executor has dropped */
    struct htw_purgatory *purgatory;
};

_Static_assert(sizeof(void *) != 8 || sizeof(struct htw__lock) != 4 ||
                   offsetof(struct htw__purgatory_shard, table.segments) == HTW__CACHE_LINE,
               "on 64-bit machines, what each watch touches fills a cache line");

void htw__purgatory_shard_init(struct htw__purgatory_shard *shard, struct htw_purgatory *purgatory);
void htw__purgatory_shard_fini(struct htw__purgatory_shard *shard);

/* Counts a request that is submitted. Under the lock. */
void htw__purgatory_shard_count(struct htw__purgatory_shard *shard, struct htw_request *request,
                                bool delayed);

/* Instead of an enum htw_reason: the submission has failed, and the request never counted. */
#define HTW__NO_REASON (-1)

/* Counts a request that ends, with an enum htw_reason or HTW__NO_REASON. Under the lock. */
void htw__purgatory_shard_uncount(struct htw__purgatory_shard *shard,
                                  const struct htw_request *request, int reason);

/* Counts a request that ends and was never linked, in a shard chosen by its address. */
void htw__purgatory_count_unlinked(const struct htw_request *request, enum htw_reason reason);

/* Adds all but `completed`. */
void htw__purgatory_shard_add_stats(struct htw__purgatory_shard *shard,
                                    struct htw_purgatory_stats *stats);

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

#endif /* HTW_SRC_PURGATORY_SHARD_H */

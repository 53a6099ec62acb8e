/* SPDX-License-Identifier: MIT */
/*
 * ids.h - which records with a htw-id wait in a stripe: a hash of key and id leads to the offset that the record has in
 * the input. 16 bytes an entry, at most two thirds full; nothing for records without an id.
 *
 * The same stands in a compacted topic (relay.h), under the hash; so two pairs of key and id with one hash of 64 bits
 * are taken for one: with ten million of them, once in 300 000 such stripes.
 *
 * Producers choose keys and ids, and can compute what hash they have. So where an entry lies follows from its hash and a
 * secret of the table.
 */
#ifndef HTW_RELAY_IDS_H
#define HTW_RELAY_IDS_H

#include "record.h"

#define HTW__IDS_NONE INT64_C(-1)

struct htw__id {
    uint64_t hash;
    int64_t offset; /* + 1, of the record in the input; 0: nothing is here */
};

/* What is known of an entry beside its offset: bits of that. */
#define HTW__ID_LEAVING (INT64_C(1) << 62) /* the record is delivered, and that is not committed */
#define HTW__ID_UNSURE \
    (INT64_C(1) << 61) /* it may have been delivered before the stripe was taken over */
#define HTW__ID_OCCURS(channel) \
    (INT64_C(1) << (59 + (channel))) /* an occurrence is delivered, and that is not committed */

struct htw__relay_ids {
    struct htw__id *entries;
    size_t count, room; /* room: 0, or a power of two */
    size_t unsure;      /* entries with that bit */
    uint64_t seed;      /* the secret */
};

void htw__ids_fini(struct htw__relay_ids *ids);

/* The same in each version: it stands in Kafka. */
uint64_t htw__ids_hash(struct htw__bytes key, struct htw__bytes id);

/* The offset under a hash; HTW__IDS_NONE: none. `ret_flags` may be NULL. */
int64_t htw__ids_find(const struct htw__relay_ids *ids, uint64_t hash, int64_t *ret_flags);

/* Enters an offset, in place of the one there, with these flags. */
void htw__ids_put(struct htw__relay_ids *ids, uint64_t hash, int64_t offset, int64_t flags);

/* Removes the entry, if there is one. */
void htw__ids_remove(struct htw__relay_ids *ids, uint64_t hash);

/* An entry that is unsure, whose hash is returned in `ret_hash`, looked for from `*at` on; false: there is none. */
bool htw__ids_next_unsure(const struct htw__relay_ids *ids, size_t *at, uint64_t *ret_hash);

#endif /* HTW_RELAY_IDS_H */

/* SPDX-License-Identifier: MIT */
/* watch.h - the keys on which somebody waits, and who does. All under the shard's lock. */
#ifndef HTW_SRC_PURGATORY_WATCH_H
#define HTW_SRC_PURGATORY_WATCH_H

#include "state.h"

/* The key; NULL where nobody waits on it. */
static inline struct htw__watched_key *htw__watched_key_find(struct htw__purgatory_shard *shard,
                                                             uint64_t hash, const void *bytes,
                                                             size_t size) {
    return (struct htw__watched_key *)(void *)htw__key_table_find(&shard->table, hash, bytes, size);
}

/* Puts a watch, whose request is set, at the end of a key. 0; -ENOMEM; -ESHUTDOWN. */
int htw__watch_link(struct htw__purgatory_shard *shard, struct htw__watch *watch, uint64_t hash,
                    const struct htw_key *key);

/* Takes it out, and the key away if it was the last. */
void htw__watch_unlink(struct htw__purgatory_shard *shard, struct htw__watch *watch);

/* Takes a key away if nobody waits on it: after a marker has been taken out. */
void htw__watched_key_leave(struct htw__purgatory_shard *shard, struct htw__watched_key *key);

/* Takes any key out of the table of a closed shard; NULL: there is none. It lasts until it is
   left. */
struct htw__watched_key *htw__watched_key_orphan(struct htw__purgatory_shard *shard);

static inline struct htw__watch *htw__watch_of(struct htw__link *link) {
    return (struct htw__watch *)(void *)link; /* its first member */
}

/* The shard in which a linked watch is: without the lock. */
static inline struct htw__purgatory_shard *htw__watch_shard(const struct htw_purgatory *purgatory,
                                                            const struct htw__watch *watch) {
    return htw__purgatory_shard_of(purgatory, watch->_key->node.hash);
}

#endif /* HTW_SRC_PURGATORY_WATCH_H */

/* SPDX-License-Identifier: MIT */
/* watch.h - the keys on which somebody waits, and who does. All under the shard's lock. */
#ifndef HTW_SRC_PURGATORY_WATCH_H
#define HTW_SRC_PURGATORY_WATCH_H

#include "state.h"

/*
 * Keys lie at multiples of 64, so that the low bits of a watch's `_key` are free to tell where its
 * request is: for one that stands in its request, which it is there, from 1; or HTW__WATCH_DISTANT.
 * All of a marker's `_key` is 0.
 */
#define HTW__WATCH_PLACE ((uintptr_t)7)
#define HTW__WATCH_DISTANT ((uintptr_t)7)

struct htw__distant_watch {
    struct htw__watch watch;
    struct htw_request *request;
};

/* Number `i` of its request, on no key yet. */
static inline void htw__watch_init(struct htw__watch *watch, struct htw_request *request,
                                   uint32_t i) {
    bool is_distant = (request->_flags & HTW__REQUEST_MANY) != 0;
    watch->_key = is_distant ? HTW__WATCH_DISTANT : i + 1;
    if (is_distant)
        ((struct htw__distant_watch *)(void *)watch)->request = request;
}

static inline struct htw__watched_key *htw__watch_key(const struct htw__watch *watch) {
    return (struct htw__watched_key *)(watch->_key & ~HTW__WATCH_PLACE);
}

/* NULL for a marker. */
static inline struct htw_request *htw__watch_request(struct htw__watch *watch) {
    uintptr_t place = watch->_key & HTW__WATCH_PLACE;
    if (place == 0)
        return NULL;
    if (place == HTW__WATCH_DISTANT)
        return ((struct htw__distant_watch *)(void *)watch)->request;
    char *first = (char *)(watch - (place - 1));
    return (struct htw_request *)(void *)(first - offsetof(struct htw_request, _place));
}

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

/* Takes a key away if nobody waits on it: after a marker has been taken out, or a check that was
   queued no longer holds it. */
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
    return htw__purgatory_shard_of(purgatory, htw__watch_key(watch)->node.hash);
}

#endif /* HTW_SRC_PURGATORY_WATCH_H */

/* SPDX-License-Identifier: MIT */
/* watch.h - the keys on which requests wait, and the watches that link requests to keys. */
#ifndef HTW_SRC_PURGATORY_WATCH_H
#define HTW_SRC_PURGATORY_WATCH_H

#include "owner.h"
#include "shard.h"

/* A key of no more bytes than this is stored behind its struct, in the same slot of the pool. */
#define HTW__KEY_INLINE_BYTES 16u

/* A key on which requests wait. */
struct htw__watched_key {
    struct htw__key_node node; /* the tag: flags, the number of the slot in its chunk, the CPU */
    struct htw__link watches;  /* ring in order of arrival; the markers of walks are among them */
};

enum {
    HTW__KEY_LONG = 1u << 0,     /* allocated by itself, not in a key pool */
    HTW__KEY_DEFERRED = 1u << 1, /* a deferred check holds it, which has not begun */
    HTW__KEY_ORPHAN = 1u << 2,   /* no longer in the table, because the shard was closed */
    HTW__KEY_UNWATCHED = 1u << 3 /* no request waits on it, and it is counted as idle */
};
#define HTW__KEY_NUMBER_SHIFT 8 /* a byte of the tag: the slot in its chunk */
#define HTW__KEY_CPU_SHIFT 16   /* the rest: the CPU of the pool */

/* The low bits of a watch's `_key` locate its request (keys are aligned): 1 to 3 for the first to
   third watch inside the request, or HTW__WATCH_DISTANT. A `_key` of 0 is a marker of a walk. */
#define HTW__WATCH_PLACE ((uintptr_t)7)
#define HTW__WATCH_DISTANT ((uintptr_t)7)

/* A watch outside its request. */
struct htw__distant_watch {
    struct htw__watch watch;
    struct htw_request *request;
};

/* Watch `i` of a request on keys. */
static inline struct htw__watch *htw__request_watch(struct htw_request *request, uint32_t i) {
    return (request->_flags & HTW__REQUEST_MANY) != 0 ? &request->_place._many._watches[i].watch
                                                      : &request->_place._few[i];
}

/* Sets the request of watch `i`, which is on no key yet. */
static inline void htw__watch_init(struct htw__watch *watch, struct htw_request *request,
                                   uint32_t i) {
    bool is_distant = (request->_flags & HTW__REQUEST_MANY) != 0;
    watch->_key = is_distant ? HTW__WATCH_DISTANT : i + 1;
    if (is_distant)
        ((struct htw__distant_watch *)(void *)watch)->request = request;
}

static inline struct htw__watch *htw__watch_of(struct htw__link *link) {
    return (struct htw__watch *)(void *)link; /* the link is the first member */
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

/* The shard of a linked watch. The owner of the request needs no lock for it. */
static inline struct htw__purgatory_shard *htw__watch_shard(const struct htw_purgatory *purgatory,
                                                            const struct htw__watch *watch) {
    return htw__purgatory_shard_of(purgatory, htw__watch_key(watch)->node.hash);
}

/* All functions below are called under the lock of the shard. Some get the purgatory, too, so that they
   need not read it in the shard, in another cache line. */

/* NULL: no request waits on the key. */
static inline struct htw__watched_key *htw__watched_key_find(struct htw__purgatory_shard *shard,
                                                             const struct htw__key *key) {
    return (struct htw__watched_key *)(void *)htw__key_table_find(&shard->table, key->hash,
                                                                  key->bytes, key->size);
}

/* Adds a watch, whose request is set, at the end of a key. 0; -ENOMEM; -ESHUTDOWN. */
int htw__watch_link(const struct htw_purgatory *purgatory, struct htw__purgatory_shard *shard,
                    struct htw__watch *watch, const struct htw__key *key);

/* Removes a watch from its key, and frees the key if it was the last one. */
void htw__watch_unlink(const struct htw_purgatory *purgatory, struct htw__purgatory_shard *shard,
                       struct htw__watch *watch);

/* Frees a key without watches, markers and deferred checks. */
void htw__watched_key_free_if_unused(const struct htw_purgatory *purgatory,
                                     struct htw__purgatory_shard *shard,
                                     struct htw__watched_key *key);

/* Takes any key out of the table of a closed shard; NULL: there is none. */
struct htw__watched_key *htw__watched_key_orphan(struct htw__purgatory_shard *shard);

#endif /* HTW_SRC_PURGATORY_WATCH_H */

/* SPDX-License-Identifier: MIT */
/* watch.h - the keys on which requests wait, and the watches that link requests to keys. */
#ifndef HTW_SRC_PURGATORY_WATCH_H
#define HTW_SRC_PURGATORY_WATCH_H

#include "owner.h"

/* In the low bits of the address of a cell: what leads from it to the shard. */
enum {
    HTW__CELL_OF_SHARD = 0, /* it is in the shard */
    HTW__CELL_OF_TABLE = 1, /* the hash of its key */
    HTW__CELL_OF_LIST = 2,  /* the first cell of its key */
    HTW__CELL_KIND = 3
};

/* Watch `i` of a request on keys. */
static inline struct htw__watch *htw__request_watch(struct htw_request *request, uint32_t i) {
    return (request->_flags & HTW__REQUEST_MANY) != 0 ? &request->_place._many._watches[i]
                                                      : &request->_place._few[i];
}

static inline struct htw__key_cell *htw__cell_at(uintptr_t address) {
    return (struct htw__key_cell *)(address & ~(uintptr_t)HTW__CELL_KIND);
}

/* The cell of a linked watch. */
static inline struct htw__key_cell *htw__watch_cell(const struct htw__watch *watch) {
    return htw__cell_at(watch->_cell);
}

/* The first cell of the key of a linked watch, with its kind. The owner of the request needs no lock for it. */
static inline uintptr_t htw__watch_key_address(const struct htw__watch *watch) {
    return (watch->_cell & HTW__CELL_OF_LIST) != 0 ? htw__watch_cell(watch)->key : watch->_cell;
}

static inline struct htw__key_cell *htw__watch_key(const struct htw__watch *watch) {
    return htw__cell_at(htw__watch_key_address(watch));
}

/* The shard of a linked watch. The owner of the request needs no lock for it. */
static inline struct htw__purgatory_shard *htw__watch_shard(const struct htw_purgatory *purgatory,
                                                            const struct htw__watch *watch) {
    uintptr_t address = htw__watch_key_address(watch);
    if ((address & HTW__CELL_OF_TABLE) != 0)
        return htw__purgatory_shard_of(purgatory, htw__cell_at(address)->node.hash);
    size_t offset = address - (uintptr_t)purgatory->shards;
    return &purgatory->shards[offset / sizeof(*purgatory->shards)];
}

/* All functions below are called under the lock of the shard. Some get the purgatory, too, so that they
   need not read it in the shard, in another cache line. A key is its first cell. */

/* Whether a cell of a shard has the key. */
static inline bool htw__cell_has_key(const struct htw__key_cell *cell, const struct htw__key *key) {
    return cell->size == key->size && cell->has_key && !cell->is_orphan &&
           htw__key_bytes_equal(cell->bytes, key->bytes, key->size);
}

/* NULL: no request waits on the key. */
static inline struct htw__key_cell *htw__watched_key_find(const struct htw__key *key) {
    struct htw__purgatory_shard *shard = key->shard;
    if (htw__cell_has_key(&shard->first, key))
        return &shard->first;
    if (shard->first.has_second && htw__cell_has_key(&shard->second, key))
        return &shard->second;
    if (!shard->first.has_table)
        return NULL;
    struct htw__key_node *node =
        htw__key_table_find(&shard->table, key->hash, key->bytes, key->size);
    return node == NULL ? NULL : HTW_CONTAINER_OF(node, struct htw__key_cell, node);
}

/* The key to which a linked watch belongs. */
struct htw__key htw__watched_key_name(struct htw__purgatory_shard *shard,
                                      const struct htw__key_cell *key);

/* The last cell of a key. */
static inline struct htw__key_cell *htw__watched_key_last(struct htw__key_cell *key) {
    return key->more != NULL ? key->more->back : key;
}

/* Links a request to a key, behind the others. 0; -ENOMEM; -ESHUTDOWN. */
int htw__watch_link(const struct htw_purgatory *purgatory, struct htw_request *request,
                    struct htw__watch *watch, const struct htw__key *key);

/* Removes a watch of a request from its key, and frees the key if it was the last one. */
void htw__watch_unlink(const struct htw_purgatory *purgatory, struct htw__purgatory_shard *shard,
                       const struct htw_request *request, const struct htw__watch *watch);

/* A walk leaves a cell of a key, which is freed if nothing is there any more. */
void htw__cell_unpin(const struct htw_purgatory *purgatory, struct htw__purgatory_shard *shard,
                     struct htw__key_cell *key, struct htw__key_cell *cell);

/* Makes any key of a closed purgatory an orphan; NULL: there is none that is not. */
struct htw__key_cell *htw__watched_key_orphan(struct htw__purgatory_shard *shard);

#endif /* HTW_SRC_PURGATORY_WATCH_H */

/* SPDX-License-Identifier: MIT */
/* watch.c - links a request to a key, and unlinks it; allocates and frees keys. */
#include "watch.h"

#include "cpu.h"

_Static_assert(sizeof(struct htw__watched_key) + HTW__KEY_INLINE_BYTES <= HTW__SLOT_BYTES,
               "a key and its bytes fit into a slot");
_Static_assert(offsetof(struct htw__watched_key, node) == 0, "a node has the address of its key");
_Static_assert(offsetof(struct htw__watch, _link) == 0, "a link has the address of its watch");

static size_t long_key_bytes(size_t size) {
    return sizeof(struct htw__watched_key) + size;
}

static struct htw__watched_key *allocate_slot(const struct htw_purgatory *purgatory) {
    struct htw__cpu *cpu = htw__cpu_here(purgatory);
    uint8_t number;
    htw__lock_acquire(&cpu->key_pool_lock);
    struct htw__watched_key *key = htw__key_pool_allocate(&cpu->key_pool, &number);
    htw__lock_release(&cpu->key_pool_lock);
    if (key != NULL)
        key->node.tag = (uint32_t)number << HTW__KEY_NUMBER_SHIFT |
                        (uint32_t)(cpu - purgatory->cpus) << HTW__KEY_CPU_SHIFT;
    return key;
}

static void free_slot(const struct htw_purgatory *purgatory, struct htw__watched_key *key) {
    struct htw__cpu *cpu = &purgatory->cpus[key->node.tag >> HTW__KEY_CPU_SHIFT];
    htw__lock_acquire(&cpu->key_pool_lock);
    htw__key_pool_free(&cpu->key_pool, key, (uint8_t)(key->node.tag >> HTW__KEY_NUMBER_SHIFT));
    htw__lock_release(&cpu->key_pool_lock);
}

static struct htw__watched_key *allocate_key(const struct htw_purgatory *purgatory,
                                             struct htw__purgatory_shard *shard, size_t size) {
    if (size <= HTW__KEY_INLINE_BYTES)
        return allocate_slot(purgatory);
    struct htw__watched_key *key = htw__allocate(&purgatory->allocator, long_key_bytes(size));
    if (key != NULL) {
        key->node.tag = HTW__KEY_LONG;
        shard->bytes += long_key_bytes(size);
    }
    return key;
}

static void free_key(const struct htw_purgatory *purgatory, struct htw__purgatory_shard *shard,
                     struct htw__watched_key *key) {
    if ((key->node.tag & HTW__KEY_LONG) == 0) {
        free_slot(purgatory, key);
        return;
    }
    size_t bytes = long_key_bytes(key->node.size);
    shard->bytes -= bytes;
    htw__release(&purgatory->allocator, key, bytes);
}

static struct htw__watched_key *add_key(const struct htw_purgatory *purgatory,
                                        struct htw__purgatory_shard *shard,
                                        const struct htw__key *source) {
    struct htw__watched_key *key = allocate_key(purgatory, shard, source->size);
    if (key == NULL)
        return NULL;
    htw__key_node_set(&key->node, key + 1, source->hash, source->bytes, source->size);
    htw__ring_init(&key->watches);
    htw__key_table_insert(&shard->table, &key->node);
    return key;
}

int htw__watch_link(const struct htw_purgatory *purgatory, struct htw__purgatory_shard *shard,
                    struct htw__watch *watch, const struct htw__key *source) {
    if (shard->closed)
        return -ESHUTDOWN;
    struct htw__watched_key *key = htw__watched_key_find(shard, source);
    if (key == NULL) {
        if ((key = add_key(purgatory, shard, source)) == NULL)
            return -ENOMEM;
    } else if ((key->node.tag & HTW__KEY_UNWATCHED) != 0) {
        key->node.tag &= ~(uint32_t)HTW__KEY_UNWATCHED;
        shard->idle--;
    }
    watch->_key |= (uintptr_t)key;
    htw__ring_push_back(&key->watches, &watch->_link);
    shard->watched++;
    return 0;
}

/* Whether a deferred check holds a key without watches; counts the key as idle if so. */
static bool is_held(struct htw__purgatory_shard *shard, struct htw__watched_key *key) {
    bool was_unwatched = (key->node.tag & HTW__KEY_UNWATCHED) != 0;
    bool held = (key->node.tag & HTW__KEY_DEFERRED) != 0;
    if (held)
        key->node.tag |= HTW__KEY_UNWATCHED;
    shard->idle += (uint32_t)held - (uint32_t)was_unwatched;
    return held;
}

void htw__watched_key_free_if_unused(const struct htw_purgatory *purgatory,
                                     struct htw__purgatory_shard *shard,
                                     struct htw__watched_key *key) {
    if (!htw__ring_is_empty(&key->watches))
        return;
    bool is_orphan = false;
    if ((key->node.tag & (HTW__KEY_DEFERRED | HTW__KEY_UNWATCHED | HTW__KEY_ORPHAN)) != 0) {
        if (is_held(shard, key))
            return;
        is_orphan = (key->node.tag & HTW__KEY_ORPHAN) != 0;
        shard->orphans -= is_orphan;
    }
    if (!is_orphan)
        htw__key_table_remove(&shard->table, &key->node);
    free_key(purgatory, shard, key);
}

void htw__watch_unlink(const struct htw_purgatory *purgatory, struct htw__purgatory_shard *shard,
                       struct htw__watch *watch) {
    htw__link_unlink(&watch->_link);
    shard->watched--;
    htw__watched_key_free_if_unused(purgatory, shard, htw__watch_key(watch));
}

struct htw__watched_key *htw__watched_key_orphan(struct htw__purgatory_shard *shard) {
    struct htw__watched_key *key =
        (struct htw__watched_key *)(void *)htw__key_table_remove_any(&shard->table);
    if (key != NULL) {
        key->node.tag |= HTW__KEY_ORPHAN;
        shard->orphans++;
    }
    return key;
}

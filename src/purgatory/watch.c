/* SPDX-License-Identifier: MIT */
/* watch.c - links a request to a key, and unlinks it; allocates and frees keys and cells. */
#include "watch.h"

#include "cpu.h"

/* ---- the memory of cells */

/* For more watches of a key, or for another short one: that of the shard if it is free. NULL: no memory. */
static struct htw__key_cell *take_cell(const struct htw_purgatory *purgatory,
                                       struct htw__purgatory_shard *shard) {
    if (shard->first.has_second)
        return htw__cell_allocate(&htw__cpu_here(purgatory)->cells);
    shard->first.has_second = true;
    shard->second.more = NULL;
    return &shard->second;
}

static void give_back_cell(struct htw__purgatory_shard *shard, struct htw__key_cell *cell) {
    if (cell == &shard->second)
        shard->first.has_second = false;
    else
        htw__cell_free(cell);
}

/* ---- keys */

static size_t long_key_bytes(size_t size) {
    return offsetof(struct htw__key_cell, bytes_in_table) + size;
}

static struct htw__key_cell *allocate_key(const struct htw_purgatory *purgatory,
                                          struct htw__purgatory_shard *shard, size_t size) {
    if (size <= HTW__KEY_INLINE_BYTES)
        return shard->first.has_key ? take_cell(purgatory, shard) : &shard->first;
    struct htw__key_cell *key = htw__allocate(&purgatory->allocator, long_key_bytes(size));
    if (key == NULL)
        return NULL;
    *key = (struct htw__key_cell) { 0 };
    shard->bytes += long_key_bytes(size);
    return key;
}

static void free_key(const struct htw_purgatory *purgatory, struct htw__purgatory_shard *shard,
                     struct htw__key_cell *key) {
    if (!key->is_in_table || key->node.size <= HTW__KEY_INLINE_BYTES) {
        give_back_cell(shard, key);
        return;
    }
    size_t bytes = long_key_bytes(key->node.size);
    shard->bytes -= bytes;
    htw__release(&purgatory->allocator, key, bytes);
}

static struct htw__key_cell *add_key(const struct htw_purgatory *purgatory,
                                     const struct htw__key *source) {
    struct htw__purgatory_shard *shard = source->shard;
    struct htw__key_cell *key = allocate_key(purgatory, shard, source->size);
    if (key == NULL)
        return NULL;
    key->has_key = true;
    if (key == &shard->first || key == &shard->second) {
        htw__key_copy(key->bytes, source->bytes, source->size);
        key->size = (uint8_t)(source->size & 31u);
        return key;
    }
    key->is_in_table = true;
    htw__key_copy(key->bytes_in_table, source->bytes, source->size);
    htw__key_node_set(&key->node, source->hash, key->bytes_in_table, source->size);
    htw__key_table_insert(&shard->table, &key->node);
    shard->first.has_table = true;
    return key;
}

struct htw__key htw__watched_key_name(struct htw__purgatory_shard *shard,
                                      const struct htw__key_cell *key) {
    if (key->is_in_table)
        return (struct htw__key) { shard, key->node.hash, htw__key_node_key(&key->node),
                                   key->node.size };
    uint64_t hash = htw__key_hash(key->bytes, key->size, shard->purgatory->seed);
    return (struct htw__key) { shard, hash, key->bytes, key->size };
}

/* Frees a key that has no watches and no walks. */
static void remove_key(const struct htw_purgatory *purgatory, struct htw__purgatory_shard *shard,
                       struct htw__key_cell *key) {
    if (key->is_orphan) {
        shard->orphans--;
    } else if (key->is_in_table) {
        htw__key_table_remove(&shard->table, &key->node);
        shard->first.has_table = htw__key_table_count(&shard->table) > 0;
    }
    key->has_key = false;
    if (key != &shard->first)
        free_key(purgatory, shard, key);
}

static bool is_in_shard(const struct htw__key_cell *cell) {
    return cell->has_key && !cell->is_orphan;
}

struct htw__key_cell *htw__watched_key_orphan(struct htw__purgatory_shard *shard) {
    struct htw__key_cell *key = &shard->first;
    if (!is_in_shard(key))
        key = &shard->second;
    if (!is_in_shard(key)) {
        struct htw__key_node *node = htw__key_table_remove_any(&shard->table);
        if (node == NULL)
            return NULL;
        key = HTW_CONTAINER_OF(node, struct htw__key_cell, node);
    }
    key->is_orphan = true;
    shard->orphans++;
    return key;
}

/* ---- watches */

static uintptr_t address_of_key(const struct htw__key_cell *key) {
    return (uintptr_t)key + (key->is_in_table ? HTW__CELL_OF_TABLE : HTW__CELL_OF_SHARD);
}

/* Adds a cell to a key. NULL: no memory. */
static struct htw__key_cell *add_cell(const struct htw_purgatory *purgatory,
                                      struct htw__purgatory_shard *shard,
                                      struct htw__key_cell *key) {
    struct htw__key_cell *last = htw__watched_key_last(key);
    struct htw__key_cell *cell = take_cell(purgatory, shard);
    if (cell == NULL)
        return NULL;
    last->more = cell;
    cell->back = last;
    key->more->back = cell;
    cell->key = address_of_key(key);
    return cell;
}

/* Takes an empty cell out of the list of its key. */
static void remove_cell(struct htw__purgatory_shard *shard, struct htw__key_cell *key,
                        struct htw__key_cell *cell) {
    struct htw__key_cell *before = cell == key->more ? key : cell->back;
    if (cell->more != NULL)
        cell->more->back = cell->back;
    else if (before != key)
        key->more->back = before;
    before->more = cell->more;
    give_back_cell(shard, cell);
}

/* Moves the watches of a cell together, in their order. The same whichever there are: the processor could not foresee
   it. */
static void close_gaps(struct htw__key_cell *cell) {
    unsigned count = 0;
    for (unsigned i = 0; i < HTW__CELL_WATCHES; i++) {
        cell->watches[count] = cell->watches[i];
        count += cell->linked >> i & 1u;
    }
    cell->linked = ((1u << count) - 1) & HTW__CELL_ALL;
}

/* Whether there is no place behind the last watch. Gaps are closed only now, while no walk is in the cell: it would
   lose its place. */
static bool is_full(struct htw__key_cell *cell) {
    if (cell->is_in_table)
        return cell->linked != 0;
    if (cell->linked >> (HTW__CELL_WATCHES - 1) == 0)
        return false;
    if (cell->pins == 0)
        close_gaps(cell);
    return cell->linked >> (HTW__CELL_WATCHES - 1) != 0;
}

int htw__watch_link(const struct htw_purgatory *purgatory, struct htw_request *request,
                    struct htw__watch *watch, const struct htw__key *source) {
    /* order: Closing sets it, and then takes the lock of each shard. */
    if (atomic_load_explicit(&purgatory->closed, memory_order_relaxed))
        return -ESHUTDOWN;
    struct htw__key_cell *key = htw__watched_key_find(source);
    if (key == NULL && (key = add_key(purgatory, source)) == NULL)
        return -ENOMEM;
    struct htw__key_cell *cell = htw__watched_key_last(key);
    if (is_full(cell) && (cell = add_cell(purgatory, source->shard, key)) == NULL)
        return -ENOMEM;
    unsigned place = htw__highest_bit((unsigned)cell->linked << 1 | 1u); /* behind the last */
    cell->watches[place] = request;
    cell->linked = (cell->linked | 1u << place) & HTW__CELL_ALL;
    watch->_cell = cell == key ? address_of_key(key) : (uintptr_t)cell | HTW__CELL_OF_LIST;
    return 0;
}

/* No walk is in the cell, and no watch: frees it, and its key if nothing else is there. */
static void free_cell(const struct htw_purgatory *purgatory, struct htw__purgatory_shard *shard,
                      struct htw__key_cell *key, struct htw__key_cell *cell) {
    if (cell != key) {
        remove_cell(shard, key, cell);
        if (key->linked != 0 || key->pins > 0)
            return;
    }
    if (key->more == NULL)
        remove_key(purgatory, shard, key);
}

void htw__watch_unlink(const struct htw_purgatory *purgatory, struct htw__purgatory_shard *shard,
                       const struct htw_request *request, const struct htw__watch *watch) {
    struct htw__key_cell *cell = htw__watch_cell(watch);
    unsigned places = cell->is_in_table ? 1 : HTW__CELL_WATCHES, here = 0;
    for (unsigned i = 0; i < places; i++) /* likewise the same for each */
        here |= (unsigned)(cell->watches[i] == request) << i;
    unsigned left = cell->linked & ~here & HTW__CELL_ALL;
    cell->linked = left & HTW__CELL_ALL;
    if (left == 0 && cell->pins == 0)
        free_cell(purgatory, shard, htw__watch_key(watch), cell);
}

void htw__cell_unpin(const struct htw_purgatory *purgatory, struct htw__purgatory_shard *shard,
                     struct htw__key_cell *key, struct htw__key_cell *cell) {
    if (--cell->pins == 0 && cell->linked == 0)
        free_cell(purgatory, shard, key, cell);
}

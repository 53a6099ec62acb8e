/* SPDX-License-Identifier: MIT */
/*
 * key_pool.h - the memory of keys: slots of 64 bytes in chunks of 4 KiB.
 *
 * A chunk has a header and 63 slots, so a slot costs 65 bytes; an allocator that keeps the
 * alignment takes 80 to 128. The number of a slot, which its owner stores, leads to the header. An
 * empty chunk is freed if the others have some free slots, or if no slot is in use: a use that
 * goes up and down by a few slots does not allocate each time. Not thread-safe.
 */
#ifndef HTW_SRC_PURGATORY_KEY_POOL_H
#define HTW_SRC_PURGATORY_KEY_POOL_H

#include "../base/alloc.h"
#include "../base/list.h"

#include <stdint.h>

#define HTW__SLOT_BYTES 64u
#define HTW__CHUNK_SLOTS 63u

struct htw__key_pool {
    struct htw_allocator allocator;
    struct htw__link partial; /* ring of the chunks that have free slots */
    size_t free;              /* free slots in all chunks */
    size_t chunks;
};

/* The pool must not move afterwards. Copies the allocator. Allocates nothing. */
void htw__key_pool_init(struct htw__key_pool *pool, const struct htw_allocator *allocator);

/* Returns a slot, not initialised, and its number; NULL: there is no memory. */
void *htw__key_pool_allocate(struct htw__key_pool *pool, uint8_t *ret_number);

void htw__key_pool_free(struct htw__key_pool *pool, void *slot, uint8_t number);

/* The bytes of all chunks. */
size_t htw__key_pool_memory(const struct htw__key_pool *pool);

#endif /* HTW_SRC_PURGATORY_KEY_POOL_H */

/* SPDX-License-Identifier: MIT */
/*
 * chunks.h - the memory of the buckets of a shard: chunks of 512 bytes, in blocks of 64 KiB.
 *
 * A block with no chunk in use can be released. Memory of blocks is allocated and released without
 * the lock of the shard; all else happens under it.
 */
#ifndef HTW_SRC_SCHEDULER_CHUNKS_H
#define HTW_SRC_SCHEDULER_CHUNKS_H

#include "../base/alloc.h"
#include "../base/list.h"

#include <stddef.h>
#include <stdint.h>

/* That a timer is in a bucket: see store.h. */
struct htw__entry {
    uint64_t tick;  /* when the bucket must be looked at because of it */
    uint32_t index; /* of its record */
    uint32_t tag;   /* of generation and filing of the record */
};

#define HTW__CHUNK_BYTES 512u
#define HTW__CHUNK_ENTRIES ((uint32_t)(HTW__CHUNK_BYTES / sizeof(struct htw__entry)) - 1)

struct htw__chunk {
    struct htw__chunk *next; /* in its bucket, or of the free ones of its block */
    uint32_t end;            /* behind its last entry, unless it is the last of its bucket */
    uint32_t place;          /* in its block */
    struct htw__entry entries[HTW__CHUNK_BYTES / sizeof(struct htw__entry) - 1];
};

struct htw__block;

struct htw__chunks {
    struct htw_allocator allocator;
    struct htw__link partial; /* blocks with used and free chunks */
    struct htw__link empty;   /* blocks with no chunk in use */
    uint32_t free_count;      /* chunks */
    uint32_t empty_count, block_count;
};

void htw__chunks_init(struct htw__chunks *chunks, const struct htw_allocator *allocator);

/* No chunk is in use. */
void htw__chunks_fini(struct htw__chunks *chunks);

/* A chunk; its content is undefined. NULL: there is none. */
struct htw__chunk *htw__chunks_take(struct htw__chunks *chunks);
void htw__chunks_put(struct htw__chunks *chunks, struct htw__chunk *chunk);

/* Memory for chunks, NULL: there is none; and its release. Without the lock. */
struct htw__block *htw__chunks_allocate(const struct htw__chunks *chunks);
void htw__chunks_release(const struct htw__chunks *chunks, struct htw__block *block);

/* Puts memory to use. */
void htw__chunks_add(struct htw__chunks *chunks, struct htw__block *block);

/* Removes a block without used chunks if there is another one; NULL: there is not. */
struct htw__block *htw__chunks_remove(struct htw__chunks *chunks);

/* Memory that they hold. */
uint64_t htw__chunks_bytes(const struct htw__chunks *chunks);

#endif /* HTW_SRC_SCHEDULER_CHUNKS_H */

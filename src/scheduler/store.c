/* SPDX-License-Identifier: MIT */
/* store.c - the timing wheel of a clockwork: entries in, what is due out, and sweeps. */
#include "store.h"

#include "attributes.h"

#include <string.h>

_Static_assert(sizeof(struct htw__entry_bucket) == 64, "a bucket is a cache line");

/* ---- the stores of a shard */

void htw__stores_init(struct htw__stores *stores, const struct htw_scheduler *scheduler,
                      struct htw__slab *slab) {
    *stores = (struct htw__stores) { .scheduler = scheduler, .slab = slab, .sweep_at = HTW__LEFT_BEHIND_MAX };
    htw__chunks_init(&stores->chunks, &scheduler->allocator);
    htw__ring_init(&stores->all);
}

static uint32_t level_max(uint32_t bits) {
    return 63 / bits + 1;
}

static size_t store_bytes(uint32_t bits) {
    return sizeof(struct htw__store) + level_max(bits) * sizeof(struct htw__entry_bucket *);
}

/* The last level has fewer buckets than the others. */
static uint32_t bucket_count(const struct htw__store *store, uint32_t level) {
    uint64_t widths = UINT64_MAX >> (level * store->bits);
    return (widths < store->mask ? (uint32_t)widths : store->mask) + 1;
}

static size_t level_bytes(const struct htw__store *store, uint32_t level) {
    return bucket_count(store, level) * sizeof(struct htw__entry_bucket);
}

static size_t all_bytes(const struct htw__store *store) {
    size_t bytes = store_bytes(store->bits) + htw__delay_queue_memory(&store->queue);
    for (uint32_t level = 0; level < store->level_count; level++)
        bytes += level_bytes(store, level);
    return bytes;
}

/* 0 or -ENOMEM. */
static int create_level(struct htw__store *store) {
    const struct htw_allocator *allocator = &store->stores->scheduler->allocator;
    uint32_t level = store->level_count;
    struct htw__entry_bucket *buckets = htw__allocate(allocator, level_bytes(store, level));
    if (buckets == NULL)
        return -ENOMEM;
    int error = htw__delay_queue_reserve(&store->queue, allocator,
                                         (level << store->bits) + bucket_count(store, level));
    if (error != 0) {
        htw__release(allocator, buckets, level_bytes(store, level));
        return error;
    }
    HTW__ANNOTATE_IGNORE_BEGIN();
    memset(buckets, 0, level_bytes(store, level));
    HTW__ANNOTATE_IGNORE_END();
    store->levels[level] = buckets;
    store->level_count++;
    return 0;
}

int htw__store_create(struct htw__store **ret_store, const struct htw__clockwork *clockwork,
                      uint32_t size, uint64_t start) {
    struct htw__stores *stores = clockwork->stores;
    uint32_t bits = (uint32_t)__builtin_ctz(size);
    struct htw__store *store = htw__allocate(&stores->scheduler->allocator, store_bytes(bits));
    if (store == NULL)
        return -ENOMEM;
    *store = (struct htw__store) {
        .stores = stores,
        .clockwork = clockwork,
        .clock = start,
        .mask = size - 1,
        .bits = (uint8_t)bits,
        .unfiled_tick = HTW_NEVER_TICK,
        .unfiled_next = HTW_NEVER_TICK,
    };
    htw__delay_queue_init(&store->queue, bits);
    int error = create_level(store);
    if (error != 0)
        htw__release(&stores->scheduler->allocator, store, store_bytes(bits));
    else
        *ret_store = store;
    return error;
}

void htw__store_add(struct htw__store *store) {
    htw__ring_push_back(&store->stores->all, &store->link);
    store->stores->bytes += all_bytes(store);
}

void htw__store_destroy(struct htw__store *store) {
    if (store == NULL)
        return;
    const struct htw_allocator *allocator = &store->stores->scheduler->allocator;
    for (uint32_t level = 0; level < store->level_count; level++)
        htw__release(allocator, store->levels[level], level_bytes(store, level));
    htw__delay_queue_fini(&store->queue, allocator);
    htw__release(allocator, store, store_bytes(store->bits));
}

static void remove_store(struct htw__store *store) {
    HTW_ASSERT(store->count == 0);
    htw__link_unlink(&store->link);
    store->stores->bytes -= all_bytes(store);
    htw__store_destroy(store);
}

void htw__store_retire(struct htw__store *store) {
    if (store == NULL)
        return;
    store->retired = true;
    store->stores->retired_count++;
}

/* ---- buckets */

static bool is_empty(const struct htw__entry_bucket *bucket) {
    return bucket->first == NULL && bucket->own_begin == bucket->own_end;
}

/* Where the entries of a chunk begin and end. */
static uint32_t begin_of(const struct htw__entry_bucket *bucket, const struct htw__chunk *chunk) {
    return chunk == bucket->first ? bucket->first_begin : 0;
}

static uint32_t end_of(const struct htw__entry_bucket *bucket, const struct htw__chunk *chunk) {
    return chunk == bucket->last ? bucket->last_end : chunk->end;
}

/* False: there is no memory. */
static HTW__NOINLINE bool grow(struct htw__stores *stores, struct htw__entry_bucket *bucket) {
    struct htw__chunk *chunk = htw__chunks_take(&stores->chunks);
    if (chunk == NULL)
        return false;
    chunk->next = NULL;
    if (bucket->first == NULL) {
        bucket->first = chunk;
        bucket->first_begin = 0;
    } else {
        bucket->last->end = bucket->last_end;
        bucket->last->next = chunk;
    }
    bucket->last = chunk;
    bucket->last_end = 0;
    return true;
}

static inline bool add(struct htw__stores *stores, struct htw__entry_bucket *bucket,
                       struct htw__entry entry) {
    if (bucket->first == NULL && bucket->own_end < HTW__BUCKET_ENTRIES) {
        bucket->own[bucket->own_end++] = entry;
        return true;
    }
    if (HTW__UNLIKELY(bucket->first == NULL || bucket->last_end == HTW__CHUNK_ENTRIES) &&
        !grow(stores, bucket))
        return false;
    bucket->last->entries[bucket->last_end++] = entry;
    return true;
}

/* The bucket must not be empty. */
static const struct htw__entry *first_of(const struct htw__entry_bucket *bucket) {
    return bucket->own_begin < bucket->own_end ? &bucket->own[bucket->own_begin]
                                               : &bucket->first->entries[bucket->first_begin];
}

/* The sweep leaves the bucket in which it is: it is being emptied. */
static void leave_bucket(struct htw__stores *stores) {
    stores->sweep.id++;
    stores->sweep.inside = false;
    stores->sweep.previous = stores->sweep.into = NULL;
}

/* Removes a chunk without entries, which comes after `previous` (NULL: the first). */
static void remove_chunk(struct htw__stores *stores, struct htw__entry_bucket *bucket,
                         struct htw__chunk *previous, struct htw__chunk *chunk) {
    if (previous == NULL) {
        bucket->first = chunk->next;
        bucket->first_begin = 0;
    } else {
        previous->next = chunk->next;
    }
    if (chunk == bucket->last) {
        bucket->last = previous;
        bucket->last_end = previous == NULL ? 0 : (uint16_t)previous->end;
    }
    htw__chunks_put(&stores->chunks, chunk);
}

static HTW__NOINLINE void remove_first_chunk(struct htw__stores *stores,
                                             struct htw__entry_bucket *bucket) {
    if (bucket->first == stores->sweep.previous || bucket->first == stores->sweep.into)
        leave_bucket(stores);
    remove_chunk(stores, bucket, NULL, bucket->first);
}

static inline void remove_first(struct htw__stores *stores, struct htw__entry_bucket *bucket) {
    if (bucket->own_begin < bucket->own_end) {
        if (++bucket->own_begin == bucket->own_end)
            bucket->own_begin = bucket->own_end = 0;
    } else if (++bucket->first_begin == end_of(bucket, bucket->first)) {
        remove_first_chunk(stores, bucket);
    }
}

static struct htw__entry_bucket *bucket_at(const struct htw__store *store, uint32_t id) {
    return &store->levels[id >> store->bits][id & store->mask];
}

/* ---- filing */

/* The lowest level whose window holds a tick after the clock; it may not exist. */
static inline uint32_t level_for(const struct htw__store *store, uint64_t tick) {
    uint32_t level = 0;
    if (tick - store->clock <= store->mask)
        return level;
    uint32_t shift = 0;
    do {
        level++;
        shift += store->bits;
    } while ((tick >> shift) - (store->clock >> shift) > store->mask);
    return level;
}

static HTW__NOINLINE int create_levels(struct htw__store *store, uint32_t level) {
    int error = 0;
    while (error == 0 && store->level_count <= level) {
        store->stores->bytes -= all_bytes(store);
        error = create_level(store);
        store->stores->bytes += all_bytes(store);
    }
    return error;
}

static inline int file(struct htw__store *store, struct htw__entry entry) {
    struct htw__stores *stores = store->stores;
    HTW_ASSERT(entry.tick != HTW_NEVER_TICK);
    if (HTW__UNLIKELY(entry.tick <= store->clock)) {
        if (!add(stores, store->in_round ? &store->next_round : &store->due, entry))
            return -ENOMEM;
    } else {
        uint32_t level = level_for(store, entry.tick);
        if (HTW__UNLIKELY(level >= store->level_count) && create_levels(store, level) != 0)
            return -ENOMEM;
        uint32_t slot = (uint32_t)(entry.tick >> (level * store->bits)) & store->mask;
        if (!add(stores, &store->levels[level][slot], entry))
            return -ENOMEM;
        htw__delay_queue_offer(&store->queue, level << store->bits | slot, entry.tick, 0);
    }
    store->count++;
    stores->entry_count++;
    return 0;
}

int htw__store_file(struct htw__store *store, struct htw__entry entry) {
    return file(store, entry);
}

/* Whether a PENDING record may have its entry in the store: the tag may fit by chance. */
static inline bool may_have(const struct htw__store *store, const struct htw__record *record,
                            uint64_t status) {
    if (HTW__LIKELY(!(status & HTW__HAS_ATTRIBUTES)))
        return store->clockwork->slot == 0;
    return record->attributes->clockwork == store->clockwork && !record->attributes->paused;
}

/* The record of an entry that a timer needs, or may need; NULL: it was left behind. */
static inline struct htw__record *record_of(const struct htw__store *store,
                                            struct htw__entry entry) {
    struct htw__cell *cell = htw__slab_find(store->stores->slab, entry.index);
    if (HTW__UNLIKELY(cell == NULL))
        return NULL;
    struct htw__record *record = htw__record_of(cell);
    uint64_t status = htw__status_of(record);
    return htw__entry_tag(status) == entry.tag && htw__status_state(status) == HTW__PENDING &&
                   may_have(store, record, status)
               ? record
               : NULL;
}

static HTW__NOINLINE void set_unfiled(struct htw__store *store, struct htw__record *record,
                                      uint64_t tick) {
    uint64_t status = htw__status_of(record);
    do {
        if (htw__status_state(status) != HTW__PENDING)
            return; /* claimed just now */
    } while (!htw__status_change(record, &status,
                                 (status & ~(uint64_t)HTW__MOVED) | HTW__UNFILED));
    if (tick < store->unfiled_tick)
        store->unfiled_tick = tick;
    if (tick < store->unfiled_next) /* a search that is under way may have passed it */
        store->unfiled_next = tick;
}

void htw__store_file_always(struct htw__store *store, struct htw__record *record,
                            struct htw__entry entry) {
    if (HTW__UNLIKELY(file(store, entry) != 0))
        set_unfiled(store, record, entry.tick);
}

bool htw__store_unfiled(struct htw__store *store, struct htw__record *record) {
    uint64_t status = htw__status_of(record);
    do {
        if (!(status & HTW__UNFILED) || htw__status_state(status) != HTW__PENDING ||
            !may_have(store, record, status))
            return false;
    } while (!htw__status_change(record, &status, status & ~(uint64_t)HTW__UNFILED));
    return true;
}

/* Files an entry that came up before its time. */
static inline void file_again(struct htw__store *store, struct htw__entry entry) {
    if (HTW__LIKELY(file(store, entry) == 0))
        return;
    struct htw__record *record = record_of(store, entry);
    if (record != NULL)
        set_unfiled(store, record, entry.tick);
}

/* ---- what is due */

static void fetch_record(const struct htw__stores *stores, struct htw__entry entry) {
    HTW__PREFETCH(htw__slab_find(stores->slab, entry.index));
}

/* Of the chunk that is emptied next, the records; and of the one behind it, the entries. */
static inline void fetch_ahead(const struct htw__stores *stores,
                               const struct htw__entry_bucket *bucket) {
    const struct htw__chunk *chunk = bucket->first;
    if (chunk == NULL)
        return;
    for (uint32_t i = bucket->first_begin, end = end_of(bucket, chunk); i < end; i++)
        fetch_record(stores, chunk->entries[i]);
    if (chunk->next != NULL)
        for (uint32_t i = 0; i < HTW__CHUNK_BYTES; i += HTW__CACHE_LINE)
            HTW__PREFETCH((const char *)chunk->next + i);
}

/* Removes up to `max` entries from a bucket, and fetches their records. */
static inline uint32_t take(struct htw__store *store, struct htw__entry_bucket *bucket,
                            struct htw__entry *entries, uint32_t max, bool fetches) {
    uint32_t count = 0;
    while (count < max && !is_empty(bucket)) {
        entries[count] = *first_of(bucket);
        if (fetches)
            fetch_record(store->stores, entries[count]);
        count++;
        remove_first(store->stores, bucket);
    }
    store->count -= count;
    store->stores->entry_count -= count;
    return count;
}

/* Files a timer that was moved for its present deadline. */
static void file_later(struct htw__store *store, struct htw__record *record,
                       struct htw__entry entry) {
    entry.tick = htw__tick_from(store->stores->scheduler, record->deadline_ns);
    htw__record_is_filed(record);
    if (entry.tick != HTW_NEVER_TICK)
        file_again(store, entry);
}

/* Drops what was left behind at the beginning of the buckets that are next, so that no thread wakes up for
   it. False: the budget ends before. */
static bool discard_left_behind(struct htw__store *store, size_t budget) {
    while (!htw__delay_queue_is_empty(&store->queue)) {
        struct htw__entry_bucket *bucket = bucket_at(store, htw__delay_queue_top(&store->queue).id);
        while (!is_empty(bucket)) {
            struct htw__entry entry = *first_of(bucket);
            struct htw__record *record = record_of(store, entry);
            if (record != NULL &&
                htw__tick_from(store->stores->scheduler, record->deadline_ns) <= entry.tick)
                return true;
            if (budget-- == 0)
                return false;
            take(store, bucket, &entry, 1, false);
            if (record != NULL)
                file_later(store, record, entry);
        }
        htw__delay_queue_pop(&store->queue);
    }
    return true;
}

static void end_round(struct htw__store *store, uint64_t now) {
    store->in_round = false;
    store->clock = now;
    struct htw__entry_bucket empty = store->due;
    store->due = store->next_round;
    store->next_round = empty;
}

struct htw__record *htw__store_record(const struct htw__store *store, struct htw__entry entry) {
    return record_of(store, entry);
}

/* Takes a slice of a bucket. Returns the steps. */
static inline uint32_t empty_some(struct htw__store *store, struct htw__entry_bucket *bucket,
                                  struct htw__entry *due, uint32_t max, size_t *count) {
    struct htw__entry entries[HTW__SLICE];
    bool comes_up = first_of(bucket)->tick <= store->clock;
    uint32_t taken = take(store, bucket, entries, max < HTW__SLICE ? max : HTW__SLICE, comes_up);
    for (uint32_t i = 0; i < taken; i++) {
        if (entries[i].tick > store->clock) {
            store->stores->demoted++;
            file_again(store, entries[i]);
            continue;
        }
        due[(*count)++] = entries[i];
    }
    if (comes_up)
        fetch_ahead(store->stores, bucket);
    return taken;
}

enum htw_wheel_progress htw__store_poll(struct htw__store *store, uint64_t now,
                                        struct htw__entry entries[], size_t max, size_t budget,
                                        size_t *ret_count) {
    size_t count = 0;
    if (now >= HTW_NEVER_TICK)
        now = HTW_NEVER_TICK - 1;
    if (now < store->clock)
        now = store->clock;
    store->in_round = true;
    *ret_count = 0;
    for (;;) {
        bool is_due = !is_empty(&store->due);
        struct htw__delay_queue_entry top = htw__delay_queue_top(&store->queue);
        if (!is_due && top.key > now)
            break;
        if (count == max || budget == 0) {
            *ret_count = count;
            return HTW_MORE;
        }
        struct htw__entry_bucket *bucket = is_due ? &store->due : bucket_at(store, top.id);
        if (!is_due && top.key != store->clock)
            store->clock = top.key;
        size_t room = max - count < budget ? max - count : budget;
        uint32_t steps = is_empty(bucket) ? 0
                                          : empty_some(store, bucket, entries, (uint32_t)room, &count);
        budget -= steps == 0 ? 1 : steps;
        if (!is_due && is_empty(bucket))
            htw__delay_queue_pop(&store->queue);
    }
    *ret_count = count;
    if (count == max || !discard_left_behind(store, budget))
        return HTW_MORE;
    end_round(store, now);
    return HTW_DONE;
}

uint64_t htw__store_next(const struct htw__store *store) {
    if (!is_empty(&store->due) || !is_empty(&store->next_round))
        return store->clock;
    return htw__delay_queue_top(&store->queue).key;
}

/* A bucket that is not empty; NULL: none, or the budget ends before one is found. */
static struct htw__entry_bucket *any_bucket(struct htw__store *store, size_t *budget) {
    if (!is_empty(&store->due))
        return &store->due;
    if (!is_empty(&store->next_round))
        return &store->next_round;
    for (; !htw__delay_queue_is_empty(&store->queue) && *budget > 0; --*budget) {
        struct htw__entry_bucket *bucket = bucket_at(store, htw__delay_queue_top(&store->queue).id);
        if (!is_empty(bucket))
            return bucket;
        htw__delay_queue_pop(&store->queue);
    }
    return NULL;
}

bool htw__store_move(struct htw__store *from, struct htw__store *to, size_t max) {
    struct htw__entry entry = { 0 };
    struct htw__entry_bucket *bucket;
    for (; max > 0 && (bucket = any_bucket(from, &max)) != NULL; max--) {
        take(from, bucket, &entry, 1, false);
        file_again(to, entry);
    }
    return from->count > 0;
}

/* ---- sweeps */

/* Keeps the entries that are needed. Returns their number. */
static uint32_t compact(struct htw__store *store, struct htw__entry *entries, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        fetch_record(store->stores, entries[i]);
    for (uint32_t i = 0; i < count; i++)
        if (record_of(store, entries[i]) != NULL)
            entries[kept++] = entries[i];
    store->count -= count - kept;
    store->stores->entry_count -= count - kept;
    return kept;
}

static void set_end(struct htw__entry_bucket *bucket, struct htw__chunk *chunk, uint32_t end) {
    chunk->end = end;
    if (chunk == bucket->last)
        bucket->last_end = (uint16_t)end;
}

/* Moves entries of a chunk to the end of the one before it that has room. Returns how many are left. */
static uint32_t fill_up(struct htw__stores *stores, struct htw__entry_bucket *bucket,
                        struct htw__chunk *chunk, uint32_t count) {
    struct htw__chunk *into = stores->sweep.into;
    uint32_t end = into == NULL ? HTW__CHUNK_ENTRIES : end_of(bucket, into);
    uint32_t moved = HTW__CHUNK_ENTRIES - end < count ? HTW__CHUNK_ENTRIES - end : count;
    if (moved > 0) {
        memcpy(&into->entries[end], chunk->entries, moved * sizeof(chunk->entries[0]));
        memmove(chunk->entries, &chunk->entries[moved],
                (count - moved) * sizeof(chunk->entries[0]));
        set_end(bucket, into, end + moved);
    }
    if (count > moved)
        stores->sweep.into = chunk;
    return count - moved;
}

/* Visits the next chunk of a bucket. False: there is none. */
static bool sweep_chunk(struct htw__store *store, struct htw__entry_bucket *bucket) {
    struct htw__stores *stores = store->stores;
    struct htw__chunk *previous = stores->sweep.previous;
    struct htw__chunk *chunk = previous == NULL ? bucket->first : previous->next;
    if (chunk == NULL)
        return false;
    uint32_t begin = begin_of(bucket, chunk), end = end_of(bucket, chunk);
    if (begin > 0) { /* the bucket is being emptied */
        memmove(chunk->entries, &chunk->entries[begin], (end - begin) * sizeof(chunk->entries[0]));
        bucket->first_begin = 0;
    }
    uint32_t count = compact(store, chunk->entries, end - begin);
    count = fill_up(stores, bucket, chunk, count);
    set_end(bucket, chunk, count);
    if (count > 0)
        stores->sweep.previous = chunk;
    else
        remove_chunk(stores, bucket, previous, chunk);
    return true;
}

/* The next queued bucket from `id` on; UINT32_MAX: none. */
static uint32_t next_queued(const struct htw__store *store, uint32_t id) {
    for (uint32_t level = id >> store->bits; level < store->level_count; level++) {
        uint32_t first_id = level << store->bits;
        uint32_t from = id > first_id ? id - first_id : 0;
        uint32_t slot = htw__bitmap_next(&store->queue.queued[level], from);
        if (slot != HTW__BITMAP_NONE && slot >= from)
            return first_id + slot;
    }
    return UINT32_MAX;
}

/* The store that the sweep visits next; NULL: none. */
static struct htw__store *store_after(const struct htw__stores *stores,
                                      const struct htw__link *link) {
    return link->_next == &stores->all ? NULL
                                       : HTW_CONTAINER_OF(link->_next, struct htw__store, link);
}

static void leave_store(struct htw__stores *stores) {
    stores->sweep.store = store_after(stores, &stores->sweep.store->link);
    stores->sweep.id = 0;
    stores->sweep.inside = false;
    stores->sweep.previous = stores->sweep.into = NULL;
    if (stores->sweep.store == NULL)
        stores->sweep_at = stores->entry_count + (stores->entry_count / 2 > HTW__LEFT_BEHIND_MAX ? stores->entry_count / 2 : HTW__LEFT_BEHIND_MAX);
}

/* Empties a store that was given up, and frees it. */
static void sweep_retired(struct htw__store *store) {
    struct htw__stores *stores = store->stores;
    struct htw__entry entries[HTW__SLICE];
    size_t budget = HTW__SLICE;
    struct htw__entry_bucket *bucket = any_bucket(store, &budget);
    if (bucket != NULL) {
        take(store, bucket, entries, HTW__SLICE, false);
    } else if (budget > 0) {
        leave_store(stores);
        stores->retired_count--;
        remove_store(store);
    }
}

static void sweep_bucket(struct htw__store *store, uint32_t id) {
    struct htw__stores *stores = store->stores;
    struct htw__entry_bucket *bucket = bucket_at(store, id);
    if (id != stores->sweep.id || !stores->sweep.inside) {
        stores->sweep.id = id;
        stores->sweep.inside = true;
        stores->sweep.previous = stores->sweep.into = NULL;
        if (bucket->own_begin == 0) /* otherwise it is being emptied */
            bucket->own_end = (uint16_t)compact(store, bucket->own, bucket->own_end);
    }
    if (!sweep_chunk(store, bucket))
        leave_bucket(stores);
}

void htw__stores_sweep(struct htw__stores *stores) {
    if (stores->sweep.store == NULL) {
        stores->sweep.store = store_after(stores, &stores->all);
        stores->sweep_at = 0;
    }
    struct htw__store *store = stores->sweep.store;
    if (store->retired) {
        sweep_retired(store);
        return;
    }
    uint32_t id = next_queued(store, stores->sweep.id);
    if (id == UINT32_MAX)
        leave_store(stores);
    else
        sweep_bucket(store, id);
}

static void discard_all(struct htw__store *store) {
    struct htw__entry_bucket *bucket;
    struct htw__entry entries[HTW__SLICE];
    size_t budget = SIZE_MAX;
    while ((bucket = any_bucket(store, &budget)) != NULL)
        take(store, bucket, entries, HTW__SLICE, false);
}

void htw__stores_fini(struct htw__stores *stores) {
    struct htw__link *link;
    if (stores->slab == NULL) /* not initialised */
        return;
    stores->sweep.previous = stores->sweep.into = NULL;
    while ((link = stores->all._next) != &stores->all) {
        struct htw__store *store = HTW_CONTAINER_OF(link, struct htw__store, link);
        discard_all(store);
        remove_store(store);
    }
    htw__chunks_fini(&stores->chunks);
}

/* ---- inspection */

static size_t count_needed(const struct htw__store *store, const struct htw__entry *entries,
                           uint32_t count) {
    size_t needed = 0;
    for (uint32_t i = 0; i < count; i++)
        needed += record_of(store, entries[i]) != NULL;
    return needed;
}

size_t htw__store_count_in(const struct htw__store *store, unsigned level, uint32_t slot,
                           size_t most) {
    if (level >= store->level_count || slot >= bucket_count(store, level))
        return 0;
    const struct htw__entry_bucket *bucket = &store->levels[level][slot];
    size_t needed = count_needed(store, &bucket->own[bucket->own_begin],
                                 (uint32_t)(bucket->own_end - bucket->own_begin));
    for (const struct htw__chunk *chunk = bucket->first; chunk != NULL && needed < most;
         chunk = chunk->next) {
        uint32_t begin = begin_of(bucket, chunk);
        needed += count_needed(store, &chunk->entries[begin], end_of(bucket, chunk) - begin);
    }
    return needed < most ? needed : most;
}

/* SPDX-License-Identifier: MIT */
/* shard.c - a shard: its clockworks, and how its records are freed. */
#include "shard.h"
#include "../base/compiler.h"

#define NO_INDEX HTW__SLAB_NONE

/* What is constant in a clockwork of the shard. */
static struct htw__clockwork clockwork_of(struct htw__shard *shard) {
    return (struct htw__clockwork) {
        .scheduler = shard->scheduler,
        .lock = &shard->lock,
        .waker = shard->waker,
        .stores = &shard->stores,
    };
}

int htw__shard_init(struct htw__shard *shard, struct htw_scheduler *scheduler, uint32_t index,
                    struct htw__waker *waker) {
    *shard = (struct htw__shard) {
        .scheduler = scheduler,
        .waker = waker,
        .index = index,
        .stale_to_free = NO_INDEX,
    };
    htw__lock_init(&shard->lock, HTW__RANK_SCHEDULER_SHARD);
    atomic_init(&shard->stale, NO_INDEX);
    htw__slab_init(&shard->slab, &scheduler->allocator,
                   scheduler->has_executor ? HTW__TASK_RECORD_BITS : HTW__RECORD_BITS,
                   scheduler->index_bits,
                   64u - scheduler->generation_shift < 32u ? 64u - scheduler->generation_shift
                                                           : 32u);
    htw__stores_init(&shard->stores, scheduler, &shard->slab);
    htw__key_table_init(&shard->keys, &scheduler->allocator);
    shard->own = clockwork_of(shard);
    int error = htw__clockwork_init(&shard->own, scheduler->clock, 0);
    if (error == 0)
        htw__store_add(shard->own.store);
    return error;
}

/* Not its stores. */
static void release_clockwork(struct htw__shard *shard, struct htw__clockwork *clockwork) {
    if (clockwork == NULL)
        return;
    htw__heap_fini(&clockwork->leading, &shard->scheduler->allocator);
    htw__release(&shard->scheduler->allocator, clockwork, sizeof(*clockwork));
}

void htw__shard_fini(struct htw__shard *shard) {
    if (shard->scheduler == NULL) /* not initialised */
        return;
    htw__stores_fini(&shard->stores);
    htw__heap_fini(&shard->own.leading, &shard->scheduler->allocator);
    for (uint32_t slot = 1; slot < HTW__SLOT_COUNT; slot++)
        release_clockwork(shard, htw__shard_clockwork_at(shard, slot));
    htw__slab_fini(&shard->slab);
    htw__key_table_fini(&shard->keys);
}

/* ---- clockworks of other clocks */

/* One that was not added. */
static void destroy_clockwork(struct htw__shard *shard, struct htw__clockwork *clockwork) {
    if (clockwork != NULL)
        htw__store_destroy(clockwork->store);
    release_clockwork(shard, clockwork);
}

/* Without the lock, since it takes long. */
static int create_clockwork(struct htw__shard *shard, const struct htw__clock *clock,
                            struct htw__clockwork **ret_clockwork) {
    const struct htw_allocator *allocator = &shard->scheduler->allocator;
    struct htw__clockwork *clockwork = htw__allocate(allocator, sizeof(*clockwork));
    if (clockwork == NULL)
        return -ENOMEM;
    *clockwork = clockwork_of(shard);
    int error = htw__clockwork_init(clockwork, clock, (uint32_t)clock->name);
    if (error == 0)
        error = htw__waker_add_clock(shard->waker);
    if (error != 0)
        destroy_clockwork(shard, clockwork);
    else
        *ret_clockwork = clockwork;
    return error;
}

/* Takes a new clockwork into the shard. False: another thread was faster. Under the lock. */
static bool add_clockwork(struct htw__shard *shard, struct htw__clockwork *clockwork) {
    if (htw__shard_clockwork_at(shard, clockwork->slot) != NULL)
        return false;
    htw__counter_add(&shard->attributes_bytes, sizeof(*clockwork));
    htw__store_add(clockwork->store);
    /* The bit first: a thread that finds the clockwork may set the alarm, and the expirer that it
       wakes must see the bit. */
    atomic_fetch_or_explicit(&shard->scheduler->clocks_in_use, 1u << clockwork->slot,
                             memory_order_relaxed);
    atomic_store_explicit(&shard->others[clockwork->slot], clockwork, memory_order_release);
    return true;
}

int htw__shard_clockwork(struct htw__shard *shard, const struct htw__clock *clock,
                         struct htw__clockwork **ret_clockwork) {
    uint32_t slot = clock == shard->scheduler->clock ? 0 : (uint32_t)clock->name;
    struct htw__clockwork *clockwork = NULL;
    *ret_clockwork = htw__shard_clockwork_at(shard, slot);
    if (HTW__LIKELY(*ret_clockwork != NULL))
        return 0;
    int error = create_clockwork(shard, clock, &clockwork);
    if (error != 0)
        return error;
    htw__lock_acquire(&shard->lock);
    if (shard->closed)
        error = -ESHUTDOWN;
    else if (add_clockwork(shard, clockwork))
        clockwork = NULL;
    htw__lock_release(&shard->lock);
    destroy_clockwork(shard, clockwork);
    *ret_clockwork = htw__shard_clockwork_at(shard, slot);
    return error;
}

void htw__shard_wake(struct htw__shard *shard, unsigned slots) {
    for (uint32_t slot = 0; slot < HTW__SLOT_COUNT; slot++)
        if (slots & 1u << slot)
            htw__clockwork_wake(htw__shard_clockwork_at(shard, slot));
}

/* ---- records */

void htw__shard_reserve_chunks(struct htw__shard *shard, uint32_t count) {
    struct htw__chunks *chunks = &shard->stores.chunks;
    while (HTW__UNLIKELY(chunks->free_count < count)) {
        htw__lock_release(&shard->lock);
        struct htw__block *block = htw__chunks_allocate(chunks);
        htw__lock_acquire(&shard->lock);
        if (block == NULL)
            return;
        htw__chunks_add(chunks, block);
    }
}

int htw__shard_allocate_record_slow(struct htw__shard *shard, struct htw__record **ret_record,
                                    uint32_t *ret_index) {
    htw__shard_reserve_chunks(shard, 1);
    struct htw__cell *cell = htw__slab_allocate(&shard->slab, ret_index);
    /* Stale records are reused before the slab grows. */
    if (cell == NULL && !htw__shard_reclaim(shard)) {
        htw__lock_release(&shard->lock);
        struct htw__cell *page = htw__slab_allocate_page(&shard->slab);
        htw__lock_acquire(&shard->lock);
        if (page == NULL)
            return -ENOMEM;
        int error = htw__slab_add_page(&shard->slab, page);
        if (error != 0) {
            htw__slab_release_page(&shard->slab, page);
            return error;
        }
    }
    if (cell == NULL)
        cell = htw__slab_allocate(&shard->slab, ret_index);
    if (cell == NULL) /* other threads were faster while the shard was unlocked */
        return htw__shard_allocate_record_slow(shard, ret_record, ret_index);
    *ret_record = htw__record_of(cell);
    return 0;
}

/* ---- stale records */

/* Pushes records that are linked by next_stale, from `first` to `last`. */
static void push_chain(struct htw__shard *shard, uint32_t first, struct htw__record *last,
                       uint32_t count) {
    uint64_t top = atomic_load_explicit(&shard->stale, memory_order_relaxed);
    uint64_t pushed;
    do {
        last->next_stale = (uint32_t)top;
        pushed = ((top >> 32) + count) << 32 | first;
    } while (!atomic_compare_exchange_weak_explicit(&shard->stale, &top, pushed,
                                                    memory_order_release, memory_order_relaxed));
    if ((uint32_t)top == NO_INDEX) /* in case no thread of the shard reuses them */
        htw__wake_for_cleanup(shard->waker);
}

void htw__shard_push_stale(struct htw__shard *shard, struct htw__record *record, uint32_t index,
                           uint32_t later) {
    record->prefetch_stale = later;
    push_chain(shard, index, record, 1);
}

void htw__shard_push_all_stale(struct htw__shard *shard, struct htw__record *const *records,
                               uint32_t count) {
    HTW_ASSERT(count > 0 && count <= HTW__SLICE);
    uint32_t indices[HTW__SLICE + HTW__STALE_AHEAD];
    for (uint32_t i = 0; i < count; i++)
        indices[i] = htw__slab_index(&shard->slab, &records[i]->cell);
    for (uint32_t i = count; i < count + HTW__STALE_AHEAD; i++)
        indices[i] = indices[count - 1];
    for (uint32_t i = 0; i < count; i++) {
        records[i]->next_stale = indices[i + 1];
        records[i]->prefetch_stale = indices[i + HTW__STALE_AHEAD];
    }
    push_chain(shard, indices[0], records[count - 1], count);
}

bool htw__shard_reclaim(struct htw__shard *shard) {
    if (shard->stale_to_free == NO_INDEX) {
        if ((uint32_t)atomic_load_explicit(&shard->stale, memory_order_relaxed) == NO_INDEX)
            return false;
        shard->stale_to_free =
            (uint32_t)atomic_exchange_explicit(&shard->stale, NO_INDEX, memory_order_acquire);
    }
    for (unsigned i = 0; i < HTW__SLICE && shard->stale_to_free != NO_INDEX; i++) {
        struct htw__record *record =
            htw__record_of(htw__slab_find(&shard->slab, shard->stale_to_free));
        shard->stale_to_free = record->next_stale;
        /* The records are in the cache of another CPU. Without this, waiting for one after another
           would take most of the time. A prefetch of NULL does nothing. */
        HTW__PREFETCH(htw__slab_find(&shard->slab, record->prefetch_stale));
        htw__shard_free_record(shard, record);
    }
    return true;
}

/* ---- cleanup */

/* How many pages are released at a time. */
#define PAGES 8u

static unsigned remove_pages(struct htw__shard *shard, struct htw__cell **pages) {
    unsigned count = 0;
    htw__lock_acquire(&shard->lock);
    while (count < PAGES && (pages[count] = htw__slab_remove_page(&shard->slab, 1)) != NULL)
        count++;
    htw__lock_release(&shard->lock);
    return count;
}

/* Waits until no thread reads a record of the pages that were removed: see state.h. */
static void wait_for_readers(const struct htw_scheduler *scheduler) {
    for (uint32_t i = 0; i < scheduler->shard_count; i++) {
        htw__lock_acquire(&scheduler->shards[i].lock);
        htw__lock_release(&scheduler->shards[i].lock);
    }
}

/* Releases a block of chunks that is not used. */
static bool release_block(struct htw__shard *shard) {
    htw__lock_acquire(&shard->lock);
    struct htw__block *block = htw__chunks_remove(&shard->stores.chunks);
    htw__lock_release(&shard->lock);
    htw__chunks_release(&shard->stores.chunks, block);
    return block != NULL;
}

static bool release_pages(struct htw__shard *shard) {
    struct htw__cell *pages[PAGES];
    unsigned count = remove_pages(shard, pages);
    if (count > 0)
        wait_for_readers(shard->scheduler);
    for (unsigned i = 0; i < count; i++)
        htw__slab_release_page(&shard->slab, pages[i]);
    return count > 0;
}

bool htw__shard_clean_up_some(struct htw__shard *shard) {
    htw__lock_acquire(&shard->lock);
    bool more = htw__shard_reclaim(shard);
    if (!more && htw__stores_need_cleanup(&shard->stores)) {
        htw__stores_sweep(&shard->stores);
        more = true;
    }
    htw__lock_release(&shard->lock);
    return more || release_block(shard) || release_pages(shard);
}

void htw__shard_clean_up(struct htw__shard *shard) {
    while (htw__shard_clean_up_some(shard))
        ;
}

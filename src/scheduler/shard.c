/* SPDX-License-Identifier: MIT */
/* shard.c - a shard: how timers enter its wheels and when the expirer serves these, which collect.c does; and how its
   records are freed. */
#include "shard.h"
#include "../base/compiler.h"

#include <string.h>

#define NO_INDEX HTW__SLAB_NONE

/* ---- clockworks */

static uint32_t wheel_size(const struct htw__clockwork *clockwork) {
    uint32_t option = clockwork->shard->scheduler->wheel_size;
    return option == 0 ? HTW_WHEEL_SIZE_DEFAULT : option;
}

struct htw_wheel_options htw__clockwork_wheel_options(const struct htw__clockwork *clockwork,
                                                      uint64_t start) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.size = wheel_size(clockwork);
    options.start = start;
    options.allocator = &clockwork->shard->scheduler->allocator;
    return options;
}

/* 0 or -ENOMEM; in either case clockwork_fini() may follow. */
static int clockwork_init(struct htw__clockwork *clockwork, struct htw__shard *shard,
                          const struct htw__clock *clock, uint32_t slot) {
    *clockwork = (struct htw__clockwork) {
        .shard = shard, .clock = clock, .slot = slot, .fast_after_tick = HTW_NEVER_TICK
    };
    atomic_init(&clockwork->wake_tick, HTW_NEVER_TICK);
    struct htw_wheel_options options = htw__clockwork_wheel_options(
        clockwork, htw__tick_at(shard->scheduler, htw__clockwork_now_ns(clockwork)));
    return htw_wheel_create(&clockwork->wheel, &options);
}

static void clockwork_fini(struct htw__clockwork *clockwork) {
    htw_wheel_destroy(clockwork->wheel);
    htw_wheel_destroy(clockwork->previous);
}

/* Under the lock. 0 or -ENOMEM. */
static int add_clockwork(struct htw__shard *shard, const struct htw__clock *clock, uint32_t slot) {
    const struct htw_allocator *allocator = &shard->scheduler->allocator;
    struct htw__clockwork *clockwork = htw__allocate(allocator, sizeof(*clockwork));
    if (clockwork == NULL)
        return -ENOMEM;
    int error = clockwork_init(clockwork, shard, clock, slot);
    if (error != 0) {
        htw__release(allocator, clockwork, sizeof(*clockwork));
        return error;
    }
    htw__counter_add(&shard->attributes_bytes, sizeof(*clockwork));
    /* The bit first: a thread that finds the clockwork may set the alarm, and the expirer that it
       wakes must see the bit. */
    /* order: Alarms order it: see `resets`. */
    atomic_fetch_or_explicit(&shard->scheduler->clocks_in_use, 1u << slot, memory_order_relaxed);
    /* order: A thread that finds the clockwork must see it initialized. [relaxed: `two-clocks`] */
    atomic_store_explicit(&shard->others[slot - 1], clockwork, memory_order_release);
    return 0;
}

int htw__shard_clockwork(struct htw__shard *shard, const struct htw__clock *clock,
                         struct htw__clockwork **ret_clockwork) {
    uint32_t slot = clock == shard->scheduler->clock ? 0 : (uint32_t)clock->name;
    *ret_clockwork = htw__shard_clockwork_at(shard, slot);
    if (HTW__LIKELY(*ret_clockwork != NULL))
        return 0;
    int error = htw__waker_add_clock(shard->waker);
    if (error != 0)
        return error;
    htw__lock_acquire(&shard->lock);
    if (shard->closed)
        error = -ESHUTDOWN;
    else if (htw__shard_clockwork_at(shard, slot) == NULL)
        error = add_clockwork(shard, clock, slot);
    *ret_clockwork = htw__shard_clockwork_at(shard, slot);
    htw__lock_release(&shard->lock);
    return error;
}

/* ---- when the expirer must serve it */

/*
 * Sets wake_tick, and fast_after_tick with it. A timer for a tick after fast_after_tick is armed
 * with one comparison, because
 *  - the alarm is set for an earlier tick. wake_tick counts only when the alarm is set to it: while
 *    a thread has lowered wake_tick and not yet set the alarm (`waking`), no tick is after it.
 *    Otherwise a timer would be late by as long as that thread is stopped.
 *  - the deadline, which was rounded up to its tick, is not in the past. The clock was at
 *    clock_read_tick, and the expirer serves this at wake_tick. Unless the expirer is late by
 *    more than a tick, the present tick is at most one after the later of the two.
 *  - the timer is not in the wheel before, which it would have to leave.
 */
void htw__clockwork_set_wake_tick(struct htw__clockwork *clockwork, uint64_t tick) {
    uint64_t later = tick > clockwork->clock_read_tick ? tick : clockwork->clock_read_tick;
    /* order: Alarms order it: see `resets`. */
    atomic_store_explicit(&clockwork->wake_tick, tick, memory_order_relaxed);
    bool is_fast = clockwork->waking == 0 && clockwork->previous == NULL;
    clockwork->fast_after_tick = is_fast && later != HTW_NEVER_TICK ? later + 1 : HTW_NEVER_TICK;
}

/* Makes the expirer serve a clockwork at `tick`, which is at most fast_after_tick. */
static void plan_alarm(struct htw__clockwork *clockwork, uint64_t tick, unsigned *ret_wake) {
    uint64_t planned = htw__clockwork_wake_tick(clockwork);
    if (tick >= planned && (clockwork->waking == 0 || tick == HTW_NEVER_TICK))
        return;
    if (!(*ret_wake & 1u << clockwork->slot))
        clockwork->waking++;
    *ret_wake |= 1u << clockwork->slot;
    clockwork->clock_read_tick =
        htw__tick_at(clockwork->shard->scheduler, htw__clockwork_now_ns(clockwork));
    htw__clockwork_set_wake_tick(clockwork, tick < planned ? tick : planned);
}

/* Sets the alarm: once for each time that the slot was added to `*ret_wake`. Not under the lock. */
static void wake(struct htw__clockwork *clockwork) {
    struct htw__shard *shard = clockwork->shard;
    int64_t at_ns = htw__tick_ns(shard->scheduler, htw__clockwork_wake_tick(clockwork));
    htw__wake_at(shard->waker, clockwork->clock, at_ns);
    htw__lock_acquire(&shard->lock);
    clockwork->waking--;
    htw__clockwork_set_wake_tick(clockwork, htw__clockwork_wake_tick(clockwork));
    htw__lock_release(&shard->lock);
}

void htw__shard_wake(struct htw__shard *shard, unsigned slots) {
    for (; slots != 0; slots &= slots - 1)
        wake(htw__shard_clockwork_at(shard, (uint32_t)__builtin_ctz(slots)));
}

/* ---- arming */

/* Without a level for it, a record is armed for as late as the wheel can: it is armed again whenever
   it comes up. Which levels the wheel has is found by trying; it always has the lowest. */
static void arm_in_reach(struct htw__clockwork *clockwork, struct htw__record *record,
                         uint64_t tick) {
    struct htw_wheel *wheel = clockwork->wheel;
    uint64_t size = wheel_size(clockwork);
    uint64_t now = htw_wheel_now(wheel);
    uint64_t distance = size - 1;
    while (distance <= (tick - now) / size)
        distance *= size;
    while (htw_wheel_schedule(wheel, &record->timer, now + distance) != 0) {
        HTW_ASSERT(distance >= size);
        distance /= size;
    }
}

void htw__clockwork_put(struct htw__clockwork *clockwork, struct htw__record *record,
                        uint64_t tick) {
    htw__clockwork_disarm_previous(clockwork, record);
    if (htw_wheel_schedule(clockwork->wheel, &record->timer, tick) != 0)
        arm_in_reach(clockwork, record, tick);
}

void htw__clockwork_arm_near(struct htw__clockwork *clockwork, struct htw__record *record,
                             uint64_t tick, unsigned *ret_wake) {
    if (tick != 0 && tick != HTW_NEVER_TICK &&
        record->deadline_ns <= htw__clockwork_now_ns(clockwork))
        tick = htw__tick_at(clockwork->shard->scheduler, record->deadline_ns);
    htw__clockwork_put(clockwork, record, tick);
    tick = htw_timer_deadline(&record->timer);
    if (tick <= clockwork->fast_after_tick)
        plan_alarm(clockwork, tick, ret_wake);
}

/* ---- stale records */

/* Pushes records that are linked by next_stale, from `first` to `last`. */
static void push_chain(struct htw__shard *shard, uint32_t first, struct htw__record *last,
                       uint32_t count) {
    /* order: An old top lets the exchange fail. */
    uint64_t top = atomic_load_explicit(&shard->stale, memory_order_relaxed);
    uint64_t pushed;
    do {
        last->next_stale = (uint32_t)top;
        pushed = ((top >> 32) + count) << 32 | first;
        /* order: Publishes the links of the records, and what the claiming thread did. [relaxed: `cleanup`]
       */
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
                               uint32_t count, uint32_t pushed[HTW__STALE_AHEAD]) {
    HTW_ASSERT(count >= HTW__STALE_AHEAD && count <= HTW__SLICE);
    uint32_t indices[HTW__SLICE + HTW__STALE_AHEAD];
    for (uint32_t i = 0; i < count; i++)
        indices[i] = htw__slab_index(&shard->slab, &records[i]->cell);
    memcpy(&indices[count], pushed, HTW__STALE_AHEAD * sizeof(*pushed));
    memcpy(pushed, indices, HTW__STALE_AHEAD * sizeof(*pushed));
    for (uint32_t i = 0; i < count; i++) {
        records[i]->next_stale = indices[i + 1];
        records[i]->prefetch_stale = indices[i + HTW__STALE_AHEAD];
    }
    push_chain(shard, indices[0], records[count - 1], count);
}

/* Finds the next HTW__STALE_AHEAD records, and fetches those behind, which are in the cache of another CPU. All at
   once: a fetch ends when the address of its page is known, and the next instruction that orders memory, that of a
   lock or a clock, waits for that. Where prefetch_stale was right, no record waits for the link of the one before. */
static void find_stale(struct htw__shard *shard) {
    uint32_t index = shard->stale_to_free;
    for (uint32_t i = 0; i < HTW__STALE_AHEAD && index != NO_INDEX; i++) {
        struct htw__cell *cell = shard->fetched[i];
        if (HTW__UNLIKELY(index != shard->fetched_index[i]))
            cell = htw__slab_find(&shard->slab, index);
        const struct htw__record *record = HTW_CONTAINER_OF(cell, struct htw__record, cell);
        shard->found[i] = cell;
        shard->fetched_index[i] = record->prefetch_stale;
        shard->fetched[i] = htw__slab_find(&shard->slab, record->prefetch_stale);
        HTW__PREFETCH(shard->fetched[i]); /* NULL: does nothing */
        index = record->next_stale;
    }
    shard->found_next = 0;
}

/* Takes the stack, unless there is still one that was taken before. False: it is empty. */
static bool take_stale(struct htw__shard *shard) {
    if (shard->stale_to_free != NO_INDEX)
        return true;
    /* order: A hint; the flag `cleanup` lets nothing be forgotten. */
    if ((uint32_t)atomic_load_explicit(&shard->stale, memory_order_relaxed) == NO_INDEX)
        return false;
    /* order: The links of the records are read next. [relaxed: `cleanup`] */
    uint64_t top = atomic_exchange_explicit(&shard->stale, NO_INDEX, memory_order_acquire);
    shard->stale_to_free = (uint32_t)top;
    htw__counter_set(&shard->taken, top >> 32);
    /* What was fetched behind another stack may have been released. */
    memset(shard->fetched_index, 0xff, sizeof(shard->fetched_index)); /* NO_INDEX */
    shard->found_next = HTW__STALE_AHEAD;
    return true;
}

/* The topmost record of the stack that was taken. */
static inline struct htw__record *pop_stale(struct htw__shard *shard) {
    if (shard->found_next == HTW__STALE_AHEAD)
        find_stale(shard);
    struct htw__record *record =
        HTW_CONTAINER_OF(shard->found[shard->found_next++], struct htw__record, cell);
    shard->stale_to_free = record->next_stale;
    htw__counter_add(&shard->taken, UINT64_MAX); /* one less */
    htw__clockwork_disarm(&shard->own, record);  /* one that was claimed */
    return record;
}

struct htw__cell *htw__shard_reuse(struct htw__shard *shard, uint32_t *ret_index) {
    while (shard->stale_to_free != NO_INDEX) {
        *ret_index = shard->stale_to_free;
        struct htw__record *record = pop_stale(shard);
        if (HTW__LIKELY(htw__slab_renew(&shard->slab, &record->cell)))
            return &record->cell;
    }
    return NULL;
}

bool htw__shard_reclaim(struct htw__shard *shard) {
    if (!take_stale(shard))
        return false;
    for (unsigned i = 0; i < HTW__SLICE && shard->stale_to_free != NO_INDEX; i++)
        htw__slab_free(&shard->slab, &pop_stale(shard)->cell);
    return true;
}

bool htw__shard_has_room_for_stale(struct htw__shard *shard) {
    const uint32_t most = HTW__STALE_MAX / 2;
    /* order: An estimate. */
    if (atomic_load_explicit(&shard->stale, memory_order_relaxed) >> 32 < most)
        return true;
    htw__lock_acquire(&shard->lock);
    bool was_reused = shard->stale_to_free == NO_INDEX;
    take_stale(shard);
    htw__lock_release(&shard->lock);
    return was_reused;
}

/* ---- records */

int htw__shard_allocate_record_slow(struct htw__shard *shard, struct htw__record **ret_record,
                                    uint32_t *ret_index) {
    /* Stale records are reused before the slab grows. */
    if (!take_stale(shard)) {
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
    return htw__shard_allocate_record(shard, ret_record, ret_index);
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
    htw__lock_release(&shard->lock);
    return more || release_pages(shard);
}

void htw__shard_clean_up(struct htw__shard *shard) {
    while (htw__shard_clean_up_some(shard))
        ;
}

/* ---- the shard */

struct htw__shard *htw__shard_lock_other(struct htw__shard *here) {
    struct htw_scheduler *scheduler = here->scheduler;
    struct htw__shard *next = &scheduler->shards[(here->index + 1) % scheduler->shard_count];
    if (htw__lock_try(&next->lock))
        return next;
    htw__lock_acquire(&here->lock);
    return here;
}

int htw__shard_init(struct htw__shard *shard, struct htw_scheduler *scheduler, uint32_t index,
                    struct htw__waker *waker) {
    *shard = (struct htw__shard) {
        .scheduler = scheduler,
        .waker = waker,
        .index = index,
        .stale_to_free = NO_INDEX,
    };
    int error = clockwork_init(&shard->own, shard, scheduler->clock, 0);
    if (error != 0)
        return error;
    htw__lock_init(&shard->lock, HTW__RANK_SCHEDULER_SHARD);
    htw__lock_init(&shard->scopes_lock, HTW__RANK_SCHEDULER_SCOPES);
    htw__ring_init(&shard->scopes);
    htw__ring_init(&shard->all_groups);
    atomic_init(&shard->stale, NO_INDEX);
    htw__slab_init(&shard->slab, &scheduler->allocator, scheduler->index_bits,
                   64u - scheduler->generation_shift < 32u ? 64u - scheduler->generation_shift
                                                           : 32u);
    htw__key_table_init(&shard->keys, &scheduler->allocator);
    return 0;
}

void htw__shard_fini(struct htw__shard *shard) {
    if (shard->own.wheel == NULL)
        return;
    HTW_ASSERT_USE(shard->groups == 0, "scheduler", shard->scheduler,
                   "is destroyed before a group or purgatory that uses it");
    /* Before the slab: claimed timers are still in the wheels, which write to them. */
    for (uint32_t slot = 0; slot < HTW__SLOT_COUNT; slot++) {
        struct htw__clockwork *clockwork = htw__shard_clockwork_at(shard, slot);
        if (clockwork != NULL)
            clockwork_fini(clockwork);
        if (slot > 0)
            htw__release(&shard->scheduler->allocator, clockwork, sizeof(*clockwork));
    }
    htw__slab_fini(&shard->slab);
    htw__key_table_fini(&shard->keys);
}

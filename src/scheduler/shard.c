/* SPDX-License-Identifier: MIT */
/* shard.c - a shard: how timers enter and leave its wheel, and how its records are freed. */
#include "shard.h"

#define NO_INDEX HTW__SLAB_NONE

static int create_wheel(const struct htw_scheduler *scheduler, uint64_t start,
                        struct htw_wheel **ret_wheel) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.size = scheduler->wheel_size;
    options.start = start;
    options.allocator = &scheduler->allocator;
    return htw_wheel_create(ret_wheel, &options);
}

int htw__shard_init(struct htw__shard *shard, struct htw_scheduler *scheduler, uint32_t index,
                    uint64_t start_tick) {
    *shard = (struct htw__shard) {
        .scheduler = scheduler,
        .index = index,
        .stale_to_free = NO_INDEX,
    };
    int error = create_wheel(scheduler, start_tick, &shard->wheel);
    if (error != 0)
        return error;
    htw__lock_init(&shard->lock, HTW__RANK_SCHEDULER_SHARD);
    HTW__ANNOTATE_ATOMIC(&shard->wake_tick, sizeof(shard->wake_tick));
    HTW__ANNOTATE_ATOMIC(&shard->stale, sizeof(shard->stale));
    HTW__ANNOTATE_ATOMIC(&shard->scheduled, 5 * sizeof(shard->scheduled)); /* to `refused` */
    atomic_init(&shard->wake_tick, HTW_NEVER_TICK);
    shard->fast_after_tick = HTW_NEVER_TICK;
    atomic_init(&shard->stale, NO_INDEX);
    htw__slab_init(&shard->slab, &scheduler->allocator, scheduler->index_bits,
                   64u - scheduler->generation_shift < 32u ? 64u - scheduler->generation_shift
                                                           : 32u);
    htw__key_table_init(&shard->keys, &scheduler->allocator);
    return 0;
}

void htw__shard_fini(struct htw__shard *shard) {
    if (shard->wheel == NULL)
        return;
    /* Before the slab: claimed timers are still in the wheels, which write to them. */
    htw_wheel_destroy(shard->wheel);
    htw_wheel_destroy(shard->previous);
    htw__slab_fini(&shard->slab);
    htw__key_table_fini(&shard->keys);
    htw__lock_fini(&shard->lock);
}

int htw__shard_allocate_record_slow(struct htw__shard *shard, struct htw__record **ret_record,
                                    uint32_t *ret_index) {
    /* Stale records are reused before the slab grows. */
    if (!htw__shard_reclaim(shard)) {
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

/* ---- when the expirer must serve this shard */

/*
 * Sets wake_tick, and fast_after_tick with it. A timer for a tick after fast_after_tick is armed
 * with one comparison, because
 *  - the alarm is set for an earlier tick. wake_tick counts only when the alarm is set to it: while
 *    a thread has lowered wake_tick and not yet set the alarm (`waking`), no tick is after it.
 *    Otherwise a timer would be late by as long as that thread is stopped.
 *  - the deadline, which was rounded up to its tick, is not in the past. The clock was at
 *    clock_read_tick, and the expirer serves this shard at wake_tick. Unless the expirer is late by more than a tick,
 *    the present tick is at most one after the later of the two.
 */
static void set_wake_tick(struct htw__shard *shard, uint64_t tick) {
    uint64_t later = tick > shard->clock_read_tick ? tick : shard->clock_read_tick;
    atomic_store_explicit(&shard->wake_tick, tick, memory_order_relaxed);
    shard->fast_after_tick =
        shard->waking == 0 && later != HTW_NEVER_TICK ? later + 1 : HTW_NEVER_TICK;
}

static uint64_t wake_tick(const struct htw__shard *shard) {
    return atomic_load_explicit(&shard->wake_tick, memory_order_relaxed);
}

/* Makes the expirer serve this shard at `tick`, which is at most fast_after_tick. */
static void plan_wake(struct htw__shard *shard, uint64_t tick, bool *ret_wake) {
    uint64_t planned = wake_tick(shard);
    if (tick >= planned && (shard->waking == 0 || tick == HTW_NEVER_TICK))
        return;
    if (!*ret_wake)
        shard->waking++;
    *ret_wake = true;
    shard->clock_read_tick = htw__tick_at(shard->scheduler, htw__now_ns(shard->scheduler));
    set_wake_tick(shard, tick < planned ? tick : planned);
}

void htw__shard_wake(struct htw__shard *shard) {
    htw__wake_at(shard->waker, htw__tick_ns(shard->scheduler, wake_tick(shard)));
    htw__lock_acquire(&shard->lock);
    shard->waking--;
    set_wake_tick(shard, wake_tick(shard));
    htw__lock_release(&shard->lock);
}

/* ---- arming */

int htw__shard_arm_near(struct htw__shard *shard, struct htw__record *record, uint64_t tick,
                        int64_t deadline_ns, bool *ret_wake) {
    const struct htw_scheduler *scheduler = shard->scheduler;
    if (tick != 0 && tick != HTW_NEVER_TICK && deadline_ns <= htw__now_ns(scheduler))
        tick = htw__tick_at(scheduler, deadline_ns);
    int error = htw_wheel_schedule(shard->wheel, &record->timer, tick);
    if (error == 0)
        plan_wake(shard, tick, ret_wake);
    return error;
}

int htw__shard_arm_within(struct htw__shard *shard, struct htw__record *record, uint64_t earliest,
                          uint64_t latest, bool *ret_wake) {
    htw__shard_disarm_previous(shard, record);
    int error = htw_wheel_schedule_within(shard->wheel, &record->timer, earliest, latest);
    if (error == 0 && htw_timer_deadline(&record->timer) <= shard->fast_after_tick)
        plan_wake(shard, htw_timer_deadline(&record->timer), ret_wake);
    return error;
}

/* Arms a record for as late as the wheel can without growing: the record is armed again whenever it
   comes up. Which levels the wheel has is found by trying; it always has the lowest. */
static void arm_in_reach(struct htw__shard *shard, struct htw__record *record, uint64_t tick) {
    struct htw_wheel *wheel = shard->wheel;
    uint32_t option = shard->scheduler->wheel_size;
    uint64_t size = option == 0 ? HTW_WHEEL_SIZE_DEFAULT : option;
    uint64_t now = htw_wheel_now(wheel);
    uint64_t distance = size - 1;
    while (distance <= (tick - now) / size)
        distance *= size;
    while (htw_wheel_schedule(wheel, &record->timer, now + distance) != 0) {
        HTW_ASSERT(distance >= size);
        distance /= size;
    }
}

/* Arms a record for its deadline_ns, or earlier if the wheel cannot grow: then
   htw__shard_collect() arms it again. Does not wake the expirer. */
static void arm_always(struct htw__shard *shard, struct htw__record *record, int64_t now_ns) {
    uint64_t tick = htw__tick_due(shard->scheduler, record->deadline_ns, now_ns);
    htw__shard_disarm_previous(shard, record);
    if (htw_wheel_schedule(shard->wheel, &record->timer, tick) != 0)
        arm_in_reach(shard, record, tick);
}

void htw__shard_arm_always(struct htw__shard *shard, struct htw__record *record, int64_t now_ns,
                           bool *ret_wake) {
    arm_always(shard, record, now_ns);
    if (htw_timer_deadline(&record->timer) <= shard->fast_after_tick)
        plan_wake(shard, htw_timer_deadline(&record->timer), ret_wake);
}

/* ---- a clock that was set back */

/*
 * The clock of a wheel cannot go back. So all timers move to a new wheel that begins at the new
 * time, a slice at a time; meanwhile both `previous` and `wheel` are in use. If there is no memory
 * for that, the old wheel stays. Its timers still come up at their time, but a timer that is armed
 * for a tick before the wheel's clock comes up at once, and is armed again until it is due.
 *
 * Wheels are created and destroyed without the lock, since both take long. Only the expirer
 * replaces wheels and advances their clocks, so it may read these without the lock.
 */
static struct htw_wheel *create_successor(const struct htw__shard *shard, uint64_t now_tick) {
    struct htw_wheel *wheel;
    if (shard->previous != NULL || now_tick >= htw_wheel_now(shard->wheel) ||
        create_wheel(shard->scheduler, now_tick, &wheel) != 0)
        return NULL;
    if (htw_wheel_reserve(wheel, HTW_NEVER_TICK) == 0)
        return wheel;
    htw_wheel_destroy(wheel);
    return NULL;
}

/* Moves up to HTW__SLICE timers. Returns the previous wheel, to be destroyed, when it is empty. */
static struct htw_wheel *move_from_previous(struct htw__shard *shard) {
    struct htw_wheel *previous = shard->previous;
    struct htw_timer *timers[HTW__SLICE];
    size_t count;
    if (htw_wheel_poll_batch(previous, HTW_NEVER_TICK, timers, HTW__SLICE, HTW__SLICE, &count) ==
        HTW_DONE)
        /* The timers that are left never become due. */
        while (count < HTW__SLICE && (timers[count] = htw_wheel_drain(previous)) != NULL)
            count++;
    for (size_t i = 0; i < count; i++) {
        /* Cannot fail: the wheel has all its levels. */
        int error = htw_wheel_schedule(shard->wheel, timers[i], htw_timer_deadline(timers[i]));
        HTW_ASSERT(error == 0);
        (void)error;
    }
    if (htw_wheel_count(previous) > 0)
        return NULL;
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    htw_wheel_get_stats(previous, &stats);
    shard->demoted += stats.demoted;
    shard->previous = NULL;
    return previous;
}

/* ---- due timers */

/* Adds timers that the wheel says are due to the batch, except those that were claimed or are not
   due by the clock. */
static void add_due(struct htw__shard *shard, struct htw_timer *const *timers, size_t count,
                    int64_t now_ns, struct htw__batch *batch) {
    for (size_t i = 0; i < count; i++) {
        struct htw__record *record = htw__record_of(timers[i]);
        uint64_t status = htw__status_of(record);
        /* A timer that was armed with no delay after `now_ns` was read is due, too. */
        if (htw__status_state(status) == HTW__PENDING && record->deadline_ns > now_ns) {
            int64_t later_ns = htw__now_ns(shard->scheduler);
            if (record->deadline_ns > later_ns) {
                arm_always(shard, record, later_ns); /* collect_slice() sets wake_tick */
                continue;
            }
        }
        if (htw__status_state(status) == HTW__PENDING &&
            htw__status_change(record, &status,
                               htw__status_in(status, HTW__QUEUED, status & HTW__HAS_ATTRIBUTES)))
            batch->records[batch->count++] = record;
    }
}

/* Under the lock. Returns whether there may be more. */
static bool collect_slice(struct htw__shard *shard, int64_t now_ns, uint64_t now_tick,
                          struct htw__batch *batch, uint32_t max) {
    struct htw_timer *timers[HTW__SLICE];
    size_t count;
    int progress = htw_wheel_poll_batch(shard->wheel, now_tick, timers, max, HTW__SLICE, &count);
    add_due(shard, timers, count, now_ns, batch);
    if (progress == HTW_MORE)
        return true;
    uint64_t next = htw_wheel_next(shard->wheel);
    /* The clock was set back and there was no memory for a new wheel: try again soon. */
    if (now_tick < htw_wheel_now(shard->wheel))
        next = now_tick + 1;
    set_wake_tick(shard, next);
    return false;
}

bool htw__shard_collect(struct htw__shard *shard, int64_t now_ns, struct htw__batch *batch,
                        uint32_t max) {
    uint64_t now_tick = htw__tick_at(shard->scheduler, now_ns);
    struct htw_wheel *successor = create_successor(shard, now_tick);
    struct htw_wheel *emptied = NULL;
    bool more = true;
    batch->shard = shard;
    batch->count = 0;
    atomic_store_explicit(&batch->next, 0, memory_order_relaxed);
    htw__lock_acquire(&shard->lock);
    shard->clock_read_tick = now_tick;
    set_wake_tick(shard, wake_tick(shard));
    if (successor != NULL) {
        shard->previous = shard->wheel;
        shard->wheel = successor;
    }
    if (shard->previous != NULL)
        emptied = move_from_previous(shard);
    else
        more = collect_slice(shard, now_ns, now_tick, batch, max);
    htw__lock_release(&shard->lock);
    htw_wheel_destroy(emptied);
    return more;
}

/* ---- stale records */

/* Pushes records that are linked by next_stale, from `first` to `last`. */
static void push_chain(struct htw__shard *shard, uint32_t first, struct htw__record *last,
                       uint32_t count) {
    uint64_t top = atomic_load_explicit(&shard->stale, memory_order_relaxed);
    uint64_t pushed;
    do {
        last->next_stale = (uint32_t)top;
        HTW__ANNOTATE_HAPPENS_BEFORE(&shard->stale);
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
        HTW__ANNOTATE_HAPPENS_AFTER(&shard->stale);
    }
    for (unsigned i = 0; i < HTW__SLICE && shard->stale_to_free != NO_INDEX; i++) {
        struct htw__record *record = HTW_CONTAINER_OF(
            htw__slab_find(&shard->slab, shard->stale_to_free), struct htw__record, cell);
        shard->stale_to_free = record->next_stale;
        /* The records are in the cache of another CPU. Without this, waiting for one after another
           would take most of the time. A prefetch of NULL does nothing. */
        __builtin_prefetch(htw__slab_find(&shard->slab, record->prefetch_stale), 1);
        htw__shard_disarm(shard, record);
        htw__shard_free_record(shard, record);
    }
    return true;
}

/* ---- cleanup */

/* How many pages are released at a time. */
#define PAGES 16u

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

void htw__shard_clean_up(struct htw__shard *shard) {
    bool more;
    do {
        htw__lock_acquire(&shard->lock);
        more = htw__shard_reclaim(shard);
        htw__lock_release(&shard->lock);
    } while (more);
    struct htw__cell *pages[PAGES];
    unsigned count;
    while ((count = remove_pages(shard, pages)) > 0) {
        wait_for_readers(shard->scheduler);
        for (unsigned i = 0; i < count; i++)
            htw__slab_release_page(&shard->slab, pages[i]);
    }
}

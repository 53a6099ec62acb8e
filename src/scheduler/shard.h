/* SPDX-License-Identifier: MIT */
/*
 * shard.h - a shard: the wheels of its clockworks, the records of its timers, and their lock; and
 * handles, which name a record by its shard.
 *
 * A clockwork is a wheel, the clock that drives it, and when the expirer must serve it. Each shard has one for the
 * scheduler's own clock. One for another clock is created when a timer of the shard uses that clock for the first time,
 * and stays until the scheduler is destroyed.
 *
 * All of this happens under the lock of the shard, except where a comment says otherwise.
 */
#ifndef HTW_SRC_SCHEDULER_SHARD_H
#define HTW_SRC_SCHEDULER_SHARD_H

#include "../base/compiler.h"
#include "../port/system.h"
#include "../base/histogram.h"
#include "../base/key_table.h"
#include "../base/list.h"
#include "../base/lock.h"
#include "clocks.h"
#include "record.h"
#include "state.h"
#include "wake.h"

/* The timers of a shard that have one clock. */
struct htw__clockwork {
    struct htw__shard *shard; /* constant, as are the next two */
    const struct htw__clock *clock;
    uint32_t slot;
    uint32_t waking;            /* threads that have lowered wake_tick and not yet set the alarm */
    _Atomic uint64_t wake_tick; /* the expirer must serve this by then; any thread reads it */
    uint64_t fast_after_tick;   /* a later timer needs neither alarm nor clock: set_wake_tick() */
    struct htw_wheel *wheel;
    struct htw_wheel *previous; /* the clock was set back: timers move from here to `wheel` */
    uint64_t clock_read_tick;   /* when the clock was last read under the lock */
    uint64_t demoted;           /* by wheels that were destroyed */
};

/* How many stale records ahead of the one that is freed are fetched into the cache. */
#define HTW__STALE_AHEAD 8u

/* What other CPUs read or write (the first
   members, the views of the slab, `stale`) has cache lines of its own. */
struct htw__shard {
    alignas(64) struct htw_scheduler *scheduler; /* constant, as are the next two */
    struct htw__waker *waker;                    /* of the expirer that serves this shard */
    uint32_t index;
    struct htw__site_entry *_Atomic sites; /* see observe.h; NULL: not yet needed */
    /* The clockworks of other clocks, by slot from 1 on; NULL until a timer uses the clock. Any thread
       reads them. */
    struct htw__clockwork *_Atomic others[HTW__SLOT_COUNT - 1];
    struct htw__slab slab;
    alignas(64) struct htw__lock lock;
    bool closed;               /* stopped: nothing is armed any more */
    uint32_t stale_to_free;    /* index of the topmost record of a stack taken from `stale` */
    struct htw__counter taken; /* records of that stack */
    struct htw__cell *found[HTW__STALE_AHEAD]; /* its topmost records, from found_next on */
    uint32_t found_next;
    struct htw__cell *fetched[HTW__STALE_AHEAD]; /* probably those behind `found` */
    uint32_t fetched_index[HTW__STALE_AHEAD];
    struct htw__clockwork own; /* of the scheduler's own clock */
    /* A claim counts in the shard of the cancelling thread. */
    struct htw__counter scheduled, cancelled, moved;
    /* Indices of the records that threads of this shard claimed last; the next place to use. */
    uint32_t recent[HTW__STALE_AHEAD], recent_next;
    struct htw__counter attributes_bytes; /* of attributes, groups, and key tables */
    struct htw__key_table keys;           /* of timers with a key and no group */

    /* A stack of stale records, without the lock: the index of the topmost one (the low 32 bits),
       and how many there are. */
    alignas(64) _Atomic uint64_t stale;

    /* The scopes of the trees that began on this CPU, in preorder: scope.c. */
    alignas(64) struct htw__lock scopes_lock;
    struct htw__link scopes; /* ring */

    /* What is rarely used. */
    struct htw__counter handed_back, refused;
    struct htw__link all_groups; /* ring of struct htw__member: group.h */
    uint64_t scheduled_before;   /* at the last cleanup; used by the expirer only */
    uint32_t groups;             /* that exist */
};

/* `waker` is that of the expirer that serves the shard. */
int htw__shard_init(struct htw__shard *shard, struct htw_scheduler *scheduler, uint32_t index,
                    struct htw__waker *waker);

/* No other thread is in a call. */
void htw__shard_fini(struct htw__shard *shard);

/* The shard that a thread on this CPU arms on. */
static inline struct htw__shard *htw__shard_here(const struct htw_scheduler *scheduler) {
    uint32_t cpu = htw__cpu_current();
    uint32_t count = scheduler->shard_count;
    return &scheduler->shards[cpu < count ? cpu : cpu % count];
}

/* htw__shard_lock_here() where the shard of this CPU is locked. */
struct htw__shard *htw__shard_lock_other(struct htw__shard *here);

/* Locks the shard of this CPU, to arm a timer that may be in any shard. While the expirer takes due timers from it,
   or a thread that lost its CPU holds it, the next shard if that is free: waiting took a fifth of the time. */
static inline struct htw__shard *htw__shard_lock_here(const struct htw_scheduler *scheduler) {
    struct htw__shard *here = htw__shard_here(scheduler);
    return HTW__LIKELY(htw__lock_try(&here->lock)) ? here : htw__shard_lock_other(here);
}

/* ---- handles: generation, shard, index of the record */

static inline htw_handle htw__handle_at(const struct htw__shard *shard, uint64_t status,
                                        uint32_t index) {
    const struct htw_scheduler *scheduler = shard->scheduler;
    return (uint64_t)htw__status_generation(status) << scheduler->generation_shift |
           (uint64_t)shard->index << scheduler->index_bits | index;
}

static inline htw_handle htw__handle_of(const struct htw__shard *shard,
                                        const struct htw__record *record) {
    /* order: Under the lock; the generation does not change meanwhile. */
    return htw__handle_at(shard, atomic_load_explicit(&record->status, memory_order_relaxed),
                          htw__slab_index(&shard->slab, &record->cell));
}

/* The shard of a handle; NULL: there is none of that number. */
static inline struct htw__shard *htw__handle_shard(const struct htw_scheduler *scheduler,
                                                   htw_handle handle) {
    uint32_t index = (uint32_t)(handle >> scheduler->index_bits) & scheduler->shard_mask;
    return index < scheduler->shard_count ? &scheduler->shards[index] : NULL;
}

/* Whether a record with this status is the one that the handle names. */
static inline bool htw__handle_fits(const struct htw__shard *shard, htw_handle handle,
                                    uint64_t status) {
    return htw__status_generation(status) == handle >> shard->scheduler->generation_shift;
}

/* The status of a record that the handle names, in a state and with no flags. */
static inline uint64_t htw__handle_status(const struct htw__shard *shard, htw_handle handle,
                                          enum htw__state state) {
    const struct htw_scheduler *scheduler = shard->scheduler;
    uint32_t index = (uint32_t)handle & scheduler->index_mask;
    return handle >> scheduler->generation_shift << 32 |
           (uint64_t)(index >> HTW__SLAB_PAGE_BITS) << HTW__STATUS_STATE_BITS | (unsigned)state;
}

/* The record of a handle, with its status; NULL: the handle is stale. Under the lock of the shard,
   or under that of another shard (see state.h). */
static inline struct htw__record *htw__handle_record(const struct htw__shard *shard,
                                                     htw_handle handle, uint64_t *ret_status) {
    const struct htw_scheduler *scheduler = shard->scheduler;
    struct htw__cell *cell = htw__slab_find(&shard->slab, (uint32_t)handle & scheduler->index_mask);
    if (cell == NULL)
        return NULL;
    struct htw__record *record = HTW_CONTAINER_OF(cell, struct htw__record, cell);
    uint64_t status = htw__status_of(record);
    if (!htw__handle_fits(shard, handle, status))
        return NULL;
    *ret_status = status;
    return record;
}

/* ---- records; under the lock */

/* htw__shard_allocate_record() where no free record is at hand. */
int htw__shard_allocate_record_slow(struct htw__shard *shard, struct htw__record **ret_record,
                                    uint32_t *ret_index);

/* The cell of a stale record, as a new one. `stale_to_free` is an index. NULL: none has a generation
   left. */
struct htw__cell *htw__shard_reuse(struct htw__shard *shard, uint32_t *ret_index);

/* A free record and its index. Unlocks and locks the shard where memory has to be allocated. 0,
   -ESHUTDOWN or -ENOMEM. */
static inline int htw__shard_allocate_record(struct htw__shard *shard,
                                             struct htw__record **ret_record, uint32_t *ret_index) {
    if (HTW__UNLIKELY(shard->closed))
        return -ESHUTDOWN;
    struct htw__cell *cell = shard->stale_to_free == HTW__SLAB_NONE
                                 ? htw__slab_allocate(&shard->slab, ret_index)
                                 : htw__shard_reuse(shard, ret_index);
    if (HTW__UNLIKELY(cell == NULL))
        return htw__shard_allocate_record_slow(shard, ret_record, ret_index);
    *ret_record = HTW_CONTAINER_OF(cell, struct htw__record, cell);
    return 0;
}

/* ---- clockworks */

/* The clockwork of a slot; NULL: there is none yet. Any thread. */
static inline struct htw__clockwork *htw__shard_clockwork_at(struct htw__shard *shard,
                                                             uint32_t slot) {
    /* order: The clockwork must be seen initialized. [relaxed: `two-clocks`] */
    return slot == 0 ? &shard->own
                     : atomic_load_explicit(&shard->others[slot - 1], memory_order_acquire);
}

/* The clockwork of a clock, created if there is none. Not under the lock. 0, -ENOMEM, -EMFILE,
   -ENFILE or -ESHUTDOWN. */
int htw__shard_clockwork(struct htw__shard *shard, const struct htw__clock *clock,
                         struct htw__clockwork **ret_clockwork);

static inline int64_t htw__clockwork_now_ns(const struct htw__clockwork *clockwork) {
    return htw__clock_now_ns(clockwork->shard->scheduler, clockwork->clock);
}

static inline uint64_t htw__clockwork_wake_tick(const struct htw__clockwork *clockwork) {
    /* order: Alarms order it: see `resets`. */
    return atomic_load_explicit(&clockwork->wake_tick, memory_order_relaxed);
}

/* Of a wheel that begins at a tick. */
struct htw_wheel_options htw__clockwork_wheel_options(const struct htw__clockwork *clockwork,
                                                      uint64_t start);

/* The expirer must serve this at `tick`. */
void htw__clockwork_set_wake_tick(struct htw__clockwork *clockwork, uint64_t tick);

/* ---- arming */

/* For a timer that has not moved to the new wheel yet. */
static inline void htw__clockwork_disarm_previous(struct htw__clockwork *clockwork,
                                                  struct htw__record *record) {
    if (HTW__UNLIKELY(clockwork->previous != NULL))
        htw_wheel_cancel(clockwork->previous, &record->timer);
}

/* Puts a record, which may be in the wheel, there for a tick. If the wheel cannot grow, it comes up earlier, and must be
   armed again. Sets no alarm. */
void htw__clockwork_put(struct htw__clockwork *clockwork, struct htw__record *record,
                        uint64_t tick);

/* htw__clockwork_arm() where the alarm may be set for later, the deadline may be in the past, or the wheel must grow. */
void htw__clockwork_arm_near(struct htw__clockwork *clockwork, struct htw__record *record,
                             uint64_t tick, unsigned *ret_wake);

/*
 * Puts a record, which may be in the wheel, there for a tick, to which its deadline_ns was rounded up; or for now, if the
 * deadline is in the past.
 *
 * Adds the slot to the set `*ret_wake` if the alarm may be set for later. Then the caller must call
 * htw__shard_wake() once, after it has unlocked the shard.
 */
static inline void htw__clockwork_arm(struct htw__clockwork *clockwork, struct htw__record *record,
                                      uint64_t tick, unsigned *ret_wake) {
    if (HTW__UNLIKELY(tick <= clockwork->fast_after_tick ||
                      htw_wheel_schedule(clockwork->wheel, &record->timer, tick) != 0))
        htw__clockwork_arm_near(clockwork, record, tick, ret_wake);
}

/* Takes a record out of the wheel. */
static inline void htw__clockwork_disarm(struct htw__clockwork *clockwork,
                                         struct htw__record *record) {
    if (HTW__UNLIKELY(!htw_wheel_cancel(clockwork->wheel, &record->timer)))
        htw__clockwork_disarm_previous(clockwork, record);
}

/* Sets the alarm of the expirer for each slot of a set: see htw__clockwork_arm(). Not under the
   lock. */
void htw__shard_wake(struct htw__shard *shard, unsigned slots);

/* ---- stale records; under the lock */

/* Frees up to HTW__SLICE stale records. False: there was none. */
bool htw__shard_reclaim(struct htw__shard *shard);

/* So many stale records may wait before a batch that has run frees its own. Where no thread arms,
   all are left to the cleanup, which finds none of them in its cache: millions take it seconds. */
#define HTW__STALE_MAX 65536u

/* Any thread. */
static inline uint32_t htw__shard_stale_count(const struct htw__shard *shard) {
    /* order: An estimate. */
    return (uint32_t)(htw__counter_read(&shard->taken) +
                      (atomic_load_explicit(&shard->stale, memory_order_relaxed) >> 32));
}

/* Unlocks the shard after records were freed. If htw__shard_clean_up() would release pages, the expirer will. */
static inline void htw__shard_unlock_freed(struct htw__shard *shard) {
    bool needs_cleanup = shard->slab.empty_count > 1;
    htw__lock_release(&shard->lock);
    if (needs_cleanup)
        htw__wake_for_cleanup(shard->waker);
}

/* ---- without the lock */

/* Pushes a record on the stack of stale records. The caller has claimed it. `later` is the index
   of a record that was pushed some places before, as a hint for prefetching. */
void htw__shard_push_stale(struct htw__shard *shard, struct htw__record *record, uint32_t index,
                           uint32_t later);

/* Whether more may be pushed. If many are on the stack, it becomes `stale_to_free`, so that threads
   that arm reuse these records before they use free ones, until no cache has them any more. Locks the
   shard. */
bool htw__shard_has_room_for_stale(struct htw__shard *shard);

/* Pushes HTW__STALE_AHEAD to HTW__SLICE records that are DONE. `pushed`: the first records of the last
   call of this thread, which are probably those below; then those of this call. */
void htw__shard_push_all_stale(struct htw__shard *shard, struct htw__record *const *records,
                               uint32_t count, uint32_t pushed[HTW__STALE_AHEAD]);

/* Frees some stale records or, if there are none, releases some empty pages: work of less than a
   millisecond. Locks and unlocks all shards in turn. Returns whether there may be more. */
bool htw__shard_clean_up_some(struct htw__shard *shard);

/* Frees all stale records, and releases empty pages. */
void htw__shard_clean_up(struct htw__shard *shard);

#endif /* HTW_SRC_SCHEDULER_SHARD_H */

/* SPDX-License-Identifier: MIT */
/*
 * observe.h - what the scheduler tells src/observe/ of timers, while something is observed.
 *
 * src/observe/ stands above the scheduler. A hot path tests the mode of the scheduler (state.h), and calls only if
 * that is not 0.
 */
#ifndef HTW_SRC_SCHEDULER_OBSERVE_H
#define HTW_SRC_SCHEDULER_OBSERVE_H

#include "../base/random.h"
#include "expirer.h"
#include "run.h"
#include "shard.h"

#include <htw/timer.h>

/* ---- sites: the one thing that is so frequent that the scheduler counts it, where it finds the place at once */

/* What a site counts. */
enum htw__site_number {
    HTW__SITE_ARMED,
    HTW__SITE_CANCELLED,
    HTW__SITE_EXPIRED,
    HTW__SITE_LATE,
    HTW__SITE_CALLBACK_NS,
    HTW__SITE_WAKEUPS,
    HTW__SITE_NUMBERS
};

/* Who armed a timer, in one word: twice the address of its site and 1, or twice that of its callback; 0: unknown. (The
   highest bit of an address is that of the kernel, or a tag that does not count.) */
typedef uint64_t htw__origin;

static inline htw__origin htw__origin_of(const struct htw__record *record) {
    /* order: The flag is the same from the arming until the record is free. */
    uint64_t status = atomic_load_explicit(&record->status, memory_order_relaxed);
    return (uint64_t)(uintptr_t)record->callback << 1 | (status & HTW__HAS_SITE ? 1u : 0u);
}

static inline uintptr_t htw__origin_address(htw__origin origin) {
    return (uintptr_t)(origin >> 1);
}

static inline bool htw__origin_is_site(htw__origin origin) {
    return origin & 1;
}

/* A line of the cache. */
struct htw__site_entry {
    struct htw__counter origin; /* 0: not used */
    struct htw__counter numbers[HTW__SITE_NUMBERS];
    uint64_t _padding;
};

static inline void htw__site_add(struct htw__site_entry *entry, enum htw__site_number number,
                                 uint64_t n) {
    htw__counter_add(&entry->numbers[number], n);
}

#define HTW__SITE_FIRST_BITS 6u

static inline size_t htw__site_place(htw__origin origin, unsigned bits) {
    return (size_t)(origin * HTW__RANDOM_STEP >> (64u - bits));
}

/* Counts a timer of a shard, under its lock, in this mode. False: it is not that simple. */
static inline bool htw__site_count(struct htw__shard *shard, unsigned mode,
                                   const struct htw__record *record, enum htw__site_number number) {
    if (mode != HTW_OBSERVE_SITES)
        return false;
    /* order: The table must be seen empty, except for what was counted. [relaxed: not played, as no
       scene switches sites on beside other threads] */
    struct htw__site_entry *entries = atomic_load_explicit(&shard->sites, memory_order_acquire);
    htw__origin origin = htw__origin_of(record);
    if (HTW__UNLIKELY(entries == NULL))
        return false;
    struct htw__site_entry *entry = &entries[htw__site_place(origin, HTW__SITE_FIRST_BITS)];
    if (HTW__UNLIKELY(htw__counter_read(&entry->origin) != origin))
        return false;
    htw__site_add(entry, number, 1);
    return true;
}

/* ---- the seam */

/* A run that is observed: from started() to ended(). */
struct htw__observed_run {
    const struct htw_expiration *expiration;
    htw__origin origin;
    unsigned mode;                /* when it began: its end is observed if its beginning was */
    struct htw__site_entry *site; /* if sites are counted */
    int64_t started_ns;
};

/* Times are of the clock of the scheduler. */
struct htw__observe_calls {
    /* htw_scheduler_observe(), for the option of that name. */
    int (*observe)(struct htw_scheduler *scheduler, uint32_t observe);

    /* Not under a lock: fills in the stack of the call that arms a timer, from two frames above this function on. */
    void (*take_stack)(struct htw_stack *stack);

    /* The next three: under the lock of the shard. `stack`: of htw__stack_take(). */
    void (*armed)(struct htw__shard *shard, const struct htw__record *record, htw_handle handle,
                  const struct htw_stack *stack);
    /* Cancelled, or moved to another deadline. Of a timer that was claimed by a cancel, `shard` is another one's. */
    void (*changed)(struct htw__shard *shard, const struct htw__record *record, htw_handle handle,
                    enum htw_event_kind kind);
    /* The stack of a timer; NULL: it was not kept. */
    const struct htw_stack *(*stack_of)(const struct htw__shard *shard, htw_handle handle);

    /* The callback of a RUNNING record begins, and has ended. */
    void (*started)(struct htw__run_stats *run_stats, const struct htw__record *record,
                    const struct htw_expiration *expiration, int64_t now_ns,
                    struct htw__observed_run *ret_run);
    void (*ended)(struct htw__run_stats *run_stats, const struct htw__observed_run *run,
                  int64_t now_ns);

    /* An expirer has taken a batch of timers that were due by a clock, under the lock of their shard; it has
       woken up and found none. */
    void (*collected)(struct htw__expirer *expirer, const struct htw__clockwork *clockwork,
                      const struct htw__batch *batch);
    void (*found_none)(struct htw__expirer *expirer);

    /* Calls `stop` without a visitor of the user, and writes to standard error which timers were left. */
    void (*stop)(struct htw_scheduler *scheduler,
                 void (*stop)(struct htw_scheduler *, htw_unexpired_visitor *, void *));

    void (*destroy)(struct htw_scheduler *scheduler);
};

/* Sets `calls` and `observation`. 0 or -ENOMEM. The only call upwards. */
int htw__observation_create(struct htw_scheduler *scheduler, uint32_t event_count);

static inline bool htw__is_observed(const struct htw_scheduler *scheduler) {
    return HTW__UNLIKELY(htw__mode(scheduler) & HTW__MODE_OBSERVE);
}

/* Returns `stack`, or NULL: stacks are not kept. Not under a lock. */
static inline const struct htw_stack *htw__stack_take(const struct htw_scheduler *scheduler,
                                                      unsigned mode, struct htw_stack *stack) {
    if (HTW__LIKELY(!(mode & HTW_OBSERVE_STACKS)))
        return NULL;
    scheduler->calls->take_stack(stack);
    return stack;
}

/* The next three: under the lock of the shard. `stack`: of htw__stack_take(). */
static inline void htw__observe_armed(struct htw__shard *shard, unsigned mode,
                                      const struct htw__record *record, htw_handle handle,
                                      const struct htw_stack *stack) {
    if (!htw__site_count(shard, mode, record, HTW__SITE_ARMED) && (mode & HTW__MODE_OBSERVE))
        shard->scheduler->calls->armed(shard, record, handle, stack);
}

static inline void htw__observe_cancelled(struct htw__shard *shard, unsigned mode,
                                          const struct htw__record *record, htw_handle handle) {
    if (!htw__site_count(shard, mode, record, HTW__SITE_CANCELLED) && (mode & HTW__MODE_OBSERVE))
        shard->scheduler->calls->changed(shard, record, handle, HTW_EVENT_CANCELLED);
}

static inline void htw__observe_moved(struct htw__shard *shard, const struct htw__record *record,
                                      htw_handle handle) {
    if (HTW__UNLIKELY(htw__mode(shard->scheduler) & HTW_OBSERVE_EVENTS))
        shard->scheduler->calls->changed(shard, record, handle, HTW_EVENT_MOVED);
}

#endif /* HTW_SRC_SCHEDULER_OBSERVE_H */

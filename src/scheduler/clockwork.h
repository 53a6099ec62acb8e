/* SPDX-License-Identifier: MIT */
/*
 * clockwork.h - a wheel of a shard, the clock that drives it, and when it must be served.
 *
 * Each shard has a clockwork for the scheduler's own clock. One for another clock is created when a
 * timer of the shard uses that clock for the first time, and stays until the scheduler is destroyed.
 *
 * All of this happens under the lock of the shard, except where a comment says otherwise.
 */
#ifndef HTW_SRC_SCHEDULER_CLOCKWORK_H
#define HTW_SRC_SCHEDULER_CLOCKWORK_H

#include "../base/assert.h"
#include "../base/compiler.h"
#include "../base/histogram.h"
#include "../base/lock.h"
#include "clocks.h"
#include "record.h"
#include "state.h"
#include "wake.h"

/* The place of a clockwork in its shard: 0 is that of the scheduler's own clock, the others are
   values of enum htw_clock. Sets of them are bit masks. */
#define HTW__SLOT_COUNT 4u

struct htw__clockwork {
    const struct htw_scheduler *scheduler; /* constant, as are the next four */
    struct htw__lock *lock;                /* of the shard */
    struct htw__waker *waker;              /* of the expirer that serves the shard */
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

/* Creates the wheel, without the lock. 0 or -ENOMEM; in either case
   htw__clockwork_fini() may follow. What is constant, except `clock` and `slot`, is set by the
   caller. */
int htw__clockwork_init(struct htw__clockwork *clockwork, const struct htw__clock *clock,
                        uint32_t slot);
void htw__clockwork_fini(struct htw__clockwork *clockwork);

static inline int64_t htw__clockwork_now_ns(const struct htw__clockwork *clockwork) {
    return htw__clock_now_ns(clockwork->scheduler, clockwork->clock);
}

static inline uint64_t htw__clockwork_wake_tick(const struct htw__clockwork *clockwork) {
    /* order: Alarms order it: see `resets`. */
    return atomic_load_explicit(&clockwork->wake_tick, memory_order_relaxed);
}

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

/* ---- for the expirer */

/* The expirer must serve this at `tick`. */
void htw__clockwork_set_wake_tick(struct htw__clockwork *clockwork, uint64_t tick);

/* Of a wheel that begins at a tick. */
struct htw_wheel_options htw__clockwork_wheel_options(const struct htw__clockwork *clockwork,
                                                      uint64_t start);

/* ---- without the lock */

/* Sets the alarm of the expirer: once for each time that the slot was added to `*ret_wake`. */
void htw__clockwork_wake(struct htw__clockwork *clockwork);

#endif /* HTW_SRC_SCHEDULER_CLOCKWORK_H */

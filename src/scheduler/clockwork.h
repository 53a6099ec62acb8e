/* SPDX-License-Identifier: MIT */
/*
 * clockwork.h - a timing wheel of a shard (store.h), the clock that drives it, and when it must be
 * served.
 *
 * Each shard has a clockwork for the scheduler's own clock. One for another clock is created when a
 * timer of the shard uses that clock for the first time, and stays until the scheduler is destroyed.
 * Leading clockworks come and go: their clock is ahead of that of another clockwork, see below.
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
#include "../base/heap.h"
#include "record.h"
#include "state.h"
#include "store.h"
#include "wake.h"

/* The place of a clockwork in its shard: 0 is that of the scheduler's own clock, the others are
   values of enum htw_clock. Sets of them are bit masks. */
#define HTW__SLOT_COUNT 4u
#define HTW__SLOT_LEADING HTW__SLOT_COUNT /* none: a leading clockwork */

struct htw__clockwork {
    const struct htw_scheduler *scheduler; /* constant, as are the next five */
    struct htw__lock *lock;                /* of the shard */
    struct htw__waker *waker;              /* of the expirer that serves the shard */
    struct htw__stores *stores;            /* of the shard */
    const struct htw__clock *clock;
    uint32_t slot;
    /* Threads that have lowered wake_tick and not yet set the alarm. If it leads: those of the parent
       when it was planned last. */
    uint32_t waking;
    _Atomic uint64_t wake_tick; /* the expirer must serve this by then; any thread reads it */
    uint64_t fast_after_tick;   /* a later timer needs neither alarm nor clock: set_wake_tick() */
    struct htw__store *store;
    struct htw__store *previous; /* the clock was set back: timers move from here to `store` */
    uint64_t clock_read_tick;    /* when the clock was last read under the lock */
    struct htw__heap leading;    /* the leading clockworks that have timers, by when they are next */
    uint32_t leading_count;      /* those that exist */
    uint64_t turn;               /* of the one that was planned last */
};

/*
 * A clockwork whose clock is ahead of that of another one, its parent. How far, may be changed at any
 * time: all of its timers then become due so much earlier or later, at the cost of one.
 *
 * The expirer serves it through the parent, which has it in its heap.
 */
struct htw__leading {
    struct htw__clockwork clockwork; /* in ticks of the clock that leads */
    struct htw__clockwork *parent;   /* constant */
    uint64_t lead_tick;              /* how far it is ahead */
    int64_t lead_ns;                 /* the same */
    int64_t grown_ns;                /* when the lead grew last, by the clock of the parent */
    struct htw__heap_node node;      /* of the parent's heap */
    uint64_t tick, turn;             /* its place there: when the parent must serve it */
};

/* Creates the store, without the lock (a leading one: under the lock). 0 or -ENOMEM; then there is
   nothing to release. What is constant, except `clock` and `slot`, is set by the caller. */
int htw__clockwork_init(struct htw__clockwork *clockwork, const struct htw__clock *clock,
                        uint32_t slot);

/* Gives up the stores, under the lock if they were added. */
void htw__clockwork_fini(struct htw__clockwork *clockwork);

static inline int64_t htw__clockwork_now_ns(const struct htw__clockwork *clockwork) {
    return htw__clock_now_ns(clockwork->scheduler, clockwork->clock);
}

/* How far its clock is ahead of the real one. */
static inline int64_t htw__clockwork_lead_ns(const struct htw__clockwork *clockwork) {
    return HTW__UNLIKELY(clockwork->slot == HTW__SLOT_LEADING)
               ? HTW_CONTAINER_OF(clockwork, const struct htw__leading, clockwork)->lead_ns
               : 0;
}

/* When a timer is due whose record has this deadline: the instant of the real clock. */
int64_t htw__clockwork_due_ns(const struct htw__clockwork *clockwork, int64_t deadline_ns);

static inline uint64_t htw__clockwork_wake_tick(const struct htw__clockwork *clockwork) {
    return atomic_load_explicit(&clockwork->wake_tick, memory_order_relaxed);
}

/* ---- arming: `now_ns` is a time of the real clock */

/* htw__clockwork_arm_new() where the alarm may be set for later, or the deadline may be in the
   past. */
int htw__clockwork_arm_near(struct htw__clockwork *clockwork, struct htw__entry entry,
                            int64_t deadline_ns, unsigned *ret_wake);

/*
 * Files the entry of a record that has none, for its tick; or for now, if `deadline_ns`, which was
 * rounded up to that tick, is in the past. -ENOMEM: nothing has changed.
 *
 * Adds the slot to the set `*ret_wake` if the alarm may be set for later. Then the caller must call
 * htw__shard_wake() once, after it has unlocked the shard.
 */
static inline int htw__clockwork_arm_new(struct htw__clockwork *clockwork, struct htw__entry entry,
                                         int64_t deadline_ns, unsigned *ret_wake) {
    if (HTW__UNLIKELY(entry.tick <= clockwork->fast_after_tick))
        return htw__clockwork_arm_near(clockwork, entry, deadline_ns, ret_wake);
    return HTW__LIKELY(entry.tick != HTW_NEVER_TICK) ? htw__store_file(clockwork->store, entry) : 0;
}

/* Leaves the entry of a record behind, if it has one: the timer is paused, or moved to an earlier time or
   to another clockwork. */
void htw__clockwork_leave_entry(struct htw__record *record);

/* For a PENDING record, which is not paused, and whose deadline becomes `deadline_ns`. -EAGAIN: it is not
   PENDING any more. -ENOMEM: nothing has changed. */
int htw__clockwork_move(struct htw__clockwork *clockwork, struct htw__record *record, uint64_t tick,
                        int64_t deadline_ns, unsigned *ret_wake);

/* As htw__clockwork_arm_new(), for any tick of a range: the slack of the timer. Chooses the tick of the
   entry. */
int htw__clockwork_arm_within(struct htw__clockwork *clockwork, struct htw__entry *entry,
                              uint64_t earliest, uint64_t latest, unsigned *ret_wake);

/* The same for a PENDING record without an entry, and its deadline_ns. Cannot fail. */
void htw__clockwork_arm_always(struct htw__clockwork *clockwork, struct htw__record *record,
                               int64_t now_ns, unsigned *ret_wake);

/* The same, and does not wake the expirer. Returns the tick of the entry. */
uint64_t htw__clockwork_rearm(struct htw__clockwork *clockwork, struct htw__record *record,
                              int64_t now_ns);

/* ---- leading clockworks */

/* Creates one with no lead. 0 or -ENOMEM; then there is nothing to release. */
int htw__leading_init(struct htw__leading *leading, struct htw__clockwork *parent);
void htw__leading_fini(struct htw__leading *leading);

/* Changes the lead. `ret_wake`: as htw__clockwork_arm_new(). Cannot fail. */
void htw__leading_set(struct htw__leading *leading, uint64_t lead_tick, unsigned *ret_wake);

/* For the expirer, which has served it: the next time is at `tick` of the clock that leads. Does not
   wake the expirer. */
void htw__leading_plan(struct htw__leading *leading, uint64_t tick);

/* The leading clockwork that its parent must serve next; NULL: none. */
static inline struct htw__leading *htw__leading_first(const struct htw__clockwork *parent) {
    struct htw__heap_node *node = htw__heap_first(&parent->leading);
    return node == NULL ? NULL : HTW_CONTAINER_OF(node, struct htw__leading, node);
}

/* ---- for the expirer */

/* The expirer must serve this at `tick`. */
void htw__clockwork_set_wake_tick(struct htw__clockwork *clockwork, uint64_t tick);

/* When something is due that is in it. */
uint64_t htw__clockwork_next(const struct htw__clockwork *clockwork);

/* A store that begins at a tick, for this clockwork. 0 or -ENOMEM. */
int htw__clockwork_create_store(struct htw__clockwork *clockwork, uint64_t start,
                                struct htw__store **ret_store);

/* Replaces the store by another one, which was added. */
void htw__clockwork_replace_store(struct htw__clockwork *clockwork, struct htw__store *store);

/* Moves up to HTW__SLICE entries from the previous store, and gives that up when it is empty. */
void htw__clockwork_move_from_previous(struct htw__clockwork *clockwork);

/* ---- without the lock */

/* Sets the alarm of the expirer: once for each time that the slot was added to `*ret_wake`. */
void htw__clockwork_wake(struct htw__clockwork *clockwork);

#endif /* HTW_SRC_SCHEDULER_CLOCKWORK_H */

/* SPDX-License-Identifier: MIT */
/*
 * state.h - struct htw_scheduler; the parts of a scheduler, the life of a timer, and the locks.
 *
 * PARTS
 *
 * A scheduler is divided into SHARDS (shard.h). A shard is a wheel for each clock that its timers
 * use (CLOCKWORKS), the records of its timers, and a lock. A thread arms on the shard
 * of the CPU on which it runs, so that two threads rarely want the same lock; where the expirer
 * or another thread has locked that, on the next one.
 *
 * An EXPIRER (expirer.h) sleeps until the earliest deadline of its shards. It takes due timers from
 * the wheels in batches of 64. It runs them itself (run.c), or hands them to WORKERS (work_queue.h,
 * workers.h) or to the user's EXECUTOR (executor.c). A worker takes its place when a callback takes
 * long (deputy.h). In embedded mode and in manual time a
 * thread of the user's takes the expirer's place (process.c).
 *
 * A timer is a RECORD of 64 bytes (record.h) in the slab of its shard. A timer with a period, a
 * key, a group, a release hook or another clock than the scheduler also has ATTRIBUTES
 * (attributes.h), a second block of memory.
 *
 * While something is observed, src/observe/ is told when a timer is armed, cancelled, taken or run (observe.h).
 * Whether it is, and all else that a hot path must know, is in one word, `mode`.
 *
 * THE LIFE OF A TIMER
 *
 *     state     the timer is                        next state, and when
 *     FREE      not armed                           PENDING  armed; under the lock
 *     PENDING   in the wheel                        QUEUED   due; by the expirer, under the lock
 *                                                   DONE     cancelled, or handed back by stop;
 *                                                            under the lock
 *                                                   CLAIMED  cancelled from another shard; no lock
 *     QUEUED    in a batch, and due                 RUNNING  its callback starts; under the lock
 *                                                            if the timer has attributes
 *                                                   PENDING  rescheduled, its group paused, or by
 *                                                            stop; under the lock
 *                                                   DONE     cancelled; under the lock
 *     RUNNING   in its callback                     PENDING  it repeats, or was rescheduled by its
 *                                                            callback; under the lock
 *                                                   DONE     its callback has returned
 *     CLAIMED   ended; its record is in the wheel   FREE     under the lock
 *     DONE      ended; its record may be in a batch FREE     under the lock
 *
 * "The lock" is that of the timer's shard. A step that two threads may attempt at once is a
 * compare-and-swap of the record's status, so exactly one of them takes it.
 *
 * A timer with attributes is never claimed. The record of a claimed timer cannot be freed at once,
 * because it is in a wheel that the cancelling thread must not touch. That thread pushes the record
 * on the stack `stale` of the timer's shard. The records of a batch that has run go the same way. The
 * stack is taken under the lock of that shard, before the shard asks for more memory, or when many
 * records are on it. Then threads that arm reuse these first.
 *
 * ORDER
 *
 * A wheel hands out its timers tick by tick, and the library runs a batch in that order. Nothing else
 * is ordered: the timers of one tick come in any order (the wheels are not `strict_fifo`:
 * htw__clockwork_wheel_options()), shards are served one after the other, and two batches may run at
 * once. Only htw_scheduler_advance() takes each tick in all shards before the next one.
 *
 * READING A RECORD WITHOUT THE LOCK OF ITS SHARD
 *
 * A thread that cancels a timer of another shard reads the record while it holds the lock of its
 * own shard. Before a page of records is released, the expirer locks and unlocks all shards in
 * turn. After that no thread can still be reading a record of the page.
 *
 * LOCKS
 *
 * base/lock.h has the order in which they are acquired. The lock of a shard guards all of the
 * shard, except where a member says otherwise. No code of the user runs under a lock, except the
 * allocator.
 */
#ifndef HTW_SRC_SCHEDULER_STATE_H
#define HTW_SRC_SCHEDULER_STATE_H

#include "../base/alloc.h"
#include "../base/compiler.h"
#include "../base/divisor.h"
#include "../base/fork.h"
#include "frame.h"
#include "life.h"
#include "notes.h"
#include "steady.h"
#include "work_queue.h"

#include <htw/executor.h>
#include <htw/scheduler.h>

#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>

/* One more than the last value of enum htw_clock. */
#define HTW__CLOCK_COUNT (HTW_CLOCK_MANUAL + 1u)

/* The slot of a clockwork is its place in its shard: 0 is that of the scheduler's own clock, the others
   are values of enum htw_clock. Sets of slots are bit masks. */
#define HTW__SLOT_COUNT HTW__CLOCK_COUNT

struct htw__clock;
struct htw__expirer;
struct htw__observation;
struct htw__observe_calls;
struct htw__run_stats;
struct htw__site_entry;
struct htw__thread;

struct htw_scheduler {
    /* Constant once created. */
    struct htw__shard *shards;
    uint32_t shard_count;
    uint32_t index_bits, index_mask, shard_mask, generation_shift; /* of handles: shard.h */
    unsigned fork_count;            /* htw__fork_count() at creation */
    struct htw__divisor tick;       /* its length in nanoseconds */
    const struct htw__clock *clock; /* its own; timers may have others */
    bool embedded;
    bool has_executor;
    uint32_t expirer_count, worker_count;
    uint32_t wheel_size;
    uint64_t max_pending;
    int64_t timer_slack_ns, late_threshold_ns;
    uint64_t key_seed;
    struct htw__expirer *expirers;
    struct htw__thread *threads;
    struct htw__batch *batches;
    uint32_t batch_count;
    const struct htw__observe_calls *calls; /* of src/observe/, as the next: observe.h */
    struct htw__observation *observation;
    struct htw_executor executor;
    struct htw__run_stats *executor_run_stats; /* shared by the threads of the executor */
    struct htw_allocator allocator;
    struct htw_allocator users_allocator; /* see htw__allocator_hide() */
    char thread_name[16];

    _Atomic unsigned mode;                       /* HTW__MODE_..., and a set of HTW_OBSERVE_... */
    _Atomic int64_t manual_ns[HTW__CLOCK_COUNT]; /* manual time, of each clock */
    _Atomic unsigned clocks_in_use; /* one bit for each clock but its own that a timer has had */
    alignas(
        64) _Atomic int64_t credit; /* how many more timers may be armed: htw__credit_acquire() */
    alignas(64) struct htw__work_queue work_queue;
    struct htw__life life;
    struct htw__cancel_waiters cancel_waiters;
    _Atomic int64_t note_due_ns[HTW__NOTES]; /* htw__report_is_due() */
    _Atomic int64_t noted_late_ns;
};

/* What is not as usual. Hot paths test once that nothing is, and have another copy for the rest. */
#define HTW__OBSERVE_ALL (HTW_OBSERVE_SITES | HTW_OBSERVE_EVENTS | HTW_OBSERVE_STACKS)
#define HTW__MODE_OBSERVE 0xffu   /* the set of what is observed */
#define HTW__MODE_STARTING 0x100u /* threads are needed that have not all been started */
#define HTW__MODE_STOPPING 0x200u /* no callback starts any more */
#define HTW__MODE_LIMITED 0x400u  /* there is a max_pending; constant */
#define HTW__MODE_NOTE 0x1000u    /* the first of enum htw__note; the others follow */
#define HTW__MODE_NOTES (HTW__MODE_NOTE * ((1u << HTW__NOTES) - 1))

static inline unsigned htw__mode(const struct htw_scheduler *scheduler) {
    /* order: The flags count alone. */
    return atomic_load_explicit(&scheduler->mode, memory_order_relaxed);
}

/* Whether the scheduler is being stopped: no callback may start any more. */
static inline bool htw__is_ending(const struct htw_scheduler *scheduler) {
    return htw__mode(scheduler) & HTW__MODE_STOPPING;
}

/*
 * max_pending: arming a timer takes a credit, and the end of the timer gives it back. Without a limit this costs a
 * comparison.
 */

/* Adds credits; a negative number takes them. */
static inline void htw__credit_add(struct htw_scheduler *scheduler, int64_t n) {
    /* order: A count alone: credits carry no data. */
    if (scheduler->max_pending != 0)
        atomic_fetch_add_explicit(&scheduler->credit, n, memory_order_relaxed);
}

/* False: the limit is reached. */
static inline bool htw__credit_acquire(struct htw_scheduler *scheduler) {
    if (scheduler->max_pending == 0)
        return true;
    /* order: A count alone: credits carry no data. */
    int64_t left = atomic_load_explicit(&scheduler->credit, memory_order_relaxed);
    while (left > 0 &&
           !atomic_compare_exchange_weak_explicit(&scheduler->credit, &left, left - 1,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
    return left > 0;
}

/* What every public call begins with: 0; -EINVAL; -EOWNERDEAD if the process has forked since the
   creation. In a call it does not: a child that is forked in code of the user ends there. */
static inline int htw__scheduler_refusal(const struct htw_scheduler *scheduler) {
    if (HTW__UNLIKELY(scheduler == NULL))
        return -EINVAL;
    HTW_ASSERT_EXISTS(scheduler, "scheduler");
    return HTW__UNLIKELY(scheduler->fork_count != htw__fork_count()) ? -EOWNERDEAD : 0;
}

/*
 * As htw_scheduler_create(), for tests. `index_bits`, from 12 to 32, is the number of bits of a handle
 * for the timers of a shard; 0 means 32 minus the bits for the shard, which leaves 32 bits for the
 * generation. Tests choose 12 to run out of indices, or 32 to run out of generations.
 */
int htw__scheduler_create(struct htw_scheduler **ret_scheduler,
                          const struct htw_scheduler_options *options, uint32_t index_bits);

#endif /* HTW_SRC_SCHEDULER_STATE_H */

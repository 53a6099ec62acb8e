/* SPDX-License-Identifier: MIT */
/*
 * state.h - what a scheduler is made of, who may touch which part, and the life of a timer.
 * For the files of src/scheduler/ only.
 *
 * A scheduler is divided into SHARDS: a wheel, the records of its timers, and a lock. A thread
 * arms on the shard of the CPU on which it runs, so that the lock is nearly always free. An
 * EXPIRER sleeps until the earliest deadline of its shards, takes what is due in batches
 * of 64, and hands them to the WORKERS, or to whoever runs callbacks instead.
 *
 * A RECORD is a timer: 64 bytes, a cell of the shard's slab. What few timers need lies in a second
 * one, struct htw__attributes. Its `status` holds generation and state in one word; a step
 * from one state to the next is a compare-and-swap, so of two that would take the same step
 * exactly one does:
 *
 *     free -> PENDING      armed; under the shard's lock
 *     PENDING -> CLAIMED   cancelled by a thread of another shard, without the lock
 *     PENDING -> QUEUED    taken from the wheel by the expirer; under the lock
 *     PENDING -> DONE      cancelled under the lock
 *     PENDING, QUEUED -> DRAINED   by stop, which hands it back
 *     QUEUED -> RUNNING    by the runner; under the lock if the timer has a second record
 *     QUEUED -> DONE       cancelled in time; under the lock
 *     RUNNING -> PENDING   it repeats, or was rescheduled by its callback; under the lock
 *     RUNNING -> DONE      by the runner
 *     CLAIMED, DONE -> free  under the lock, when nothing refers to the record any more
 *
 * Only plain timers (without a second record) are claimed. A claimed one is gone for
 * everybody, but its record still stands in the wheel: it is left on the shard's stack `left`,
 * which whoever has the lock and needs records drains. Those that have run may be left there, too.
 *
 * WHY A RECORD CAN BE LOOKED AT WITHOUT ITS SHARD'S LOCK. Who claims holds the lock of
 * his own shard meanwhile. Before a page of records is given back, the expirer takes and
 * gives every lock of the scheduler once, one after the other: then nobody who found the page
 * can still be looking at it.
 *
 * LOCKS: base/lock_rank.h has the order in which they are taken. The lock of a shard guards all of
 * the shard, except where a member says otherwise. No user code runs under a lock, except the
 * allocator.
 */
#ifndef HTW_SRC_SCHEDULER_STATE_H
#define HTW_SRC_SCHEDULER_STATE_H

#include "../base/alarm.h"
#include "../base/assert.h"
#include "../base/clock.h"
#include "../base/counter.h"
#include "../base/divisor.h"
#include "../base/fork.h"
#include "../base/histogram.h"
#include "../base/key_table.h"
#include "../base/list.h"
#include "../base/lock.h"
#include "../base/mutex.h"
#include "../base/slab.h"

#include <htw/scheduler.h>
#include <htw/wheel.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>

/* The most timers, or steps of demotion, for which a lock is held at a time; and a batch. */
#define HTW__SLICE 64u

/* How far ahead a record that was left is fetched into the cache before it is freed. */
#define HTW__STALE_AHEAD 8u

enum htw__state {
    HTW__FREE = 0,
    HTW__PENDING = 1,
    HTW__CLAIMED = 2,
    HTW__QUEUED = 3,
    HTW__RUNNING = 4,
    HTW__DONE = 5,
    HTW__DRAINED = 6,
    HTW__STATE = 7 /* the bits of these */
};

/* Beside them, set and cleared under the shard's lock. */
#define HTW__HAS_ATTRIBUTES 0x08u /* `extra` instead of `arg` */
#define HTW__REARM 0x10u   /* RUNNING: runs again at deadline_ns. QUEUED: is to go back there */
#define HTW__CANCEL 0x20u  /* RUNNING: runs no more */
#define HTW__AWAITED 0x40u /* RUNNING: somebody waits until it is over */

struct htw__record {
    union {
        struct htw__cell cell;
        struct {
            union {
                struct htw_timer timer;
                struct { /* while it is in no wheel; must not reach to timer._where */
                    struct htw__record *next;
                    struct htw__shard *shard;
                };
            };
            union {
                htw_callback *callback;
                struct {                  /* left for others to free: */
                    uint32_t next_stale;  /* the index of the next on the stack */
                    uint32_t later_stale; /* probably one some places further on */
                };
            };
            union {
                void *arg;
                struct htw__attributes *attributes;
            };
            int64_t
                deadline_ns; /* while its time stands still (htw__attributes.paused): what remains */
            _Atomic uint64_t status;
        };
    };
};
_Static_assert(sizeof(struct htw__record) == 64, "a record is a cell");

/* A place in the list of a group. */
struct htw__member {
    struct htw__link link;
    struct htw__attributes *attributes; /* NULL: no timer, but a mark of a sweep */
};

/* The second record. Guarded by the lock of the shard. */
struct htw__attributes {
    void *arg;
    htw_release_hook *release;
    struct htw__record *record;
    int64_t period_ns; /* 0: does not repeat */
    uint64_t missed;   /* since the run before */
    enum htw_repeat repeat;
    bool paused; /* `deadline_ns` is what remains; PENDING without a deadline in the wheel, or
                    QUEUED */
    bool keyed;  /* `key` is in a table */
    struct htw_group *group;
    struct htw__member in_group;
    struct htw__key_node key;
    size_t bytes; /* of this, the key included */
    unsigned char key_bytes[];
};

/* What other processors look at stands apart from what its own keeps changing: this, the views of
   the slab, and `left` begin cache lines of their own. */
struct htw__shard {
    alignas(64) struct htw_scheduler *scheduler;
    uint32_t index;
    struct htw__slab slab;
    alignas(64) struct htw__lock lock;
    bool closed;                /* stopped: nothing is armed any more */
    uint32_t reclaiming;        /* those that were taken off the stack `left` */
    uint32_t waking;            /* threads that have lowered wake_tick and not yet set the alarm */
    _Atomic uint64_t wake_tick; /* the expirer must look here by then. Written under the lock */
    uint64_t soon_tick; /* what is filed for later needs no alarm and is not over: file_soon() */
    struct htw_wheel *wheel;
    struct htw_wheel *previous; /* the clock was set back: timers move from here to `wheel` */
    /* Counted by whoever has the lock; for claims: that of his own shard. */
    struct htw__counter scheduled, cancelled, handed_back, moved, refused;
    uint64_t credit; /* timers that may be armed before asking the scheduler */
    /* What was claimed last by those who arm here, in turn; the next in turn. */
    uint32_t recent[HTW__STALE_AHEAD], recent_next;
    uint64_t seen_tick;        /* when the clock was last read under the lock */
    uint64_t scheduled_before; /* when the expirer last cleaned up; that alone touches it */
    uint64_t demoted;          /* by the wheels that are no more */
    struct htw__record *unrun; /* stopped: taken by the expirer, but not run */
    struct htw__counter attributes_bytes; /* second records, groups, and the groups' keys */
    struct htw__key_table keys;           /* the extras of keyed timers without a group */

    /* The stack of records left by others to be freed: the index of the topmost (low 32 bits), and
       how many there are. */
    alignas(64) _Atomic uint64_t stale;
};

/* What a thread that runs callbacks counts. The threads of an executor share one. */
struct htw__runner {
    bool shared; /* `lock` must be held to write */
    struct htw__lock lock;
    struct htw__counter started, rearmed, ended, late, missed;
    struct htw__histogram lateness, duration;
};

/* Timers of one shard that are due, on their way to a callback. */
struct htw__batch {
    struct htw__shard *shard;
    struct htw__batch *link;
    uint32_t count;
    _Atomic uint32_t next; /* the first that nobody has begun with */
    struct htw__record *records[HTW__SLICE];
};

struct htw__expirer {
    alignas(64) struct htw__alarm alarm;
    _Atomic bool cleanup; /* it is to clean up soon, and the alarm is set for that */
    struct htw_scheduler *scheduler;
    unsigned index;
    uint32_t turn; /* the one of its shards with which it begins */
    pthread_t thread;
    struct htw__runner *runner; /* when it runs callbacks itself */
    struct htw__batch batch;    /* the same */
    struct htw__counter wakeups, empty_wakeups;
};

struct htw__worker {
    struct htw_scheduler *scheduler;
    pthread_t thread;
    struct htw__runner *runner;
    /* Guarded by the pool's mutex: what it works on, and how far it was when last looked at. */
    struct htw__batch *batch;
    struct htw__batch *seen_batch;
    uint32_t seen_next;
};

struct htw__pool {
    struct htw__mutex mutex;
    pthread_cond_t work;    /* a batch is queued, or the end has come */
    pthread_cond_t changed; /* a batch has come back */
    struct htw__batch *first, *last;
    struct htw__batch *spare;        /* batches that nobody uses */
    uint32_t queued;                 /* batches that nobody has taken */
    uint64_t outstanding;            /* batches queued or in work; with an executor, tasks */
    int64_t watched_ns;              /* when somebody last looked for callbacks that take long */
    unsigned started, idle, waiting; /* threads; idle ones; those who wait for `changed` */
    bool stop;
};

/* A call of cancel_wait that waits, or a callback that runs. In the thread that does. */
struct htw__run {
    struct htw_scheduler *scheduler;
    htw_handle handle;
    struct htw__run *outer; /* of the same thread */
    htw_handle awaited;     /* 0: none. Guarded by wait.mutex, as is the next */
    struct htw__run *next_waiting;
};

struct htw_scheduler {
    /* Constant once created. */
    struct htw__shard *shards;
    uint32_t shard_count;
    uint32_t index_bits, index_mask, shard_mask, generation_shift;
    unsigned born;            /* htw__fork_count() then */
    struct htw__divisor tick; /* its length in nanoseconds */
    enum htw_clock clock;
    bool embedded;
    bool has_executor;
    uint32_t expirer_count, worker_count;
    uint32_t wheel_size;
    uint64_t max_pending;
    int64_t timer_slack_ns, late_threshold_ns;
    uint64_t key_seed;
    struct htw__expirer *expirers;
    struct htw__worker *workers;
    struct htw__batch *batches;
    uint32_t batch_count;
    struct htw_executor executor;
    struct htw_allocator allocator;
    char thread_name[16];

    _Atomic bool threads_started; /* or none is needed */
    _Atomic bool stopping;        /* no callback starts any more */
    _Atomic int64_t manual_ns;
    alignas(64) _Atomic uint64_t credit; /* what is left of max_pending */
    alignas(64) struct htw__pool pool;

    struct {
        struct htw__mutex mutex;
        pthread_cond_t changed;
        enum { HTW__ALIVE, HTW__STOPPING, HTW__STOPPED } phase;
        unsigned expirers_started;
        bool driven; /* a thread is in process() or advance() */
    } life;

    struct {
        struct htw__mutex mutex;
        pthread_cond_t over; /* an awaited callback is */
        struct htw__run *waiting;
    } wait;

    struct htw__runner *executor_runner; /* of the threads of an executor */

    struct { /* see steady.h */
        struct htw__mutex mutex;
        struct htw__link watches; /* ring */
        int64_t offset_ns; /* of the wall clock from the steady one, when watches were last told */
    } wall;
};

/* The innermost callback that this thread runs. */
extern _Thread_local struct htw__run *htw__innermost_run __attribute__((tls_model("initial-exec")));

static inline bool htw__is_child(const struct htw_scheduler *scheduler) {
    return scheduler->born != htw__fork_count();
}

/*
 * Whether this thread starts no callback any more: the scheduler is being stopped, or the callback
 * that it has just called has forked, and this is the child.
 *
 * User code may return in a child: each place that calls it asks htw__is_child() before it goes on,
 * and then touches nothing of the scheduler. A lock may be taken for ever, and the alarm is the
 * parent's.
 */
static inline bool htw__is_over(const struct htw_scheduler *scheduler) {
    return htw__is_child(scheduler) ||
           atomic_load_explicit(&scheduler->stopping, memory_order_acquire);
}

/* What every call begins with: 0, -EINVAL or -EOWNERDEAD. */
static inline int htw__scheduler_refusal(const struct htw_scheduler *scheduler) {
    if (__builtin_expect(scheduler == NULL, false))
        return -EINVAL;
    return __builtin_expect(htw__is_child(scheduler), false) ? -EOWNERDEAD : 0;
}

/* Whether this thread is in a callback, hook or executor of the scheduler. */
static inline bool htw__is_inside(const struct htw_scheduler *scheduler) {
    for (const struct htw__run *run = htw__innermost_run; run != NULL; run = run->outer)
        if (run->scheduler == scheduler)
            return true;
    return false;
}

/* ---- time */

static inline int64_t htw__now_ns(const struct htw_scheduler *scheduler) {
    switch (scheduler->clock) {
    case HTW_CLOCK_MONOTONIC:
        return htw__clock_monotonic_ns();
    case HTW_CLOCK_BOOTTIME:
        return htw__clock_boottime_ns();
    case HTW_CLOCK_REALTIME:
        return htw__clock_realtime_ns();
    case HTW_CLOCK_MANUAL:
        break;
    }
    return atomic_load_explicit(&scheduler->manual_ns, memory_order_relaxed);
}

/* The last tick that has begun at an instant. */
static inline uint64_t htw__tick_at(const struct htw_scheduler *scheduler, int64_t ns) {
    return ns < 0 ? 0 : htw__divide((uint64_t)ns, &scheduler->tick);
}

/* The first tick that begins at or after an instant. */
static inline uint64_t htw__tick_from(const struct htw_scheduler *scheduler, int64_t ns) {
    if (ns == HTW_NEVER_NS)
        return HTW_NEVER_TICK;
    return ns <= 0 ? 0 : htw__divide_up((uint64_t)ns, &scheduler->tick);
}

/*
 * The tick at which a deadline is due. One that is ahead is rounded up, so that nothing is early,
 * and one that is over is rounded down, so that nothing waits for the next tick.
 */
static inline uint64_t htw__tick_due(const struct htw_scheduler *scheduler, int64_t deadline_ns,
                                     int64_t now_ns) {
    return deadline_ns <= now_ns ? htw__tick_at(scheduler, deadline_ns)
                                 : htw__tick_from(scheduler, deadline_ns);
}

static inline int64_t htw__tick_ns(const struct htw_scheduler *scheduler, uint64_t tick) {
    htw__uint128 ns = (htw__uint128)tick * scheduler->tick.value;
    return ns > INT64_MAX ? HTW_NEVER_NS : (int64_t)ns;
}

/* `now` and a delay, which may not leave the range. A negative delay is none. */
static inline int64_t htw__after_ns(int64_t now, int64_t delay_ns) {
    int64_t sum;
    if (delay_ns <= 0)
        return now;
    return __builtin_add_overflow(now, delay_ns, &sum) ? HTW_NEVER_NS : sum;
}

/* How late it is; the deadline may lie before all time. */
static inline int64_t htw__late_ns(int64_t now, int64_t deadline_ns) {
    int64_t late;
    /* The clock may have been set back since the timer was found due. */
    if (deadline_ns >= now)
        return 0;
    return __builtin_sub_overflow(now, deadline_ns, &late) ? INT64_MAX : late;
}

/* ---- records */

static inline uint64_t htw__status_of(const struct htw__record *record) {
    return atomic_load_explicit(&record->status, memory_order_acquire);
}

static inline bool htw__status_change(struct htw__record *record, uint64_t *expected, uint64_t to) {
    HTW__ANNOTATE_HAPPENS_BEFORE(&record->status);
    bool changed = atomic_compare_exchange_strong_explicit(
        &record->status, expected, to, memory_order_acq_rel, memory_order_acquire);
    HTW__ANNOTATE_HAPPENS_AFTER(&record->status);
    return changed;
}

/* Where nobody else can take a step: under the lock, or by the only one who knows of it. */
static inline void htw__status_set(struct htw__record *record, uint64_t to) {
    HTW__ANNOTATE_HAPPENS_BEFORE(&record->status);
    atomic_store_explicit(&record->status, to, memory_order_release);
}

static inline enum htw__state htw__status_state(uint64_t status) {
    return (enum htw__state)(status & HTW__STATE);
}

/* The same record in another state, with all flags cleared but `flags`. */
static inline uint64_t htw__status_in(uint64_t status, enum htw__state state, unsigned flags) {
    return (status & ~HTW__STATUS_STATE) | (unsigned)state | flags;
}

/* Without the lock, against a change under it: see begin_plain() in run.c. */
static inline int64_t htw__deadline_peek(const struct htw__record *record) {
    return __atomic_load_n(&record->deadline_ns, __ATOMIC_RELAXED);
}

static inline void htw__deadline_change(struct htw__record *record, int64_t deadline_ns) {
    HTW__ANNOTATE_ATOMIC(&record->deadline_ns, sizeof(record->deadline_ns));
    __atomic_store_n(&record->deadline_ns, deadline_ns, __ATOMIC_RELAXED);
}

static inline struct htw__record *htw__record_of(struct htw_timer *timer) {
    return HTW_CONTAINER_OF(timer, struct htw__record, timer);
}

/* ---- handles: generation, shard, index */

/* Of a record of which these are known. */
static inline htw_handle htw__handle_at(const struct htw__shard *shard, uint64_t status,
                                        uint32_t index) {
    const struct htw_scheduler *scheduler = shard->scheduler;
    return (uint64_t)htw__status_generation(status) << scheduler->generation_shift |
           (uint64_t)shard->index << scheduler->index_bits | index;
}

static inline htw_handle htw__handle_of(const struct htw__shard *shard,
                                        const struct htw__record *record) {
    return htw__handle_at(shard, atomic_load_explicit(&record->status, memory_order_relaxed),
                          htw__slab_index(&shard->slab, &record->cell));
}

/* The shard of a handle; NULL when there is none of that number. */
static inline struct htw__shard *htw__handle_shard(const struct htw_scheduler *scheduler,
                                                   htw_handle handle) {
    uint32_t index = (uint32_t)(handle >> scheduler->index_bits) & scheduler->shard_mask;
    return index < scheduler->shard_count ? &scheduler->shards[index] : NULL;
}

/* The record that a handle names, with its status; NULL when the handle is stale. Under the
   lock of the shard, or as told above. */
static inline struct htw__record *htw__handle_record(const struct htw__shard *shard,
                                                     htw_handle handle, uint64_t *ret_ident) {
    const struct htw_scheduler *scheduler = shard->scheduler;
    struct htw__cell *cell = htw__slab_find(&shard->slab, (uint32_t)handle & scheduler->index_mask);
    if (cell == NULL)
        return NULL;
    struct htw__record *record = HTW_CONTAINER_OF(cell, struct htw__record, cell);
    uint64_t status = htw__status_of(record);
    if (htw__status_generation(status) != handle >> scheduler->generation_shift)
        return NULL;
    *ret_ident = status;
    return record;
}

/* The shard that a thread on this CPU arms on. */
static inline struct htw__shard *htw__shard_here(const struct htw_scheduler *scheduler) {
    uint32_t cpu = (uint32_t)sched_getcpu(); /* a load; any number if the kernel does not tell */
    uint32_t count = scheduler->shard_count;
    return &scheduler->shards[cpu < count ? cpu : cpu % count];
}

#endif /* HTW_SRC_SCHEDULER_STATE_H */

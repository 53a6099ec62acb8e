/* SPDX-License-Identifier: MIT */
/*
 * lock.h - locks: a spin lock for critical sections of a few dozen steps, a mutex for those in which a
 * thread may sleep or make system calls, and the order in which a thread may take any of them.
 *
 * Each lock has a rank. A thread may take a lock only if its order is greater than that of each
 * lock that the thread holds. So no two threads can wait for each other. Two locks of the same
 * order, two shards for example, are never held at once.
 *
 * With check_level >= 1 each thread keeps a list of what it holds, and a lock that is taken against
 * the order aborts the process and names both locks, whether or not another thread holds it. With
 * check_level 0 a lock has no rank: no byte and no instruction.
 *
 * What crosses the layers:
 *  - The journal calls the scheduler while it holds its lock, so that comes first.
 *  - The purgatory calls the scheduler while it holds the lock of a CPU, so its locks come before
 *    those of the scheduler.
 *  - So does a scope, which arms its timer while it is entered.
 *  - TIMER is no lock but a system call, in which a thread may be stopped for long. No lock of the
 *    scheduler may be held then: every other thread would wait.
 *  - Callbacks, hooks and visitors run with no lock held. So they may call every function.
 *  - Only the allocator is called with locks held. It must not call the library.
 */
#ifndef HTW_SRC_BASE_LOCK_H
#define HTW_SRC_BASE_LOCK_H

#include "assert.h"
#include "compiler.h"
#include "../port/system.h"

#include <stdatomic.h>
#include <stdbool.h>

/* RANK(name, order, what the message says). Equal orders: locks of which a thread holds one. */
#define HTW__LOCK_RANKS(RANK)                                                                     \
    RANK(JOURNAL, 1, "journal")                   /* all of a journal */                          \
    RANK(MONITOR, 1, "monitor")                   /* the list of its sources */                   \
    RANK(MONITOR_WHEEL, 2, "monitor.wheel")       /* a wheel that may be lent */                  \
    RANK(PURGATORY, 3, "purgatory")               /* its conditions */                            \
    RANK(THRESHOLD, 4, "threshold")               /* its waiting requests */                      \
    RANK(PURGATORY_SHARD, 5, "purgatory.shard")   /* keys, watches, checks */                     \
    RANK(PURGATORY_CPU, 6, "purgatory.cpu")       /* the wheel of timeouts */                     \
    RANK(CELL_POOL, 7, "purgatory.cell_pool")     /* the memory of cells */                       \
    RANK(SCHEDULER_SCOPES, 7, "scheduler.scopes") /* the trees of scopes of a shard */            \
    RANK(TIMER, 8, "timer")                       /* no lock: a kernel timer is set */            \
    RANK(SCHEDULER_LIFE, 9, "scheduler.life")     /* starting and stopping */                     \
    RANK(SCHEDULER_CANCEL_WAITERS, 10, "scheduler.cancel_waiters") /* the calls of cancel_wait */ \
    RANK(SCHEDULER_SHARD, 11, "scheduler.shard")                   /* a wheel and its records */  \
    RANK(SCHEDULER_WORK_QUEUE, 12, "scheduler.work_queue")         /* batches and workers */      \
    RANK(SCHEDULER_RUN_STATS, 12, "scheduler.run_stats")           /* counters of an executor */  \
    RANK(SCHEDULER_HERDS, 12, "scheduler.herds")                   /* what was due of late */     \
    RANK(SCHEDULER_SITES, 12, "scheduler.sites")                   /* copies of sites */          \
    RANK(ALARM, 13, "alarm") /* that of other systems than Linux */

enum htw__lock_rank {
    HTW__RANK_NONE, /* a lock that was not initialized */
#define HTW__RANK_ENUMERATOR(name, order, text) HTW__RANK_##name,
    HTW__LOCK_RANKS(HTW__RANK_ENUMERATOR)
#undef HTW__RANK_ENUMERATOR
};

#if HTW_CHECK_LEVEL >= 1

/* Before a lock is taken: aborts if the thread may not take it now. */
HTW__SHARED void htw__lock_rank_acquire(enum htw__lock_rank rank, const void *lock);
/* Before a lock is released: aborts if the thread does not hold it. */
HTW__SHARED void htw__lock_rank_release(enum htw__lock_rank rank, const void *lock);
/* Before something that a thread may only do while it holds no lock of this order or a greater one:
   aborts if it does. */
void htw__lock_rank_pass(enum htw__lock_rank rank);
/* Before a thread sleeps on a condition: aborts if it holds another lock than this one. */
HTW__SHARED void htw__lock_rank_sleep(enum htw__lock_rank rank, const void *lock);

#define HTW__LOCK_RANK_MEMBER enum htw__lock_rank rank;
#define HTW__LOCK_RANK_INIT(lock, value) ((lock)->rank = (value))
#define HTW__LOCK_RANK_ACQUIRE(lock) htw__lock_rank_acquire((lock)->rank, (lock))
#define HTW__LOCK_RANK_RELEASE(lock) htw__lock_rank_release((lock)->rank, (lock))
#define HTW__LOCK_RANK_PASS(rank) htw__lock_rank_pass(rank)
#define HTW__LOCK_RANK_SLEEP(lock) htw__lock_rank_sleep((lock)->rank, (lock))

#else

#define HTW__LOCK_RANK_MEMBER
#define HTW__LOCK_RANK_INIT(lock, value) ((void)(lock), (void)(value))
#define HTW__LOCK_RANK_ACQUIRE(lock) ((void)(lock))
#define HTW__LOCK_RANK_RELEASE(lock) ((void)(lock))
#define HTW__LOCK_RANK_PASS(rank) ((void)0)
#define HTW__LOCK_RANK_SLEEP(lock) ((void)(lock))

#endif

/*
 * The spin lock. Locking is one exchange and unlocking a plain store: half the cost of a mutex while no
 * other thread wants the lock. The holder may lose its CPU, so a waiter soon yields its own, and then
 * sleeps in growing steps. Unlocking wakes no thread, so there is no list of waiting threads.
 */
struct htw__lock {
    _Atomic unsigned locked;
    HTW__LOCK_RANK_MEMBER
};

static inline void htw__lock_init(struct htw__lock *lock, enum htw__lock_rank rank) {
    HTW__LOCK_RANK_INIT(lock, rank);
    atomic_init(&lock->locked, 0);
}

/* The rest of htw__lock_acquire(), for a lock that was not free. */
void htw__lock_wait(struct htw__lock *lock);

static inline void htw__lock_acquire(struct htw__lock *lock) {
    HTW__LOCK_RANK_ACQUIRE(lock);
    /* order: What the last holder wrote must be visible. [relaxed: `close`] */
    if (HTW__UNLIKELY(atomic_exchange_explicit(&lock->locked, 1u, memory_order_acquire) != 0))
        htw__lock_wait(lock);
}

/* Takes the lock if it is free. Returns whether it was. */
static inline bool htw__lock_try(struct htw__lock *lock) {
    HTW__LOCK_RANK_ACQUIRE(lock);
    /* order: What the last holder wrote must be visible. [relaxed: `stop`] */
    if (HTW__LIKELY(atomic_exchange_explicit(&lock->locked, 1u, memory_order_acquire) == 0))
        return true;
    HTW__LOCK_RANK_RELEASE(lock);
    return false;
}

static inline void htw__lock_release(struct htw__lock *lock) {
    HTW__LOCK_RANK_RELEASE(lock);
    /* order: Publishes what the holder wrote. [relaxed: `close`] */
    atomic_store_explicit(&lock->locked, 0u, memory_order_release);
}

/* The mutex. Nothing here fails: the mutexes are plain ones, which one thread locks once. */
struct htw__mutex {
    htw__system_mutex mutex;
    HTW__LOCK_RANK_MEMBER
};

static inline void htw__mutex_init(struct htw__mutex *mutex, enum htw__lock_rank rank) {
    htw__system_mutex_init(&mutex->mutex);
    HTW__LOCK_RANK_INIT(mutex, rank);
}

static inline void htw__mutex_fini(struct htw__mutex *mutex) {
    htw__system_mutex_fini(&mutex->mutex);
}

static inline void htw__mutex_lock(struct htw__mutex *mutex) {
    HTW__LOCK_RANK_ACQUIRE(mutex);
    htw__system_mutex_lock(&mutex->mutex);
}

static inline void htw__mutex_unlock(struct htw__mutex *mutex) {
    HTW__LOCK_RANK_RELEASE(mutex);
    htw__system_mutex_unlock(&mutex->mutex);
}

/* Waits for a condition, with the mutex and no other lock held. The thread is not cancelled here: the
   mutex would stay locked. */
static inline void htw__mutex_wait(struct htw__mutex *mutex, htw__system_condition *condition) {
    HTW__LOCK_RANK_SLEEP(mutex);
    htw__cancel_state state = htw__disable_cancel();
    htw__system_mutex_wait(&mutex->mutex, condition);
    htw__restore_cancel(state);
}

/* Waits until `deadline_ns` of the monotonic clock at the latest. */
static inline void htw__mutex_wait_until(struct htw__mutex *mutex, htw__system_condition *condition,
                                         int64_t deadline_ns) {
    HTW__LOCK_RANK_SLEEP(mutex);
    htw__cancel_state state = htw__disable_cancel();
    htw__system_mutex_wait_until(&mutex->mutex, condition, deadline_ns);
    htw__restore_cancel(state);
}

/* For the sizes of structs, which are promised for 64-bit pointers and locks without ranks. */
#define HTW__IS_OF_SIZE(is) (sizeof(void *) != 8 || sizeof(struct htw__lock) != 4 || (is))

#endif /* HTW_SRC_BASE_LOCK_H */

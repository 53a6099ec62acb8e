/* SPDX-License-Identifier: MIT */
/*
 * lock.h - a spin lock for critical sections of a few dozen steps.
 *
 * Locking is one exchange and unlocking a plain store: half the cost of a mutex while no other
 * thread wants the lock. The holder may lose its CPU, so a waiter soon yields its own, and then
 * sleeps in growing steps. Unlocking wakes no thread, so there is no list of waiting threads.
 */
#ifndef HTW_SRC_BASE_LOCK_H
#define HTW_SRC_BASE_LOCK_H

#include "annotate.h"
#include "compiler.h"
#include "lock_rank.h"

#include <stdatomic.h>
#include <stdbool.h>

struct htw__lock {
    _Atomic unsigned locked;
    HTW__LOCK_RANK_MEMBER
};

static inline void htw__lock_init(struct htw__lock *lock, enum htw__lock_rank rank) {
    HTW__LOCK_RANK_INIT(lock, rank);
    atomic_init(&lock->locked, 0);
    HTW__ANNOTATE_ATOMIC(&lock->locked, sizeof(lock->locked));
    HTW__ANNOTATE_LOCK_CREATED(lock);
}

static inline void htw__lock_fini(struct htw__lock *lock) {
    HTW__ANNOTATE_LOCK_DESTROYED(lock);
    (void)lock;
}

/* The rest of htw__lock_acquire(), for a lock that was not free. */
void htw__lock_wait(struct htw__lock *lock);

static inline void htw__lock_acquire(struct htw__lock *lock) {
    HTW__LOCK_RANK_ACQUIRE(lock);
    if (HTW__UNLIKELY(atomic_exchange_explicit(&lock->locked, 1u, memory_order_acquire) != 0))
        htw__lock_wait(lock);
    HTW__ANNOTATE_LOCK_ACQUIRED(lock);
}

static inline void htw__lock_release(struct htw__lock *lock) {
    HTW__LOCK_RANK_RELEASE(lock);
    HTW__ANNOTATE_LOCK_RELEASED(lock);
    atomic_store_explicit(&lock->locked, 0u, memory_order_release);
}

#endif /* HTW_SRC_BASE_LOCK_H */

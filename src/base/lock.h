/* SPDX-License-Identifier: MIT */
/*
 * lock.h - a spin lock for critical sections of a few dozen steps.
 *
 * Taken by one exchange and given back by a plain store, it costs half of what a mutex does
 * where nobody else wants it, which is the rule. Because the holder may lose its processor, who
 * waits soon yields its own, and then sleeps in growing steps: nobody has to wake it, so that the
 * holder need not know of it.
 */
#ifndef HTW_SRC_BASE_LOCK_H
#define HTW_SRC_BASE_LOCK_H

#include "annotate.h"
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

/* Waits until the lock is free, and takes it. */
void htw__lock_wait(struct htw__lock *lock);

static inline void htw__lock_acquire(struct htw__lock *lock) {
    HTW__LOCK_RANK_ACQUIRE(lock);
    if (__builtin_expect(atomic_exchange_explicit(&lock->locked, 1u, memory_order_acquire) != 0,
                         false))
        htw__lock_wait(lock);
    HTW__ANNOTATE_LOCK_ACQUIRED(lock);
}

static inline void htw__lock_release(struct htw__lock *lock) {
    HTW__LOCK_RANK_RELEASE(lock);
    HTW__ANNOTATE_LOCK_RELEASED(lock);
    atomic_store_explicit(&lock->locked, 0u, memory_order_release);
}

#endif /* HTW_SRC_BASE_LOCK_H */

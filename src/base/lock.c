/* SPDX-License-Identifier: MIT */
/* lock.c - what a thread does that finds a lock taken: it spins, then yields, then sleeps. */
#include "lock.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

/* How often a waiter looks, some 10 us in all, before it yields; how often it yields before
   it sleeps (a holder of lower priority on the same processor runs only then); and for how long. */
#define SPINS 200u
#define YIELDS 8u
#define SLEEP_MIN_NS 20000L
#define SLEEP_MAX_NS 1000000L

static void pause_processor(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static bool try_take(struct htw__lock *lock) {
    return atomic_load_explicit(&lock->locked, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(&lock->locked, 1u, memory_order_acquire) == 0;
}

static bool spin(struct htw__lock *lock) {
    for (unsigned i = 0; i < SPINS; i++) {
        if (try_take(lock))
            return true;
        pause_processor();
    }
    return false;
}

/* The waiter may hold other locks: if it is cancelled, then not here. */
static void sleep_uncancelled(const struct timespec *duration) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    nanosleep(duration, NULL);
    pthread_setcancelstate(before, NULL);
}

void htw__lock_wait(struct htw__lock *lock) {
    struct timespec nap = { 0, SLEEP_MIN_NS };
    for (unsigned round = 0; !spin(lock); round++) {
        if (round < YIELDS) {
            sched_yield();
            continue;
        }
        sleep_uncancelled(&nap);
        if (nap.tv_nsec < SLEEP_MAX_NS)
            nap.tv_nsec *= 2;
    }
}

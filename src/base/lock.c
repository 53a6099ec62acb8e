/* SPDX-License-Identifier: MIT */
/* lock.c - waits for a spin lock: spins, then yields, then sleeps. */
#include "lock.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

/* How often a waiter tries before it yields, some 10 us in all; how often it yields before it
   sleeps (a holder of lower priority on the same CPU runs only then); and for how long it sleeps.

   Between two tries it pauses twice as long each time, up to a limit. Each try of one of many waiters takes
   the cache line away from the holder. And a holder that wants the lock again has it again meanwhile, for
   which no line moves: what the lock guards stays in its cache. */
#define SPINS 10u
#define PAUSES_MAX 32u
#define YIELDS 8u
#define SLEEP_MIN_NS 20000L
#define SLEEP_MAX_NS 1000000L

static void pause_cpu(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static bool try_lock(struct htw__lock *lock) {
    return atomic_load_explicit(&lock->locked, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(&lock->locked, 1u, memory_order_acquire) == 0;
}

static bool spin(struct htw__lock *lock) {
    unsigned pauses = 1;
    for (unsigned i = 0; i < SPINS; i++) {
        if (try_lock(lock))
            return true;
        for (unsigned k = 0; k < pauses; k++)
            pause_cpu();
        if (pauses < PAUSES_MAX)
            pauses *= 2;
    }
    return false;
}

/* nanosleep() is a cancellation point, but a waiter may hold other locks. */
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

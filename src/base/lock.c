/* SPDX-License-Identifier: MIT */
/* lock.c - waits for a spin lock: spins, then yields, then sleeps; and checks the order of locks. */
#include "lock.h"

/* How often a waiter tries before it yields, some 10 us in all; how often it yields before it
   sleeps (a holder of lower priority on the same CPU runs only then); and for how long it sleeps.

   Between two tries it pauses twice as long each time, up to a limit. Each try of one of many waiters takes
   the cache line away from the holder. And a holder that wants the lock again has it again meanwhile, for
   which no line moves: what the lock guards stays in its cache. */
#define SPINS 10u
#define PAUSES_MAX 32u
#define YIELDS 8u
#define SLEEP_MIN_NS 20000
#define SLEEP_MAX_NS 1000000

static void pause_cpu(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static bool try_lock(struct htw__lock *lock) {
    /* order: A hint: the exchange that follows decides. */
    return atomic_load_explicit(&lock->locked, memory_order_relaxed) == 0 &&
           /* order: What the last holder wrote must be visible. [relaxed: `close`] */
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

void htw__lock_wait(struct htw__lock *lock) {
    int64_t nap_ns = SLEEP_MIN_NS;
    for (unsigned round = 0; !spin(lock); round++) {
        if (round < YIELDS) {
            htw__system_yield();
            continue;
        }
        htw__system_sleep(nap_ns);
        if (nap_ns < SLEEP_MAX_NS)
            nap_ns *= 2;
    }
}

/* ---- the order of locks */

#if HTW_CHECK_LEVEL >= 1

/* More than a thread can hold at once: one lock of each order. */
#define HELD_MAX 16u

static const struct {
    unsigned order;
    const char *name;
} ranks[] = { { 0, "a lock that was not initialized" },
#define RANK(name, order, text) { order, text },
              HTW__LOCK_RANKS(RANK)
#undef RANK
};

/* The locks that this thread holds, in the order in which it took them. */
static _Thread_local struct {
    struct {
        enum htw__lock_rank rank;
        const void *lock;
    } locks[HELD_MAX];
    unsigned count;
} held __attribute__((tls_model("initial-exec")));

static _Noreturn void fail(const char *deed, enum htw__lock_rank rank, const char *state,
                           const char *other) {
    htw__fatal("lock order: a thread %s %s %s%s", deed, ranks[rank].name, state, other);
}

void htw__lock_rank_pass(enum htw__lock_rank rank) {
    for (unsigned i = 0; i < held.count; i++)
        if (ranks[rank].order <= ranks[held.locks[i].rank].order)
            fail("takes", rank, "while it holds ", ranks[held.locks[i].rank].name);
}

void htw__lock_rank_acquire(enum htw__lock_rank rank, const void *lock) {
    if (rank == HTW__RANK_NONE)
        fail("takes", rank, "", "");
    htw__lock_rank_pass(rank);
    /* Each lock has a greater order than the one before, so there is room. */
    held.locks[held.count].rank = rank;
    held.locks[held.count++].lock = lock;
}

void htw__lock_rank_release(enum htw__lock_rank rank, const void *lock) {
    unsigned i = held.count;
    while (i > 0 && held.locks[i - 1].lock != lock)
        i--;
    if (i == 0)
        fail("releases", rank, "which it does not hold", "");
    for (held.count--; i <= held.count; i++)
        held.locks[i - 1] = held.locks[i];
}

void htw__lock_rank_sleep(enum htw__lock_rank rank, const void *lock) {
    for (unsigned i = 0; i < held.count; i++)
        if (held.locks[i].lock != lock)
            fail("sleeps on", rank, "while it holds ", ranks[held.locks[i].rank].name);
    if (held.count == 0)
        fail("sleeps on", rank, "which it does not hold", "");
}

#endif

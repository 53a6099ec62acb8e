/* SPDX-License-Identifier: MIT */
/* lock_rank.c - checks the order in which each thread takes locks. */
#include "lock_rank.h"

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
    fprintf(stderr, "htw: lock order: a thread %s %s %s%s\n", deed, ranks[rank].name, state, other);
    abort();
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

/* SPDX-License-Identifier: MIT */
/*
 * home.c - the purgatories of request.h: their memory, what holds when all is quiet, and the
 * watchdog.
 */
#include "request.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory: counted, and refused at random where that is wanted */

#define BLOCK UINT64_C(0x424c4f434b48454c)
#define HEADER 64u /* keeps the alignment, which is at most that */

struct header {
    uint64_t magic;
    size_t size, alignment;
};

static void *allocate(void *context, size_t size, size_t alignment) {
    struct stress_purgatory *home = context;
    uint64_t fail_one_in = atomic_load_explicit(&home->fail_one_in, memory_order_relaxed);
    CHECK(size > 0 && alignment > 0 && alignment <= HEADER);
    if (fail_one_in > 0 && random_one_in(stress_own_random(), fail_one_in))
        return NULL;
    void *start;
    CHECK_EQUAL(posix_memalign(&start, HEADER, HEADER + size), 0);
    *(struct header *)start = (struct header) { BLOCK, size, alignment };
    memset((char *)start + HEADER, 0xa5, size);
    atomic_fetch_add_explicit(&home->blocks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&home->bytes, size, memory_order_relaxed);
    return (char *)start + HEADER;
}

static void give_back(void *context, void *memory, size_t size, size_t alignment) {
    struct stress_purgatory *home = context;
    struct header *header = (struct header *)((char *)memory - HEADER);
    CHECK(header->magic == BLOCK);
    CHECK_EQUAL(header->size, size);
    CHECK_EQUAL(header->alignment, alignment);
    header->magic = 0;
    memset(memory, 0x5a, size);
    free(header);
    atomic_fetch_sub_explicit(&home->blocks, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&home->bytes, size, memory_order_relaxed);
}

/* ---- purgatories */

struct htw_purgatory_stats stress_purgatory_stats(struct stress_purgatory *home) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    CHECK_EQUAL(htw_purgatory_get_stats(home->purgatory, &stats), 0);
    return stats;
}

void stress_purgatory_open(struct stress_purgatory *home, struct htw_scheduler *scheduler,
                           const struct stress_hooks *hooks, uint32_t shards) {
    memset(home, 0, sizeof(*home));
    home->scheduler = scheduler;
    home->hooks = *hooks;
    home->allocator = (struct htw_allocator) { allocate, give_back, home };
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    stress_purgatory_options(home, &options);
    options.shards = shards;
    options.allocator = &home->allocator;
    CHECK_EQUAL(htw_purgatory_create(&home->purgatory, scheduler, &options), 0);
    home->memory_bytes = stress_purgatory_stats(home).memory_bytes;
}

void stress_purgatory_fail(struct stress_purgatory *home, uint64_t one_in) {
    if (one_in > 0)
        atomic_store(&home->may_fail, true);
    atomic_store(&home->fail_one_in, one_in);
}

void stress_scheduler_quiet(struct stress_purgatory *home) {
    int64_t limit_ns = stress_now_ns() + STRESS_LIMIT_NS;
    for (;;) {
        struct htw_scheduler_stats stats = stress_stats(home->scheduler);
        struct htw_purgatory_stats own = stress_purgatory_stats(home);
        if (stats.pending == own.alarms && stats.running == 0 && own.delayed == 0)
            return;
        if (stress_now_ns() > limit_ns)
            stress_fail(__FILE__, __LINE__,
                        "the scheduler has %" PRIu64 " pending, %" PRIu64 " running", stats.pending,
                        stats.running);
        stress_sleep_ns(50 * HTW_MICROSECOND);
    }
}

/* The counters agree with each other and with what was seen. No other thread is in a call. */
static struct htw_purgatory_stats check_stats(struct stress_purgatory *home) {
    struct htw_purgatory_stats stats = stress_purgatory_stats(home);
    CHECK_EQUAL(stats.submitted, home->submitted);
    CHECK_EQUAL(stats.completed, home->ended[HTW_REASON_COMPLETED]);
    CHECK_EQUAL(stats.expired, home->ended[HTW_REASON_EXPIRED]);
    CHECK_EQUAL(stats.cancelled, home->ended[HTW_REASON_CANCELLED]);
    CHECK_EQUAL(stats.closed, home->ended[HTW_REASON_CLOSED]);
    uint64_t measured = 0;
    for (unsigned i = 0; i < HTW_PURGATORY_WAIT_BUCKETS; i++)
        measured += stats.waits[i];
    CHECK(measured <= stats.submitted);
    CHECK_EQUAL(stats.submitted,
                stats.completed + stats.expired + stats.cancelled + stats.closed + stats.pending);
    CHECK_EQUAL(stats.watched, htw_purgatory_watched(home->purgatory));
    CHECK_EQUAL(stats.delayed, htw_purgatory_delayed(home->purgatory));
    return stats;
}

bool stress_all_released(struct stress_purgatory *home) {
    return atomic_load_explicit(&home->released, memory_order_acquire) == home->submitted;
}

static void check_nothing_left(struct stress_purgatory *home) {
    struct htw_purgatory_stats stats = check_stats(home);
    CHECK(stress_all_released(home));
    CHECK_EQUAL(stats.pending, 0);
    CHECK_EQUAL(stats.watched, 0);
    CHECK_EQUAL(stats.delayed, 0);
    CHECK_EQUAL(stats.keys, 0);
}

void stress_purgatory_quiet(struct stress_purgatory *home) {
    stress_await(&home->released, atomic_load(&home->submitted));
    stress_scheduler_quiet(home);
    check_nothing_left(home);
    CHECK_EQUAL(stress_purgatory_stats(home).memory_bytes, home->memory_bytes);
}

void stress_purgatory_end(struct stress_purgatory *home) {
    atomic_store_explicit(&home->closing, true, memory_order_relaxed);
    CHECK_EQUAL(htw_purgatory_destroy(home->purgatory), 0);
    home->purgatory = NULL;
    uint64_t ended = 0;
    for (unsigned i = 0; i < 4; i++)
        ended += home->ended[i];
    CHECK_EQUAL(home->submitted, ended);
    CHECK_EQUAL(home->submitted, home->released);
    CHECK(home->ended[HTW_REASON_CANCELLED] <= home->promised);
    CHECK_EQUAL(home->blocks, 0);
    CHECK_EQUAL(home->bytes, 0);
}

void stress_totals_add(struct stress_totals *totals, const struct stress_purgatory *home) {
    totals->rounds++;
    totals->submitted += home->submitted;
    totals->refused += home->refused;
    for (unsigned i = 0; i < 4; i++)
        totals->ended[i] += home->ended[i];
}

void stress_totals_print(const struct stress_totals *totals) {
    printf("  %" PRIu64 " rounds, submitted %" PRIu64 ", refused %" PRIu64 ", completed %" PRIu64
           ", expired %" PRIu64 ", cancelled %" PRIu64 ", closed %" PRIu64 "\n",
           totals->rounds, totals->submitted, totals->refused, totals->ended[0], totals->ended[1],
           totals->ended[2], totals->ended[3]);
}

/* ---- the watchdog */

static struct {
    pthread_t thread;
    struct stress_purgatory *home;
    _Atomic uint64_t steps;
    _Atomic bool over;
} watchdog;

static void print_state(const struct stress_purgatory *home) {
    fprintf(stderr, "submitted %" PRIu64 ", released %" PRIu64 ", refused %" PRIu64 "\n",
            home->submitted, home->released, home->refused);
    for (unsigned i = 0; i < 4; i++)
        fprintf(stderr, "ended for reason %u: %" PRIu64 "\n", i, home->ended[i]);
    if (home->purgatory != NULL) /* last: it might hang, too */
        htw_purgatory_prometheus(home->purgatory, stderr);
}

static void *watch(void *arg) {
    (void)arg;
    uint64_t steps = 0;
    int64_t limit_ns = stress_now_ns() + STRESS_LIMIT_NS;
    while (!atomic_load(&watchdog.over)) {
        uint64_t now = atomic_load(&watchdog.steps);
        if (now != steps)
            limit_ns = stress_now_ns() + STRESS_LIMIT_NS;
        steps = now;
        if (stress_now_ns() > limit_ns) {
            print_state(watchdog.home);
            stress_fail(__FILE__, __LINE__, "nothing goes on after %" PRIu64 " steps", steps);
        }
        stress_sleep_ns(10 * HTW_MILLISECOND);
    }
    return NULL;
}

void stress_watchdog_begin(struct stress_purgatory *home) {
    watchdog.home = home;
    atomic_store(&watchdog.over, false);
    CHECK_EQUAL(pthread_create(&watchdog.thread, NULL, watch, NULL), 0);
}

void stress_progress(void) {
    atomic_fetch_add_explicit(&watchdog.steps, 1, memory_order_relaxed);
}

void stress_watchdog_end(void) {
    atomic_store(&watchdog.over, true);
    pthread_join(watchdog.thread, NULL);
}

/* SPDX-License-Identifier: MIT */
/* stress.c - threads, waiting, arguments and schedulers of the stress tests. */
#include "stress.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t program_seed;
static int64_t part_ns;
static _Atomic int64_t part_end_ns;

_Atomic uint64_t stress_items_created, stress_items_released, stress_items_visited;

void stress_fail(const char *file, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%d: failed (seed %" PRIu64 "): ", file, line, program_seed);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

void stress_check_equal(const char *file, int line, const char *what, int64_t a, int64_t b) {
    if (a != b)
        stress_fail(file, line, "%s, but %" PRId64 " and %" PRId64, what, a, b);
}

/* ---- life of a program */

int64_t stress_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * HTW_SECOND + now.tv_nsec;
}

void stress_sleep_ns(int64_t ns) {
    struct timespec time = { (time_t)(ns / HTW_SECOND), (long)(ns % HTW_SECOND) };
    nanosleep(&time, NULL);
}

void stress_begin(int argc, char **argv, unsigned parts) {
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 2;
    program_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)stress_now_ns();
    part_ns = (int64_t)(seconds * (double)HTW_SECOND / parts);
    printf("seed %" PRIu64 "\n", program_seed);
}

void stress_part(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
    fflush(stdout); /* nothing is printed twice if a part forks */
    stress_items_reset();
    atomic_store(&part_end_ns, stress_now_ns() + part_ns);
}

bool stress_goes_on(void) {
    return stress_now_ns() < atomic_load_explicit(&part_end_ns, memory_order_relaxed);
}

struct random_source stress_random(uint64_t number) {
    struct random_source source = { program_seed ^ number * UINT64_C(0xd1342543de82ef95) };
    return (struct random_source) { random_next(&source) };
}

/* ---- threads */

struct start {
    struct stress_thread thread;
    void (*main)(struct stress_thread *thread);
};

static void *run(void *arg) {
    struct start *start = arg;
    start->main(&start->thread);
    return NULL;
}

void stress_run(unsigned count, void (*main)(struct stress_thread *thread), void *context) {
    pthread_t threads[STRESS_THREADS_MAX];
    struct start starts[STRESS_THREADS_MAX];
    CHECK(count <= STRESS_THREADS_MAX);
    for (unsigned i = 0; i < count; i++) {
        starts[i] = (struct start) { { i, stress_random(i + 1), context }, main };
        CHECK_EQUAL(pthread_create(&threads[i], NULL, run, &starts[i]), 0);
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* ---- waiting */

void stress_await(const _Atomic uint64_t *counter, uint64_t value) {
    int64_t limit_ns = stress_now_ns() + STRESS_LIMIT_NS;
    while (atomic_load(counter) < value) {
        if (stress_now_ns() > limit_ns)
            stress_fail(__FILE__, __LINE__, "waited for %" PRIu64 ", but it stays at %" PRIu64,
                        value, atomic_load(counter));
        stress_sleep_ns(50 * HTW_MICROSECOND);
    }
}

/* ---- arguments */

#define LIVE UINT64_C(0x4c49564547554152)
#define DEAD UINT64_C(0xdeaddeaddeaddead)

/* How many released items are kept, so that a second release is noticed without a sanitizer. */
#define KEPT 8192u

struct stress_item {
    _Atomic uint64_t state;
    uint64_t tag;
};

static struct stress_item *_Atomic kept[KEPT];
static _Atomic uint64_t kept_count;

struct stress_item *stress_item_create(uint64_t tag) {
    struct stress_item *item = malloc(sizeof(*item));
    CHECK(item != NULL);
    atomic_init(&item->state, LIVE);
    item->tag = tag;
    atomic_fetch_add_explicit(&stress_items_created, 1, memory_order_relaxed);
    return item;
}

uint64_t stress_item_tag(const struct stress_item *item) {
    /* Relaxed, so as not to order anything that the library has to order. */
    CHECK(atomic_load_explicit(&item->state, memory_order_relaxed) == LIVE);
    return item->tag;
}

void stress_item_release(struct stress_item *item) {
    CHECK(atomic_exchange_explicit(&item->state, DEAD, memory_order_relaxed) == LIVE);
    item->tag = DEAD;
    uint64_t place = atomic_fetch_add_explicit(&kept_count, 1, memory_order_relaxed) % KEPT;
    free(atomic_exchange_explicit(&kept[place], item, memory_order_acq_rel));
    atomic_fetch_add_explicit(&stress_items_released, 1, memory_order_relaxed);
}

void stress_item_hook(void *arg) {
    stress_item_release(arg);
}

void stress_item_visit(void *context, const struct htw_unexpired *unexpired) {
    (void)context;
    CHECK(unexpired->callback != NULL && unexpired->handle != 0);
    atomic_fetch_add_explicit(&stress_items_visited, 1, memory_order_relaxed);
    if (!(stress_item_tag(unexpired->arg) & STRESS_HOOKED))
        stress_item_release(unexpired->arg);
}

void stress_items_reset(void) {
    atomic_store(&stress_items_created, 0);
    atomic_store(&stress_items_released, 0);
    atomic_store(&stress_items_visited, 0);
}

/* ---- schedulers */

struct htw_scheduler *stress_create(const struct htw_scheduler_options *options) {
    struct htw_scheduler *scheduler;
    CHECK_EQUAL(htw_scheduler_create(&scheduler, options), 0);
    return scheduler;
}

enum htw_clock stress_some_clock(struct random_source *random) {
    static const enum htw_clock clocks[] = { HTW_CLOCK_DEFAULT, HTW_CLOCK_DEFAULT,
                                             HTW_CLOCK_MONOTONIC, HTW_CLOCK_REALTIME,
#ifndef HTW_PORTABLE
                                             HTW_CLOCK_BOOTTIME
#endif
    };
    return clocks[random_below(random, sizeof(clocks) / sizeof(clocks[0]))];
}

void stress_check_firing(const struct htw_expiration *expiration) {
    CHECK(expiration->late_ns >= 0);
    /* A wall clock may have been set. */
    CHECK(expiration->clock == HTW_CLOCK_REALTIME ||
          expiration->deadline_ns <=
              htw_scheduler_now_by(expiration->scheduler, expiration->clock));
    CHECK(expiration->handle != 0);
}

struct htw_scheduler_stats stress_stats(struct htw_scheduler *scheduler) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    CHECK_EQUAL(htw_scheduler_get_stats(scheduler, &stats), 0);
    return stats;
}

struct htw_scheduler_stats stress_check_stats(struct htw_scheduler *scheduler) {
    struct htw_scheduler_stats stats = stress_stats(scheduler);
    CHECK_EQUAL(stats.scheduled, stats.fired + stats.cancelled + stats.handed_back + stats.pending);
    CHECK_EQUAL(stats.pending, htw_pending(scheduler));
    CHECK_EQUAL(stats.lateness.count, stats.runs);
    return stats;
}

uint64_t stress_await_idle(struct htw_scheduler *scheduler) {
    int64_t limit_ns = stress_now_ns() + STRESS_LIMIT_NS;
    uint64_t before, after = stress_stats(scheduler).wakeups;
    do {
        CHECK(stress_now_ns() < limit_ns);
        before = after;
        stress_sleep_ns(5 * HTW_MILLISECOND);
        after = stress_stats(scheduler).wakeups;
    } while (after != before);
    return after;
}

struct htw_scheduler_stats stress_finish(struct htw_scheduler *scheduler) {
    uint64_t visited = atomic_load(&stress_items_visited);
    CHECK_EQUAL(htw_scheduler_stop(scheduler, stress_item_visit, NULL), 0);
    struct htw_scheduler_stats stats = stress_check_stats(scheduler);
    CHECK_EQUAL(stats.pending, 0);
    CHECK_EQUAL(stats.running, 0);
    CHECK_EQUAL(stats.handed_back, atomic_load(&stress_items_visited) - visited);
    CHECK_EQUAL(atomic_load(&stress_items_created), atomic_load(&stress_items_released));
    CHECK_EQUAL(htw_scheduler_destroy(scheduler), 0);
    return stats;
}

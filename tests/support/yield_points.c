/* SPDX-License-Identifier: MIT */
/* yield_points.c - when a thread yields or sleeps, and on which CPU it believes to be. It calls the
   real functions: nothing includes yield_points.h before this file. */
#include "random.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

void htw__yield_point(void);

/* A thread yields once in 64 points on average, and at one in sixteen of these it sleeps instead:
   mostly for less than 64 us; once in 32 times for up to 8 ms, in which others do all they can. */
#define POINTS 128u
#define SLEEP_ONE_IN 16u
#define SLEEP_NS 64000u
#define LONG_ONE_IN 32u
#define LONG_NS 8000000u

/* A thread stays on a CPU for so many calls at most. */
#define STAY 32u
#define CPUS 4u /* HTW__YIELD_CPUS */

static _Thread_local struct {
    struct random_source random;
    unsigned points_left, calls_left;
    int cpu;
} own;

static struct random_source *own_random(void) {
    static _Atomic uint64_t threads;
    if (own.random.state == 0) {
        const char *seed = getenv("HTW_YIELD_SEED");
        uint64_t number = 1 + atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
        own.random.state =
            number * UINT64_C(0xd1342543de82ef95) + (seed == NULL ? 1 : strtoull(seed, NULL, 10));
    }
    return &own.random;
}

static void lose_processor(struct random_source *random) {
    if (!random_one_in(random, SLEEP_ONE_IN)) {
        sched_yield();
        return;
    }
    uint64_t most_ns = random_one_in(random, LONG_ONE_IN) ? LONG_NS : SLEEP_NS;
    nanosleep(&(struct timespec) { 0, (long)random_below(random, most_ns) }, NULL);
}

void htw__yield_point(void) {
    if (own.points_left-- > 0)
        return;
    struct random_source *random = own_random();
    own.points_left = (unsigned)random_below(random, POINTS);
    lose_processor(random);
}

/* Instead of the C library's. Weak, so that a test may say where its threads are. */
__attribute__((weak)) int sched_getcpu(void) {
    if (own.calls_left-- == 0) {
        struct random_source *random = own_random();
        own.calls_left = (unsigned)random_below(random, STAY);
        own.cpu = (int)random_below(random, CPUS);
    }
    return own.cpu;
}

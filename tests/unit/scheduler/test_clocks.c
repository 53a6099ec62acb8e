/* SPDX-License-Identifier: MIT */
/* test_clocks.c - the clocks of the kernel: never early in real threads. The wall clock that is set
   is the test's own (-Wl,--wrap). */
#include "../../../src/base/clock.h"
#include "../../../src/scheduler/steady.h"
#include "../../support/random.h"
#include "../unit.h"

#include <errno.h>
#include <htw/scheduler.h>

#include <sched.h>
#include <stdatomic.h>

int64_t __real_htw__clock_realtime_ns(void);
int64_t __wrap_htw__clock_realtime_ns(void);

/* What the wall clock shows; 0: what it does. Set while no other thread is there. */
static int64_t wall_ns;

int64_t __wrap_htw__clock_realtime_ns(void) {
    return wall_ns != 0 ? wall_ns : __real_htw__clock_realtime_ns();
}

static int64_t clock_ns(enum htw_clock clock) {
#if HAS_BOOTTIME
    if (clock == HTW_CLOCK_BOOTTIME)
        return htw__clock_boottime_ns();
#endif
    return clock == HTW_CLOCK_MONOTONIC ? htw__clock_monotonic_ns()
                                        : __real_htw__clock_realtime_ns();
}

/* ---- in real threads */

enum { TIMERS = 2000 };

struct timed {
    enum htw_clock clock;
    int64_t delay_ns, scheduled_ns; /* by the monotonic clock */
    bool early, told_wrong;
    unsigned runs;
};

static _Atomic int runs;

static void check_time(void *arg, const struct htw_expiration *expiration) {
    struct timed *timed = arg;
    int64_t elapsed_ns = htw__clock_monotonic_ns() - timed->scheduled_ns;
    timed->runs++;
    timed->early |= elapsed_ns < timed->delay_ns && timed->clock != HTW_CLOCK_REALTIME;
    timed->early |= clock_ns(timed->clock) < expiration->deadline_ns;
    timed->told_wrong |= expiration->late_ns < 0;
    atomic_fetch_add(&runs, 1);
}

static void check_clock(enum htw_clock clock, uint32_t workers, int64_t tick_ns) {
    static struct timed timers[TIMERS];
    struct random_source random = { (uint64_t)clock + 10 * workers };
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    options.clock = clock;
    options.workers = workers;
    options.tick_ns = tick_ns;
    options.shards = 3;
    options.expirers = 2;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    atomic_store(&runs, 0);
    for (unsigned i = 0; i < TIMERS; i++) {
        timers[i] = (struct timed) {
            .clock = clock,
            .delay_ns = (int64_t)random_below(&random, 8 * HTW_MILLISECOND),
            .scheduled_ns = htw__clock_monotonic_ns(),
        };
        assert_int_equal(htw_schedule(scheduler, timers[i].delay_ns, check_time, &timers[i], NULL),
                         0);
    }
    while (atomic_load(&runs) < TIMERS)
        sched_yield();
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    for (unsigned i = 0; i < TIMERS; i++) {
        assert_int_equal(timers[i].runs, 1);
        assert_false(timers[i].early);
        assert_false(timers[i].told_wrong);
    }
}

static void check_clock_in_all_ways(enum htw_clock clock) {
    for (uint32_t workers = 0; workers <= 2; workers += 2) {
        check_clock(clock, workers, 0);
        check_clock(clock, workers, 10 * HTW_MICROSECOND);
    }
}

UNIT_TEST(clock_of_the_time_since_boot_is_never_early_or_refused) {
    struct htw_scheduler *scheduler;
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.clock = HTW_CLOCK_BOOTTIME;
    if (HAS_BOOTTIME)
        check_clock_in_all_ways(HTW_CLOCK_BOOTTIME);
    else
        assert_int_equal(htw_scheduler_create(&scheduler, &options), -EINVAL);
}

/* holds: scheduler-1 */
UNIT_TEST(clock_on_the_wall_is_never_early) {
    check_clock_in_all_ways(HTW_CLOCK_REALTIME);
}

/* ---- what the purgatory asks */

#define NOON_NS (INT64_C(1700000000) * HTW_SECOND)

UNIT_TEST(steady_clock_is_told_by_the_clock_of_the_scheduler) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    wall_ns = NOON_NS;
    options.clock = HTW_CLOCK_REALTIME;
    options.embedded = true;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    int64_t later_ns = htw__clock_monotonic_ns() + 3600 * HTW_SECOND;
    assert_in_range(htw__steady_to_clock_ns(scheduler, later_ns), NOON_NS + 1,
                    NOON_NS + 3600 * HTW_SECOND);
    assert_int_equal(htw__steady_to_clock_ns(scheduler, HTW_NEVER_NS), HTW_NEVER_NS);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    wall_ns = 0;
    options.clock = HTW_CLOCK_MANUAL;
    options.embedded = false;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    assert_int_equal(htw__steady_to_clock_ns(scheduler, HTW_SECOND), HTW_SECOND);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

UNIT_TEST(scheduler_has_threads_unless_the_user_lends_them) {
    static const struct {
        enum htw_clock clock;
        bool embedded, has_threads;
    } cases[] = {
        { HTW_CLOCK_MONOTONIC, false, true },
        { HTW_CLOCK_MONOTONIC, true, false },
        { HTW_CLOCK_MANUAL, false, false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
        struct htw_scheduler *scheduler;
        options.clock = cases[i].clock;
        options.embedded = cases[i].embedded;
        assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
        assert_int_equal(htw__scheduler_has_threads(scheduler), cases[i].has_threads);
        assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    }
}

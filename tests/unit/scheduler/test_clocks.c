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

UNIT_TEST(clock_of_each_kind_is_what_now_returns) {
    for (int clock = HTW_CLOCK_MONOTONIC; clock <= HTW_CLOCK_REALTIME; clock++) {
        struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
        struct htw_scheduler *scheduler;
        if (clock == HTW_CLOCK_BOOTTIME && !HAS_BOOTTIME)
            continue;
        options.clock = (unsigned)clock;
        assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
        int64_t before_ns = clock_ns(options.clock), now_ns = htw_scheduler_now(scheduler);
        assert_in_range(now_ns, before_ns, clock_ns(options.clock));
        assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    }
}

/* ---- a wall clock that is set */

#define NOON_NS (INT64_C(1700000000) * HTW_SECOND)
#define SPAN_NS (100 * HTW_SECOND)

enum { DATED = 10000 };

struct dated {
    htw_handle handle;
    int64_t deadline_ns;
    unsigned runs;
    bool early, cancelled;
};

static struct dated dated[DATED];

static void check_date(void *arg, const struct htw_expiration *expiration) {
    struct dated *timer = arg;
    timer->runs++;
    timer->early |= wall_ns < timer->deadline_ns || expiration->deadline_ns != timer->deadline_ns ||
                    expiration->late_ns != wall_ns - timer->deadline_ns;
}

static struct htw_scheduler *create_at(int64_t now_ns) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    wall_ns = now_ns;
    options.clock = HTW_CLOCK_REALTIME;
    options.embedded = true;
    options.workers = 0;
    options.shards = 3;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    return scheduler;
}

static void destroy(struct htw_scheduler *scheduler) {
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    wall_ns = 0;
}

static void process(struct htw_scheduler *scheduler, size_t budget) {
    size_t count;
    int progress;
    do {
        progress = htw_scheduler_process(scheduler, budget, &count);
        assert_true(budget == 0 || count <= budget);
    } while (progress == HTW_MORE);
    assert_int_equal(progress, HTW_DONE);
}

static void schedule_dated(struct htw_scheduler *scheduler, unsigned i, int64_t deadline_ns) {
    dated[i] = (struct dated) { .deadline_ns = deadline_ns };
    assert_int_equal(
        htw_schedule_at(scheduler, deadline_ns, check_date, &dated[i], &dated[i].handle), 0);
}

static void schedule_all(struct htw_scheduler *scheduler, struct random_source *random) {
    for (unsigned i = 0; i < DATED; i++)
        schedule_dated(scheduler, i, NOON_NS + (int64_t)random_below(random, (uint64_t)SPAN_NS));
}

/* After all that is due was run, at whatever time: what is a tick overdue must have run. */
static void check_all(int64_t latest_ns) {
    for (unsigned i = 0; i < DATED; i++) {
        assert_false(dated[i].early);
        assert_true(dated[i].runs <= 1);
        if (dated[i].cancelled)
            assert_int_equal(dated[i].runs, 0);
        else if (dated[i].deadline_ns + HTW_MILLISECOND <= latest_ns)
            assert_int_equal(dated[i].runs, 1);
    }
}

UNIT_TEST(wall_clock_set_back_arms_all_timers_again) {
    struct random_source random = { 5 };
    struct htw_scheduler *scheduler = create_at(NOON_NS);
    schedule_all(scheduler, &random);
    wall_ns = NOON_NS + 30 * HTW_SECOND;
    process(scheduler, 0);
    check_all(wall_ns);
    wall_ns = NOON_NS - 3600 * HTW_SECOND;
    process(scheduler, 0);
    check_all(wall_ns);
    /* One for the time before what the wheels had come to. */
    unsigned early = 0;
    while (dated[early].runs == 0)
        early++;
    schedule_dated(scheduler, early, NOON_NS - 1800 * HTW_SECOND);
    assert_true(htw_scheduler_next(scheduler) <= NOON_NS - 1800 * HTW_SECOND);
    process(scheduler, 0);
    wall_ns = NOON_NS - 1800 * HTW_SECOND - 1;
    process(scheduler, 0);
    assert_int_equal(dated[early].runs, 0);
    wall_ns++;
    process(scheduler, 0);
    assert_int_equal(dated[early].runs, 1);
    uint64_t pending = htw_pending(scheduler);
    assert_true(pending > DATED / 2);
    wall_ns = NOON_NS + 30 * HTW_SECOND;
    process(scheduler, 0);
    assert_true(pending - htw_pending(scheduler) <= 5); /* those within a tick of it */
    wall_ns = NOON_NS + SPAN_NS + HTW_MILLISECOND;
    process(scheduler, 0);
    check_all(wall_ns);
    assert_int_equal(htw_pending(scheduler), 0);
    destroy(scheduler);
}

/* ---- what the purgatory asks */

UNIT_TEST(steady_clock_is_told_by_the_clock_of_the_scheduler) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler = create_at(NOON_NS);
    int64_t later_ns = htw__clock_monotonic_ns() + 3600 * HTW_SECOND;
    assert_in_range(htw__steady_to_clock_ns(scheduler, later_ns), NOON_NS + 1,
                    NOON_NS + 3600 * HTW_SECOND);
    assert_int_equal(htw__steady_to_clock_ns(scheduler, HTW_NEVER_NS), HTW_NEVER_NS);
    destroy(scheduler);
    options.clock = HTW_CLOCK_MANUAL;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    assert_int_equal(htw__steady_to_clock_ns(scheduler, HTW_SECOND), HTW_SECOND);
    destroy(scheduler);
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
        destroy(scheduler);
    }
}

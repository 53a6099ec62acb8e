/* SPDX-License-Identifier: MIT */
/*
 * test_cleanup.c - after a burst of timers their memory is given back in steps, and a timer that falls due
 * meanwhile does not wait for the last of them.
 *
 * The monotonic clock and the release of pages are the test's own (-Wl,--wrap): the clock may go on at
 * each reading, and a timer may be armed while a page is released.
 */
/* holds: scheduler-17 */
#include "../unit.h"

#include "../../../src/scheduler/shard.h"
#include "../../../src/scheduler/state.h"

#include <htw/loop.h>
#include <htw/observe.h>
#include <htw/scheduler.h>

#include <sched.h>
#include <stdatomic.h>

enum { BURST = 100000, PAGES = BURST / (int)HTW__SLAB_PAGE_CELLS };

#define PAGE_BYTES (HTW__SLAB_PAGE_CELLS * sizeof(struct htw__cell))
#define START_NS (1000 * HTW_SECOND)

static struct htw_scheduler *scheduler;
static _Atomic uint64_t fired;

/* ---- the clock */

static bool is_injected;
static int64_t clock_ns;
static int64_t step_ns; /* for which it goes on at each reading */

int64_t __real_htw__clock_monotonic_ns(void);
int64_t __wrap_htw__clock_monotonic_ns(void);

int64_t __wrap_htw__clock_monotonic_ns(void) {
    if (!is_injected)
        return __real_htw__clock_monotonic_ns();
    clock_ns += step_ns;
    return clock_ns;
}

/* ---- pages */

static _Atomic unsigned released, released_before; /* pages in all; before the late timer ran */
static _Atomic bool is_late_armed, has_late_run;
static _Atomic int late_result;

/* The late timer, and after it one a millisecond: a shard without stale records does not wait with its
   pages until no timer is armed. */
static void run_late(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    if (!atomic_exchange(&has_late_run, true))
        atomic_store(&released_before, atomic_load(&released));
    atomic_store(&late_result, htw_schedule(scheduler, HTW_MILLISECOND, run_late, NULL, NULL));
}

void __real_htw__slab_release_page(const struct htw__slab *slab, struct htw__cell *cells);
void __wrap_htw__slab_release_page(const struct htw__slab *slab, struct htw__cell *cells);

/* Called by the cleanup with no lock held. */
void __wrap_htw__slab_release_page(const struct htw__slab *slab, struct htw__cell *cells) {
    __real_htw__slab_release_page(slab, cells);
    atomic_fetch_add(&released, 1);
    if (!is_injected && !atomic_exchange(&is_late_armed, true))
        atomic_store(&late_result, htw_schedule(scheduler, 0, run_late, NULL, NULL));
}

/* ---- the burst */

static uint32_t stale_max; /* records that waited for a cleanup */

static uint64_t memory(void) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    htw_scheduler_get_stats(scheduler, &stats);
    return stats.memory_bytes;
}

static void count(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    uint32_t stale = htw__shard_stale_count(&scheduler->shards[0]);
    if (stale > stale_max)
        stale_max = stale;
    if (atomic_fetch_add(&fired, 1) + 1 == BURST && is_injected)
        step_ns = 20 * HTW_MICROSECOND;
}

static void arm_burst(int64_t delay_ns) {
    for (unsigned i = 0; i < BURST; i++)
        assert_int_equal(htw_schedule(scheduler, delay_ns, count, NULL, NULL), 0);
    assert_true(memory() > PAGES * PAGE_BYTES);
}

/* Keeps the expirer busy until the burst is armed: otherwise records would be used twice. */
enum gate { CLOSED, BLOCKED, OPEN };
static _Atomic enum gate gate;

static void block(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    atomic_store(&gate, BLOCKED);
    while (atomic_load(&gate) != OPEN)
        sched_yield();
}

static void open_scheduler(bool embedded) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = HTW_NO_WORKERS;
    options.shards = 1;
    options.embedded = embedded;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
}

static void setup(void) {
    is_injected = false;
    step_ns = 0;
    stale_max = 0;
    atomic_store(&fired, 0);
    atomic_store(&released, 0);
    atomic_store(&is_late_armed, false);
    atomic_store(&has_late_run, false);
    atomic_store(&late_result, 0);
    atomic_store(&gate, CLOSED);
}

static void teardown(void) {
    htw_scheduler_destroy(scheduler);
}

/* ---- embedded: the records */

static uint64_t memory_before; /* when the late timer ran */

static void read_memory(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    memory_before = memory();
}

/* From the last callback of the burst on each reading of the clock takes 20 us. So the other timer, 2 ms
   later, is due when some hundred steps have been made, of a thousand. */
UNIT_TEST_BETWEEN(setup, teardown, cleanup_leaves_the_rest_when_a_timer_is_due) {
    is_injected = true;
    clock_ns = START_NS;
    open_scheduler(true);
    assert_int_equal(htw_schedule(scheduler, 4 * HTW_MILLISECOND, read_memory, NULL, NULL), 0);
    arm_burst(HTW_MILLISECOND);
    clock_ns = START_NS + 2 * HTW_MILLISECOND;
    assert_int_equal(htw_scheduler_process(scheduler, 0, NULL), HTW_DONE);
    assert_int_equal(atomic_load(&fired), BURST);
    assert_true(clock_ns >= START_NS + 4 * HTW_MILLISECOND);
    assert_true(clock_ns < START_NS + 6 * HTW_MILLISECOND);
    assert_true(htw_scheduler_next(scheduler) <= clock_ns);
    step_ns = 0;
    memory_before = 0;
    size_t ran;
    assert_int_equal(htw_scheduler_process(scheduler, 0, &ran), HTW_DONE);
    assert_int_equal(ran, 1);
    assert_true(memory_before > PAGES * PAGE_BYTES);
    assert_true(memory() < 4 * PAGE_BYTES);
    assert_true(atomic_load(&released) >= PAGES - 1);
}

/* However large the burst, the cleanup after it is short. */
/* holds: scheduler-17 */
UNIT_TEST_BETWEEN(setup, teardown, burst_leaves_few_records_to_the_cleanup) {
    is_injected = true;
    clock_ns = START_NS;
    open_scheduler(true);
    arm_burst(HTW_MILLISECOND);
    clock_ns = START_NS + 2 * HTW_MILLISECOND;
    assert_int_equal(htw_scheduler_process(scheduler, 0, NULL), HTW_DONE);
    assert_int_equal(atomic_load(&fired), BURST);
    assert_int_equal(stale_max, HTW__STALE_MAX);
    assert_true(memory() < 4 * PAGE_BYTES);
}

/* ---- with a thread: the pages */

UNIT_TEST_BETWEEN(setup, teardown, cleanup_of_pages_lets_a_timer_run_that_is_due) {
    open_scheduler(false);
    assert_int_equal(htw_schedule(scheduler, 0, block, NULL, NULL), 0);
    while (atomic_load(&gate) != BLOCKED)
        sched_yield();
    arm_burst(0);
    atomic_store(&gate, OPEN);
    while (!atomic_load(&has_late_run) && atomic_load(&late_result) == 0)
        sched_yield();
    assert_int_equal(atomic_load(&late_result), 0);
    assert_true(atomic_load(&released_before) < PAGES / 2);
    /* The cleanup goes on by itself. */
    while (atomic_load(&released) < PAGES - 1)
        sched_yield();
    assert_int_equal(atomic_load(&fired), BURST);
}

/* SPDX-License-Identifier: MIT */
/*
 * test_clocks.c - timeouts when the clock is set, or a thread stops, while an alarm is being set. The kernel's
 * clocks are replaced (-Wl,--wrap), and the scheduler is embedded, so that nothing takes real
 * time.
 */
/* holds: purgatory-9a */
#include "../../../src/base/clock.h"
#include "../../support/failing_allocator.h"
#include "../unit.h"

#include <htw/purgatory.h>

#include <pthread.h>
#include <string.h>

#define MS HTW_MILLISECOND
#define NOON_NS (INT64_C(1700000000) * HTW_SECOND)
#define UPTIME_NS (5000 * HTW_SECOND)

int64_t __wrap_htw__clock_monotonic_ns(void);
int64_t __wrap_htw__clock_realtime_ns(void);

static struct {
    int64_t monotonic_ns, realtime_ns;
    /* Called once, between a reading of the wall clock and the next of the monotonic one. */
    void (*between)(void);
    bool wall_was_read;
} kernel;

int64_t __wrap_htw__clock_monotonic_ns(void) {
    if (kernel.between != NULL && kernel.wall_was_read) {
        void (*between)(void) = kernel.between;
        kernel.between = NULL;
        between();
    }
    kernel.wall_was_read = false;
    return kernel.monotonic_ns;
}

int64_t __wrap_htw__clock_realtime_ns(void) {
    kernel.wall_was_read = true;
    return kernel.realtime_ns;
}

/* ---- what the tests begin with */

enum { WAITERS = 8 };

struct waiter {
    struct htw_request request;
    bool has_ended;
    enum htw_reason reason;
    void (*on_ended)(void);
};

static struct {
    struct failing_allocator memory; /* the scheduler's */
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    struct waiter waiters[WAITERS];
} scene;

static void on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    struct waiter *waiter = HTW_CONTAINER_OF(request, struct waiter, request);
    (void)context;
    waiter->has_ended = true;
    waiter->reason = reason;
    if (waiter->on_ended != NULL)
        waiter->on_ended();
}

static void begin(enum htw_clock clock, const struct htw_executor *executor) {
    struct htw_scheduler_options scheduler_options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    memset(&kernel, 0, sizeof(kernel));
    memset(&scene, 0, sizeof(scene));
    kernel.monotonic_ns = UPTIME_NS;
    kernel.realtime_ns = NOON_NS;
    failing_allocator_init(&scene.memory);
    scheduler_options.clock = clock;
    scheduler_options.embedded = true;
    scheduler_options.executor = executor;
    scheduler_options.allocator = &scene.memory.allocator;
    options.on_complete = on_complete;
    options.shards = 1;
    assert_int_equal(htw_scheduler_create(&scene.scheduler, &scheduler_options), 0);
    assert_int_equal(htw_purgatory_create(&scene.purgatory, scene.scheduler, &options), 0);
}

static void end(void) {
    assert_int_equal(htw_purgatory_destroy(scene.purgatory), 0);
    assert_int_equal(htw_scheduler_destroy(scene.scheduler), 0);
    assert_null(scene.memory.error);
    assert_int_equal(scene.memory.live_blocks, 0);
    failing_allocator_fini(&scene.memory);
}

static int submit(unsigned which, int64_t timeout_ns) {
    struct htw_key key = { "k", 1 };
    return htw_purgatory_try_complete_else_watch(scene.purgatory, &scene.waiters[which].request,
                                                 &key, 1, timeout_ns);
}

/* Runs what is due, and what that makes due. */
static void process(void) {
    do
        (void)htw_scheduler_process(scene.scheduler, 0, NULL);
    while (htw_scheduler_next(scene.scheduler) <= htw_scheduler_now(scene.scheduler));
}

/* Time goes on by all clocks: in one step, as for a thread that sleeps until it is woken up. */
static void pass(int64_t delta_ns) {
    kernel.monotonic_ns += delta_ns;
    kernel.realtime_ns += delta_ns;
    process();
}

static bool has_expired(unsigned which) {
    return scene.waiters[which].has_ended && scene.waiters[which].reason == HTW_REASON_EXPIRED;
}

#define assert_expires_after(which, delta_ns) \
    do {                                      \
        pass((delta_ns)-MS);                  \
        assert_false(has_expired(which));     \
        pass(2 * MS);                         \
        assert_true(has_expired(which));      \
    } while (0)

/* ---- the wall clock */

static void fall_asleep_for_a_second(void) {
    kernel.monotonic_ns += HTW_SECOND;
    kernel.realtime_ns += HTW_SECOND;
}

UNIT_TEST(purgatory_alarm_is_not_late_when_the_thread_that_sets_it_is_stopped) {
    begin(HTW_CLOCK_REALTIME, NULL);
    kernel.between = fall_asleep_for_a_second;
    assert_int_equal(submit(0, 10 * HTW_SECOND), HTW_WATCHED);
    assert_null(kernel.between);
    assert_expires_after(0, 9 * HTW_SECOND);
    end();
}

/* ---- the clocks that are never set */

/* ---- hooks that take long, while the scheduler has no memory */

static struct {
    struct htw_task *tasks[WAITERS];
    size_t count;
} held;

static void hold(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    for (size_t i = 0; i < count; i++)
        held.tasks[held.count++] = tasks[i];
}

static void run_held(void) {
    process();
    while (held.count > 0)
        htw_task_run(held.tasks[--held.count]);
}

static void *run_in_thread(void *arg) {
    (void)arg;
    run_held();
    return NULL;
}

/* Another worker does what is to be done while this one is in a hook. */
static void let_another_run(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_in_thread, NULL) == 0)
        pthread_join(thread, NULL);
}

static void let_another_run_without_memory(void) {
    failing_allocator_fail(&scene.memory, 1, true);
    let_another_run();
    failing_allocator_relent(&scene.memory);
}

static void pass_and_let_another_run(void) {
    kernel.monotonic_ns += MS;
    let_another_run();
}

/* Two hooks run, and neither of the alarms can ring: for the third request the hook of the first
   waits. Where the scheduler has no memory for another alarm, its time is up when both are over. */
static void check_third(void (*first)(void), bool is_refused) {
    struct htw_executor executor = { hold, NULL };
    begin(HTW_CLOCK_MONOTONIC, &executor);
    scene.waiters[0].on_ended = first;
    scene.waiters[1].on_ended = pass_and_let_another_run;
    scene.waiters[2].on_ended = NULL;
    assert_int_equal(submit(0, MS), HTW_WATCHED);
    assert_int_equal(submit(1, MS), HTW_WATCHED);
    assert_int_equal(submit(2, 2 * MS), HTW_WATCHED);
    kernel.monotonic_ns += MS;
    run_held();
    assert_true(has_expired(0));
    assert_true(has_expired(1));
    if (is_refused)
        run_held();
    assert_true(has_expired(2));
    assert_int_equal(held.count, 0);
    end();
}

/* holds: purgatory-9 */
UNIT_TEST(purgatory_alarm_expires_while_two_hooks_run) {
    check_third(let_another_run, false);
}

/* holds: purgatory-9b */
UNIT_TEST(purgatory_alarm_that_is_refused_while_two_hooks_run_expires_after_them) {
    check_third(let_another_run_without_memory, true);
}

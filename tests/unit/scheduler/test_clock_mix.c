/* SPDX-License-Identifier: MIT */
/* test_clock_mix.c - the clocks of the kernel, and timers of several of them in one scheduler. The wall clock that is
   set is the test's own (-Wl,--wrap). */
/* holds: scheduler-25 */
#include "../unit.h"

#include <htw/loop.h>
#include <htw/scheduler.h>

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int64_t __real_htw__clock_realtime_ns(void);
int64_t __wrap_htw__clock_realtime_ns(void);

/* How far the wall clock is ahead of the real one, and how far it goes on at each reading. */
static _Atomic int64_t wall_ahead_ns, wall_step_ns;

int64_t __wrap_htw__clock_realtime_ns(void) {
    int64_t ahead_ns = atomic_fetch_add(&wall_ahead_ns, atomic_load(&wall_step_ns));
    return __real_htw__clock_realtime_ns() + ahead_ns;
}

static const enum htw_clock clocks[] = { HTW_CLOCK_MONOTONIC, HTW_CLOCK_REALTIME,
#if HAS_BOOTTIME
                                         HTW_CLOCK_BOOTTIME
#endif
};

struct timed {
    enum htw_clock clock;
    _Atomic unsigned runs;
    bool early, told_wrong;
};

static void run(void *arg, const struct htw_expiration *expiration) {
    struct timed *timed = arg;
    int64_t now_ns = htw_scheduler_now_by(expiration->scheduler, expiration->clock);
    bool is_own = timed->clock == HTW_CLOCK_DEFAULT || timed->clock == expiration->clock;
    timed->early |= now_ns < expiration->deadline_ns;
    timed->told_wrong |= !is_own || expiration->late_ns < 0 ||
                         expiration->late_ns > now_ns - expiration->deadline_ns;
    atomic_fetch_add(&timed->runs, 1);
}

static struct htw_spec spec_of(struct timed *timed, enum htw_clock clock, int64_t delay_ns) {
    struct htw_spec spec = HTW_SPEC_INIT;
    timed->clock = clock;
    spec.callback = run;
    spec.arg = timed;
    spec.when_ns = delay_ns;
    spec.clock = clock;
    return spec;
}

static htw_handle arm(struct htw_scheduler *scheduler, struct timed *timed, enum htw_clock clock,
                      int64_t delay_ns) {
    struct htw_spec spec = spec_of(timed, clock, delay_ns);
    htw_handle handle;
    *timed = (struct timed) { .clock = clock };
    assert_int_equal(htw_schedule_spec(scheduler, &spec, &handle, NULL), 0);
    return handle;
}

static struct htw_scheduler *create(enum htw_clock clock, bool embedded, uint32_t workers) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    atomic_store(&wall_ahead_ns, 0);
    options.clock = clock;
    options.embedded = embedded;
    options.workers = workers > 0 ? workers : HTW_NO_WORKERS;
    options.shards = 3;
    options.expirers = embedded ? 1 : 2;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    return scheduler;
}

static void await(const struct timed *timed, unsigned runs) {
    while (atomic_load(&timed->runs) < runs)
        sched_yield();
}

/* ---- in real threads */

enum { TIMERS = 900 };

/* ---- a thread that is cancelled in the call */

struct user {
    pthread_t thread;
    struct htw_scheduler *scheduler;
    struct timed timed[2];
};

static void *use_clock_and_end(void *arg) {
    struct user *user = arg;
    pthread_cancel(pthread_self());
    arm(user->scheduler, &user->timed[0], HTW_CLOCK_REALTIME, HTW_MILLISECOND);
    pthread_testcancel();
    return arg;
}

/* holds: scheduler-26 */
UNIT_TEST(clock_used_first_by_a_thread_that_is_cancelled_can_be_used) {
    static struct user user;
    void *result;
    user.scheduler = create(HTW_CLOCK_MONOTONIC, false, 0);
    assert_int_equal(pthread_create(&user.thread, NULL, use_clock_and_end, &user), 0);
    pthread_join(user.thread, &result);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    await(&user.timed[0], 1);
    arm(user.scheduler, &user.timed[1], HTW_CLOCK_REALTIME, HTW_MILLISECOND);
    await(&user.timed[1], 1);
    assert_int_equal(htw_scheduler_destroy(user.scheduler), 0);
}

/* ---- embedded */

static bool is_readable(struct htw_scheduler *scheduler, int timeout_ms) {
    struct pollfd poll_fd = { htw_scheduler_fd(scheduler), POLLIN, 0 };
    return poll(&poll_fd, 1, timeout_ms) == 1;
}

static size_t process(struct htw_scheduler *scheduler, size_t budget) {
    size_t count;
    assert_true(htw_scheduler_process(scheduler, budget, &count) >= 0);
    return count;
}

UNIT_TEST(clocks_make_the_same_descriptor_readable) {
    for (unsigned own = 0; own < COUNT_OF(clocks); own++) {
        struct htw_scheduler *scheduler = create(clocks[own], true, 0);
        int fd = htw_scheduler_fd(scheduler);
        struct timed far, near;
        arm(scheduler, &far, HTW_CLOCK_DEFAULT, HTW_HOUR);
        for (unsigned i = 0; i < COUNT_OF(clocks); i++) {
            arm(scheduler, &near, clocks[i], 2 * HTW_MILLISECOND);
            while (atomic_load(&near.runs) == 0) {
                assert_true(is_readable(scheduler, 60000));
                process(scheduler, 0);
            }
            assert_false(near.early || near.told_wrong);
            assert_false(is_readable(scheduler, 0));
        }
        assert_int_equal(htw_scheduler_fd(scheduler), fd);
        assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    }
}

/* On a slow machine time passes from one reading of the clock to the next. What is due then waits for the
   next round, and the wheel is not taken for one whose clock was set back. */
UNIT_TEST(clock_on_the_wall_that_passes_while_timers_are_collected_ends_a_round) {
    struct htw_scheduler *scheduler = create(HTW_CLOCK_REALTIME, true, 0);
    static struct timed timers[TIMERS];
    for (unsigned i = 0; i < TIMERS; i++)
        arm(scheduler, &timers[i], HTW_CLOCK_REALTIME, (int64_t)i * HTW_MILLISECOND);
    atomic_store(&wall_ahead_ns, TIMERS / 2 * HTW_MILLISECOND);
    atomic_store(&wall_step_ns, HTW_MILLISECOND);
    size_t first = process(scheduler, 0);
    assert_in_range(first, 1, TIMERS - 1);
    while (first < TIMERS)
        first += process(scheduler, 0);
    atomic_store(&wall_step_ns, 0);
    for (unsigned i = 0; i < TIMERS; i++)
        assert_true(timers[i].runs == 1 && !timers[i].early);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

/* What the callback of `greedy` schedules is due at once. */
static void run_again(void *arg, const struct htw_expiration *expiration) {
    run(arg, expiration);
    htw_reschedule(expiration->scheduler, expiration->handle, 0);
}

UNIT_TEST(clock_that_always_has_something_due_leaves_others_their_turn) {
    for (unsigned i = 0; i < COUNT_OF(clocks); i++) {
        struct htw_scheduler *scheduler = create(HTW_CLOCK_MONOTONIC, true, 0);
        struct timed greedy = { .runs = 0 }, modest[COUNT_OF(clocks)];
        struct htw_spec spec = spec_of(&greedy, clocks[i], 0);
        spec.callback = run_again;
        assert_int_equal(htw_schedule_spec(scheduler, &spec, NULL, NULL), 0);
        for (unsigned j = 0; j < COUNT_OF(clocks); j++)
            arm(scheduler, &modest[j], clocks[j], 0);
        for (unsigned turn = 0; turn < 30; turn++)
            process(scheduler, 1);
        for (unsigned j = 0; j < COUNT_OF(clocks); j++)
            assert_int_equal(modest[j].runs, 1);
        assert_true(greedy.runs > 5);
        assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    }
}

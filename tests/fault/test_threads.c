/* SPDX-License-Identifier: MIT */
/*
 * test_threads.c - the system refuses threads and timers. pthread_create() and what an alarm is made
 * of are replaced (-Wl,--wrap) and fail on demand.
 */
/* holds: scheduler-16 */
#include "../support/failing_allocator.h"
#include "../support/failing_calls.h"
#include "../support/process.h"
#include "../unit/unit.h"

#include <htw/scheduler.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#ifndef HTW_PORTABLE
#include <sys/epoll.h>
#endif

/* The kinds of calls. All that an alarm is made of is a timer. */
enum { THREADS, TIMERS };

FAILING_WRAP(THREADS, EAGAIN, int, pthread_create,
             (pthread_t * thread, const pthread_attr_t *attributes, void *(*main)(void *),
              void *arg),
             (thread, attributes, main, arg))
#ifndef HTW_PORTABLE
FAILING_WRAP(TIMERS, -1, int, timerfd_create, (int clock, int flags), (clock, flags))
FAILING_WRAP(TIMERS, -1, int, epoll_create1, (int flags), (flags))
FAILING_WRAP(TIMERS, (errno = ENOSPC, -1), int, epoll_ctl,
             (int fd, int operation, int timer_fd, struct epoll_event *event),
             (fd, operation, timer_fd, event))
#else /* what an alarm of an embedded scheduler has instead */
FAILING_WRAP(TIMERS, -1, int, pipe, (int fds[2]), (fds))
#endif

/* So many calls succeed, and no later one; negative: all do. */
static void leave_threads(int count) {
    failing_calls_plan(THREADS, (unsigned)(count + 1), EAGAIN, true);
}

static void leave_timers(int count, int error) {
    failing_calls_plan(TIMERS, (unsigned)(count + 1), error, true);
}

static void relent(void) {
    failing_calls_relent();
}

static void wait_for_refusal(void) {
    while (failing_calls->kinds[THREADS].failed == 0)
        sched_yield();
}

/* What there is besides: a sanitizer may have a thread of its own, from the first one on. */
static unsigned tasks_at_start;

/* A thread that was joined may be listed for a moment still. */
static void assert_no_thread_is_left(void) {
    while (entries_of("/proc/self/task") > tasks_at_start)
        sched_yield();
}

static void *do_nothing(void *arg) {
    return arg;
}

UNIT_SETUP(count_tasks) {
    pthread_t thread;
    unsigned before = entries_of("/proc/self/task");
    assert_int_equal(pthread_create(&thread, NULL, do_nothing, NULL), 0);
    pthread_join(thread, NULL);
    for (int i = 0; i < 1000 && entries_of("/proc/self/task") > before; i++)
        sched_yield();
    tasks_at_start = entries_of("/proc/self/task");
}

static struct htw_scheduler_options options_of(uint32_t expirers, uint32_t workers) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.shards = 4;
    options.expirers = expirers;
    options.workers = workers;
    return options;
}

static void count_run(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    atomic_fetch_add((_Atomic int *)arg, 1);
}

static void wait_for(_Atomic int *value, int least) {
    while (atomic_load(value) < least)
        sched_yield();
}

/* Creates no scheduler, and leaves no memory, file or thread behind. */
static void assert_refused(const struct htw_scheduler_options *options,
                           const struct failing_allocator *memory, int error) {
    struct htw_scheduler *scheduler = NULL;
    unsigned files = entries_of("/proc/self/fd");
    assert_int_equal(htw_scheduler_create(&scheduler, options), error);
    assert_null(scheduler);
    assert_null(memory->error);
    assert_int_equal(memory->live_blocks, 0);
    assert_int_equal(entries_of("/proc/self/fd"), files);
    assert_no_thread_is_left();
}

UNIT_TEST_BETWEEN(relent, relent, create_that_lacks_a_thread_answers_enomem) {
    struct failing_allocator memory;
    failing_allocator_init(&memory);
    struct htw_scheduler_options options = options_of(2, 3);
    options.start_threads = true;
    options.allocator = &memory.allocator;
    for (int left = 0; left < 5; left++) {
        leave_threads(left);
        assert_refused(&options, &memory, -ENOMEM);
    }
    struct htw_scheduler *scheduler;
    leave_threads(5);
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    failing_allocator_fini(&memory);
}

static int schedule(struct htw_scheduler *scheduler, _Atomic int *runs, htw_handle *ret_handle) {
    return htw_schedule(scheduler, 0, count_run, runs, ret_handle);
}

/* Each attempt starts what it can; the next one tries the rest. */
UNIT_TEST_BETWEEN(relent, relent, first_schedule_that_lacks_a_thread_answers_enomem) {
    for (int left = 0; left < 3; left++) {
        struct htw_scheduler *scheduler;
        struct htw_scheduler_options options = options_of(2, 3);
        _Atomic int runs = 0;
        htw_handle handle = 77;
        assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
        leave_threads(left); /* it takes two expirers and a worker */
        assert_int_equal(schedule(scheduler, &runs, &handle), -ENOMEM);
        assert_int_equal(handle, 77);
        leave_threads(0);
        struct htw_spec spec = HTW_SPEC_INIT;
        spec.callback = count_run;
        spec.arg = &runs;
        spec.key = "key";
        spec.key_size = 3;
        assert_int_equal(htw_schedule_spec(scheduler, &spec, &handle, NULL), -ENOMEM);
        assert_int_equal(htw_pending(scheduler), 0);
        relent();
        assert_int_equal(schedule(scheduler, &runs, &handle), 0);
        wait_for(&runs, 1);
        assert_int_equal(htw_scheduler_destroy(scheduler), 0);
        assert_int_equal(atomic_load(&runs), 1);
        assert_no_thread_is_left();
    }
}

UNIT_TEST_BETWEEN(relent, relent, destroy_after_threads_were_refused_ends_those_that_started) {
    for (int left = 0; left < 3; left++) {
        struct htw_scheduler *scheduler;
        struct htw_scheduler_options options = options_of(2, 3);
        _Atomic int runs = 0;
        assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
        leave_threads(left);
        assert_int_equal(schedule(scheduler, &runs, NULL), -ENOMEM);
        assert_int_equal(htw_scheduler_destroy(scheduler), 0);
        assert_no_thread_is_left();
        relent();
    }
}

struct gate {
    _Atomic int entered, open;
};

static void pass_gate(void *arg, const struct htw_expiration *expiration) {
    struct gate *gate = arg;
    (void)expiration;
    atomic_fetch_add(&gate->entered, 1);
    wait_for(&gate->open, 1);
}

/* One worker is in a callback that waits at the gate, and no other can be started. */
static struct htw_scheduler *begin_at_gate(struct gate *gate, uint32_t workers) {
    struct htw_scheduler *scheduler;
    struct htw_scheduler_options options = options_of(1, workers);
    *gate = (struct gate) { 0, 0 };
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    leave_threads(2);
    assert_int_equal(htw_schedule(scheduler, 0, pass_gate, gate, NULL), 0);
    wait_for(&gate->entered, 1);
    return scheduler;
}

/* The one worker does everything. */
UNIT_TEST_BETWEEN(relent, relent, later_worker_that_is_refused_is_not_needed) {
    struct gate gate;
    _Atomic int runs = 0;
    struct htw_scheduler *scheduler = begin_at_gate(&gate, 4);
    for (int i = 0; i < 500; i++)
        assert_int_equal(schedule(scheduler, &runs, NULL), 0);
    wait_for_refusal(); /* a second worker was wanted, and more than once */
    atomic_store(&gate.open, 1);
    wait_for(&runs, 500);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    assert_int_equal(atomic_load(&runs), 500);
    assert_no_thread_is_left();
}

UNIT_TEST_BETWEEN(relent, relent, later_worker_is_started_when_there_is_room_again) {
    struct gate gate;
    _Atomic int runs = 0;
    struct htw_scheduler *scheduler = begin_at_gate(&gate, 2);
    assert_int_equal(schedule(scheduler, &runs, NULL), 0);
    wait_for_refusal();
    relent();
    assert_int_equal(schedule(scheduler, &runs, NULL), 0);
    wait_for(&runs, 2); /* by the second worker: the first is at the gate */
    assert_int_equal(atomic_load(&gate.open), 0);
    atomic_store(&gate.open, 1);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

#ifndef HTW_PORTABLE
/* An epoll instance, and two timers that are added to it. */
#define CALLS_OF_AN_ALARM 5

UNIT_TEST_BETWEEN(relent, relent, create_that_lacks_a_timer_returns_the_error) {
    static const int errors[] = { EMFILE, ENFILE, ENOMEM };
    struct failing_allocator memory;
    failing_allocator_init(&memory);
    for (int i = 0; i < 3; i++)
        for (int left = 0; left < 3; left++) {
            struct htw_scheduler_options options = options_of(3, 1);
            options.allocator = &memory.allocator;
            options.start_threads = left == 1;
            leave_timers(left * CALLS_OF_AN_ALARM, errors[i]);
            assert_refused(&options, &memory, -errors[i]);
        }
    failing_allocator_fini(&memory);
}
#endif

UNIT_TEST_BETWEEN(relent, relent, create_embedded_that_lacks_a_timer_returns_the_error) {
    struct failing_allocator memory;
    failing_allocator_init(&memory);
    struct htw_scheduler_options options = options_of(1, 0);
    options.allocator = &memory.allocator;
    options.embedded = true;
    unsigned files = entries_of("/proc/self/fd");
#ifndef HTW_PORTABLE
    static const int errors[CALLS_OF_AN_ALARM] = { EMFILE, EMFILE, ENOMEM, EMFILE, ENOMEM };
    for (int i = 0; i < CALLS_OF_AN_ALARM; i++) {
        leave_timers(i, EMFILE);
        assert_refused(&options, &memory, -errors[i]);
    }
#else
    leave_timers(0, EMFILE);
    assert_refused(&options, &memory, -EMFILE);
    relent();
    leave_threads(0);
    assert_refused(&options, &memory, -ENOMEM);
#endif
    assert_int_equal(entries_of("/proc/self/fd"), files);
    failing_allocator_fini(&memory);
}

UNIT_TEST_BETWEEN(relent, relent, create_on_the_manual_clock_needs_no_timer) {
    struct htw_scheduler *scheduler;
    struct htw_scheduler_options options = options_of(1, 0);
    options.clock = HTW_CLOCK_MANUAL;
    leave_timers(0, EMFILE);
    leave_threads(0);
    _Atomic int runs = 0;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    assert_int_equal(schedule(scheduler, &runs, NULL), 0);
    assert_int_equal(htw_scheduler_advance(scheduler, 0), 0);
    assert_int_equal(atomic_load(&runs), 1);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

/* ---- the first timer of another clock */

static int schedule_by(struct htw_scheduler *scheduler, enum htw_clock clock, _Atomic int *runs,
                       htw_handle *ret_handle) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = count_run;
    spec.arg = runs;
    spec.clock = clock;
    return htw_schedule_spec(scheduler, &spec, ret_handle, NULL);
}

#ifndef HTW_PORTABLE
/* holds: scheduler-26 */
UNIT_TEST_BETWEEN(relent, relent, other_clock_that_lacks_a_timer_answers_why) {
    static const int errors[] = { EMFILE, ENFILE, ENOMEM };
    for (int i = 0; i < 3; i++) {
        struct htw_scheduler *scheduler;
        struct htw_scheduler_options options = options_of(1, 1);
        struct failing_allocator memory;
        _Atomic int runs = 0;
        htw_handle handle = 77;
        failing_allocator_init(&memory);
        options.allocator = &memory.allocator;
        options.shards = 1;
        options.workers = 0;
        assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
        leave_timers(0, errors[i]);
        size_t blocks = memory.live_blocks;
        assert_int_equal(schedule_by(scheduler, HTW_CLOCK_REALTIME, &runs, &handle), -errors[i]);
        assert_int_equal(handle, 77);
        assert_int_equal(htw_pending(scheduler), 0);
        assert_int_equal(memory.live_blocks, blocks);
        assert_int_equal(schedule(scheduler, &runs, NULL), 0);
        wait_for(&runs, 1);
        unsigned files = entries_of("/proc/self/fd");
        relent();
        assert_int_equal(schedule_by(scheduler, HTW_CLOCK_REALTIME, &runs, NULL), 0);
        wait_for(&runs, 2);
        assert_int_equal(entries_of("/proc/self/fd"), files + 1); /* and the timer */
        assert_int_equal(htw_scheduler_destroy(scheduler), 0);
        assert_int_equal(memory.live_blocks, 0);
        failing_allocator_fini(&memory);
    }
}

/* Where there is a timer of the wall clock already. */
UNIT_TEST_BETWEEN(relent, relent, other_clock_needs_no_more_timers_where_one_watches_the_wall) {
    for (int embedded = 0; embedded < 2; embedded++) {
        struct htw_scheduler *scheduler;
        struct htw_scheduler_options options = options_of(1, 0);
        _Atomic int runs = 0;
        options.clock = HTW_CLOCK_REALTIME;
        options.embedded = embedded;
        assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
        leave_timers(0, EMFILE);
        assert_int_equal(schedule_by(scheduler, HTW_CLOCK_BOOTTIME, &runs, NULL), 0);
        while (atomic_load(&runs) == 0)
            if (embedded)
                assert_int_equal(htw_scheduler_process(scheduler, 0, NULL), HTW_DONE);
            else
                sched_yield();
        assert_int_equal(htw_scheduler_destroy(scheduler), 0);
        relent();
    }
}
#endif

UNIT_TEST_BETWEEN(relent, relent, other_clock_that_lacks_a_thread_answers_enomem) {
    struct htw_scheduler *scheduler;
    struct htw_scheduler_options options = options_of(1, 1);
    _Atomic int runs = 0;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    for (int left = 0; left < 2; left++) {
        leave_threads(left);
        assert_int_equal(schedule_by(scheduler, HTW_CLOCK_REALTIME, &runs, NULL), -ENOMEM);
        assert_int_equal(htw_pending(scheduler), 0);
    }
    relent();
    assert_int_equal(schedule_by(scheduler, HTW_CLOCK_REALTIME, &runs, NULL), 0);
    wait_for(&runs, 1);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

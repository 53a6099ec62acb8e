/* SPDX-License-Identifier: MIT */
/*
 * test_threads.c - the system refuses threads and timers. pthread_create() and what an alarm is made
 * of are replaced (-Wl,--wrap) and fail on demand.
 */
/* holds: scheduler-16 */
#include "../support/failing_allocator.h"
#include "../support/failing_calls.h"
#include "../support/process.h"
#include "../support/told.h"
#include "../unit/unit.h"

#include <htw/scheduler.h>

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

static void count_run(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    atomic_fetch_add((_Atomic int *)arg, 1);
}

/* ---- each call fails, from the n-th on */

static const struct shape {
    const char *name;
    uint32_t shards, expirers, workers;
    enum htw_clock clock;
    bool start_threads, embedded, needs_nothing;
} shapes[] = {
    { "threads from the beginning", 4, 2, 3, HTW_CLOCK_MONOTONIC, true, false, false },
    { "threads from the first timer on", 4, 2, 3, HTW_CLOCK_MONOTONIC, false, false, false },
    { "one thread", 1, 1, 0, HTW_CLOCK_MONOTONIC, false, false, false },
    { "a timer of the wall clock", 1, 1, 0, HTW_CLOCK_REALTIME, false, false, false },
    { "embedded", 1, 1, 0, HTW_CLOCK_MONOTONIC, false, true, false },
    { "embedded, by the wall clock", 1, 1, 0, HTW_CLOCK_REALTIME, false, true, false },
    { "manual time", 1, 1, 0, HTW_CLOCK_MANUAL, false, false, true },
};

static const struct failure {
    unsigned kind;
    int error, answer;
} failures[] = {
    { THREADS, EAGAIN, -ENOMEM },
    { TIMERS, EMFILE, -EMFILE },
    { TIMERS, ENFILE, -ENFILE },
    { TIMERS, ENOMEM, -ENOMEM },
};

struct run {
    const struct shape *shape;
    const struct failure *failure;
    unsigned nth;
    struct htw_scheduler *scheduler;
    unsigned accepted;
    _Atomic int runs;
};

static unsigned refusals;

static void assert_answer(const struct run *run, int answer) {
    refusals += answer != 0;
    /* What epoll_ctl() has refused is memory, too. */
    if (answer != 0 && answer != run->failure->answer &&
        (answer != -ENOMEM || run->failure->kind != TIMERS))
        fail_msg("%s, call %u of kind %u: %d", run->shape->name, run->nth, run->failure->kind,
                 answer);
}

/* A refusal changes nothing. */
static int schedule(struct run *run, enum htw_clock clock, bool is_keyed) {
    struct htw_spec spec = HTW_SPEC_INIT;
    htw_handle handle = 77;
    uint64_t pending = htw_pending(run->scheduler);
    unsigned number = run->accepted;
    spec.callback = count_run;
    spec.arg = &run->runs;
    spec.clock = clock;
    spec.key = is_keyed ? &number : NULL; /* another one each time */
    spec.key_size = is_keyed ? sizeof(number) : 0;
    int answer = htw_schedule_spec(run->scheduler, &spec, &handle, NULL);
    assert_answer(run, answer);
    if (answer != 0) {
        assert_int_equal(handle, 77);
        assert_in_range(htw_pending(run->scheduler), 0, pending);
    }
    run->accepted += answer == 0;
    return answer;
}

static unsigned schedule_some(struct run *run) {
    unsigned refused = 0;
    bool is_manual = run->shape->clock == HTW_CLOCK_MANUAL;
    refused += schedule(run, run->shape->clock, false) != 0;
    refused += schedule(run, run->shape->clock, true) != 0;
    refused += !is_manual && schedule(run, HTW_CLOCK_REALTIME, false) != 0;
    return refused;
}

static void await_runs(struct run *run) {
    while (atomic_load(&run->runs) < (int)run->accepted)
        if (run->shape->embedded)
            assert_int_equal(htw_scheduler_process(run->scheduler, 0, NULL), HTW_DONE);
        else if (run->shape->clock == HTW_CLOCK_MANUAL)
            assert_int_equal(htw_scheduler_advance(run->scheduler, HTW_SECOND), 0);
        else
            sched_yield();
}

/* Returns whether a call was refused. With `recovers` none is after that, and all works. */
static bool use(struct run *run, bool recovers) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct failing_allocator memory;
    unsigned files = entries_of("/proc/self/fd");
    failing_allocator_init(&memory);
    options.shards = run->shape->shards;
    options.expirers = run->shape->expirers;
    options.workers = run->shape->workers > 0 ? run->shape->workers : HTW_NO_WORKERS;
    options.clock = run->shape->clock;
    options.start_threads = run->shape->start_threads;
    options.embedded = run->shape->embedded;
    options.allocator = &memory.allocator;
    failing_calls_plan(run->failure->kind, run->nth, run->failure->error, true);
    int answer = htw_scheduler_create(&run->scheduler, &options);
    assert_answer(run, answer);
    if (answer != 0)
        assert_null(run->scheduler);
    else
        (void)schedule_some(run);
    if (answer == 0 && recovers) {
        bool was_refused = failing_calls_relent();
        assert_int_equal(schedule_some(run), 0);
        await_runs(run);
        assert_int_equal(htw_scheduler_destroy(run->scheduler), 0);
        assert_int_equal(atomic_load(&run->runs), run->accepted);
        assert_false(was_refused && run->shape->needs_nothing);
    } else if (answer == 0) {
        assert_int_equal(htw_scheduler_destroy(run->scheduler), 0);
    }
    bool was_refused = failing_calls->kinds[run->failure->kind].failed > 0;
    failing_calls_relent();
    assert_int_equal(entries_of("/proc/self/fd"), files);
    assert_no_thread_is_left();
    assert_all_released(&memory);
    return was_refused;
}

/* holds: scheduler-26 */
UNIT_TEST_BETWEEN(relent, relent, threads_and_timers_that_are_refused_change_nothing) {
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        for (size_t j = 0; j < COUNT_OF(failures); j++) {
            bool was_refused = true;
            for (unsigned nth = 1; was_refused; nth++)
                for (int recovers = 0; recovers < 2; recovers++) {
                    struct run run = { .shape = &shapes[i], .failure = &failures[j], .nth = nth };
                    was_refused = use(&run, recovers);
                }
        }
    assert_true(refusals > 50);
}

/* ---- a later worker */

static void wait_for(_Atomic int *value, int least) {
    while (atomic_load(value) < least)
        sched_yield();
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
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.shards = 4;
    options.expirers = 1;
    options.workers = workers > 0 ? workers : HTW_NO_WORKERS;
    *gate = (struct gate) { 0, 0 };
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    failing_calls_plan(THREADS, 3, EAGAIN, true);
    assert_int_equal(htw_schedule(scheduler, 0, pass_gate, gate, NULL), 0);
    wait_for(&gate->entered, 1);
    return scheduler;
}

/* The one worker does everything. */
UNIT_TEST_BETWEEN(relent, relent, later_worker_that_is_refused_is_not_needed) {
    struct gate gate;
    _Atomic int runs = 0;
    begin_told(keep_told);
    struct htw_scheduler *scheduler = begin_at_gate(&gate, 4);
    for (int i = 0; i < 500; i++)
        assert_int_equal(htw_schedule(scheduler, 0, count_run, &runs, NULL), 0);
    wait_for_refusal(); /* a second worker was wanted, and more than once */
    atomic_store(&gate.open, 1);
    wait_for(&runs, 500);
    assert_told("1 scheduler: htw: no further worker could be started");
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    assert_int_equal(atomic_load(&runs), 500);
    assert_no_thread_is_left();
}

UNIT_TEST_BETWEEN(relent, relent, later_worker_is_started_when_there_is_room_again) {
    struct gate gate;
    _Atomic int runs = 0;
    struct htw_scheduler *scheduler = begin_at_gate(&gate, 2);
    assert_int_equal(htw_schedule(scheduler, 0, count_run, &runs, NULL), 0);
    wait_for_refusal();
    relent();
    assert_int_equal(htw_schedule(scheduler, 0, count_run, &runs, NULL), 0);
    wait_for(&runs, 2); /* by the second worker: the first is at the gate */
    assert_int_equal(atomic_load(&gate.open), 0);
    atomic_store(&gate.open, 1);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

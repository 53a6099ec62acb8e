/* SPDX-License-Identifier: MIT */
/*
 * test_begin - the moment in which a timer that is due starts.
 *
 * htw__lock_wait() is the test's own here: a worker that has to wait for the lock of a shard is
 * kept there, so that a test can act while the worker is about to start a callback.
 */
#include "scheduler_fixture.h"

#include "../../../src/scheduler/shard.h"

void __real_htw__lock_wait(struct htw__lock *lock);
void __wrap_htw__lock_wait(struct htw__lock *lock);

static struct htw__lock *_Atomic watched; /* who waits for this lock goes to the gate */
static struct gate at_lock;

void __wrap_htw__lock_wait(struct htw__lock *lock) {
    if (lock == atomic_load(&watched) && htw__innermost_run != NULL) /* the worker */
        gate_enter(&at_lock);
    __real_htw__lock_wait(lock);
}

static _Atomic int64_t clock_ns; /* what the monotonic clock shows; 0: what it does */

int64_t __real_htw__clock_monotonic_ns(void);
int64_t __wrap_htw__clock_monotonic_ns(void);

int64_t __wrap_htw__clock_monotonic_ns(void) {
    int64_t ns = atomic_load(&clock_ns);
    return ns != 0 ? ns : __real_htw__clock_monotonic_ns();
}

/* Probe 0 keeps the only worker busy while probe 1, which has a group and a key, is due behind it.
 */
struct window {
    struct scheduler_fixture f;
    struct htw_group *group;
    pthread_t thread;
    int result;
};

static struct gate in_callback;

static void act_wait(struct probe *self) {
    (void)self;
    gate_enter(&in_callback);
}

static void act_reschedule(struct probe *self) {
    self->result = htw_reschedule(self->last.scheduler, self->last.handle, HTW_SECOND);
}

static void *jump(void *arg) {
    struct window *window = arg;
    window->result = htw_scheduler_set_time(window->f.scheduler, 10 * MS);
    return NULL;
}

static struct htw_spec spec_of(struct window *window, unsigned number, int64_t delay_ns) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = probe_run;
    spec.arg = &window->f.probes[number];
    spec.when_ns = spec.latest_ns = delay_ns;
    spec.group = window->group;
    spec.key = "key";
    spec.key_size = 3;
    return spec;
}

/* Ends with the worker about to start probe 1: it waits for the lock of the shard, which is free.
 */
static void open_window(struct window *window) {
    struct htw_scheduler_options options = scheduler_options();
    options.workers = 1;
    in_callback = at_lock = (struct gate)GATE_INIT;
    scheduler_open(&window->f, &options, 3);
    struct htw_scheduler *scheduler = window->f.scheduler;
    assert_int_equal(htw_group_create(scheduler, &window->group), 0);
    window->f.probes[0].act = act_wait;
    window->f.probes[1].act = act_reschedule;
    arm(&window->f, 0, MS);
    struct htw_spec spec = spec_of(window, 1, 2 * MS);
    assert_int_equal(htw_schedule_spec(scheduler, &spec, &window->f.probes[1].handle, NULL), 0);
    assert_int_equal(pthread_create(&window->thread, NULL, jump, window), 0);
    assert_true(gate_await(&in_callback, 1));
    struct htw__lock *lock = &scheduler->shards[0].lock;
    htw__lock_acquire(lock);
    atomic_store(&watched, lock);
    gate_open(&in_callback);
    bool waits = gate_await(&at_lock, 1);
    atomic_store(&watched, NULL);
    htw__lock_release(lock);
    assert_true(waits);
}

/* Lets the worker go on, until all is quiet. */
static void leave_window(struct window *window) {
    gate_open(&at_lock);
    assert_int_equal(pthread_join(window->thread, NULL), 0);
    assert_int_equal(window->result, 0);
}

static void close_window(struct window *window) {
    htw_group_destroy(window->group);
    scheduler_close(&window->f);
}

static void scheduler_paused_group_starts_nothing_that_was_about_to_start(void **state) {
    (void)state;
    struct window window;
    open_window(&window);
    assert_int_equal(htw_group_pause(window.group), 0);
    leave_window(&window);
    assert_ran(&window.f, 0);
    assert_int_equal(htw_group_resume(window.group), 0);
    advance(&window.f, 0);
    assert_ran(&window.f, 1);
    close_window(&window);
}

static void scheduler_key_taken_from_a_timer_about_to_start_replaces_it(void **state) {
    (void)state;
    struct window window;
    open_window(&window);
    struct htw_spec spec = spec_of(&window, 2, MS);
    struct htw_unexpired replaced;
    int result = htw_schedule_spec(window.f.scheduler, &spec, NULL, &replaced);
    leave_window(&window);
    assert_int_equal(result, 0);
    assert_ptr_equal(replaced.arg, &window.f.probes[1]);
    advance(&window.f, MS);
    assert_ran(&window.f, 0, 2);
    close_window(&window);
}

static void scheduler_key_cancelled_from_a_timer_about_to_start_prevents_the_run(void **state) {
    (void)state;
    struct window window;
    open_window(&window);
    int result = htw_cancel_key(window.f.scheduler, window.group, "key", 3, NULL);
    leave_window(&window);
    assert_int_equal(result, HTW_CANCELLED);
    assert_ran(&window.f, 0);
    close_window(&window);
}

static void scheduler_group_cancelled_when_about_to_start_runs_nothing(void **state) {
    (void)state;
    struct window window;
    open_window(&window);
    int64_t cancelled = htw_group_cancel(window.group, NULL, NULL);
    leave_window(&window);
    assert_int_equal(cancelled, 1);
    assert_ran(&window.f, 0);
    close_window(&window);
}

static void scheduler_timer_that_started_keeps_its_life_without_its_key(void **state) {
    (void)state;
    struct window window;
    open_window(&window);
    leave_window(&window);
    assert_ran(&window.f, 0, 1);
    assert_int_equal(window.f.probes[1].result, HTW_MOVED);
    assert_int_equal(htw_find_key(window.f.scheduler, window.group, "key", 3), 0);
    close_window(&window);
}

/* The run has ended, and the worker is about to file the timer for its next one. The tick is an
   hour, and the clock shows the first one, so that an alarm for now rings at once in any case. */
static void scheduler_timer_moved_to_now_when_its_run_has_ended_runs_at_once(void **state) {
    (void)state;
    struct scheduler_fixture f;
    struct htw_scheduler_options options = scheduler_options();
    options.clock = HTW_CLOCK_MONOTONIC;
    options.workers = 1;
    options.tick_ns = HTW_TICK_NS_MAX;
    in_callback = at_lock = (struct gate)GATE_INIT;
    atomic_store(&clock_ns, 1);
    scheduler_open(&f, &options, 1);
    f.probes[0].act = act_wait;
    arm_every(&f, 0, 0, 100 * HTW_TICK_NS_MAX, HTW_REPEAT_SKIP);
    assert_true(gate_await(&in_callback, 1));
    struct htw__lock *lock = &f.scheduler->shards[0].lock;
    htw__lock_acquire(lock);
    atomic_store(&watched, lock);
    gate_open(&in_callback);
    bool waits = gate_await(&at_lock, 1);
    atomic_store(&watched, NULL);
    htw__lock_release(lock);
    assert_true(waits);
    atomic_store(&clock_ns, MS);
    assert_int_equal(htw_reschedule(f.scheduler, f.probes[0].handle, 0), HTW_MOVED);
    gate_open(&at_lock);
    assert_true(gate_await(&in_callback, 2));
    assert_in_range(htw_cancel_wait(f.scheduler, f.probes[0].handle), HTW_GONE, HTW_RUNNING);
    assert_int_equal(htw_scheduler_stop(f.scheduler, NULL, NULL), 0);
    atomic_store(&clock_ns, 0);
    scheduler_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scheduler_paused_group_starts_nothing_that_was_about_to_start),
        cmocka_unit_test(scheduler_key_taken_from_a_timer_about_to_start_replaces_it),
        cmocka_unit_test(scheduler_key_cancelled_from_a_timer_about_to_start_prevents_the_run),
        cmocka_unit_test(scheduler_group_cancelled_when_about_to_start_runs_nothing),
        cmocka_unit_test(scheduler_timer_that_started_keeps_its_life_without_its_key),
        cmocka_unit_test(scheduler_timer_moved_to_now_when_its_run_has_ended_runs_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * test_begin.c - the moment in which a timer that is due starts.
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
    if (lock == atomic_load(&watched) && htw__innermost_callback_frame != NULL) /* the worker */
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

static void act_reschedule(struct probe *self) {
    self->result = htw_reschedule(self->last.scheduler, self->last.handle, HTW_SECOND);
}

static pthread_t jumping;

static void *jump(void *arg) {
    struct scheduler_fixture *f = arg;
    return htw_scheduler_set_time(f->scheduler, 10 * MS) == 0 ? NULL : arg;
}

static struct htw_spec spec_of(struct scheduler_fixture *f, unsigned number, int64_t delay_ns) {
    struct htw_spec spec = keyed_spec(f, number, delay_ns, "key");
    spec.group = f->group;
    return spec;
}

/* The worker is in the gate of the fixture. Ends with it waiting for the lock of the shard, which is
   free. */
static void let_it_wait_for_the_lock(struct scheduler_fixture *f) {
    struct htw__lock *lock = &f->scheduler->shards[0].lock;
    htw__lock_acquire(lock);
    atomic_store(&watched, lock);
    gate_open(&f->gate);
    bool waits = gate_await(&at_lock, 1);
    atomic_store(&watched, NULL);
    htw__lock_release(lock);
    assert_true(waits);
}

/* Probe 0 keeps the only worker busy while probe 1, which has a group and a key, is due behind it.
   Ends with the worker about to start probe 1. */
static void open_window(struct scheduler_fixture *f) {
    f->options.workers = 1;
    at_lock = (struct gate)GATE_INIT;
    scheduler_reopen(f);
    create_group(f);
    f->probes[0].act = act_stay;
    f->probes[1].act = act_reschedule;
    arm(f, 0, MS);
    struct htw_spec spec = spec_of(f, 1, 2 * MS);
    arm_spec(f, 1, &spec);
    assert_int_equal(pthread_create(&jumping, NULL, jump, f), 0);
    assert_true(gate_await(&f->gate, 1));
    let_it_wait_for_the_lock(f);
}

/* Lets the worker go on, until all is quiet. */
static void leave_window(void) {
    void *failed;
    gate_open(&at_lock);
    assert_int_equal(pthread_join(jumping, &failed), 0);
    assert_null(failed);
}

/* holds: scheduler-9 */
SCHEDULER_TEST(scheduler_paused_group_starts_nothing_that_was_about_to_start) {
    open_window(f);
    pause_group(f);
    leave_window();
    assert_ran(f, 0);
    resume_group(f);
    advance(f, 0);
    assert_ran(f, 1);
}

/* holds: scheduler-8 */
SCHEDULER_TEST(scheduler_key_taken_from_a_timer_about_to_start_replaces_it) {
    open_window(f);
    struct htw_spec spec = spec_of(f, 2, MS);
    struct htw_unexpired replaced;
    int result = htw_schedule_spec(f->scheduler, &spec, NULL, &replaced);
    leave_window();
    assert_int_equal(result, 0);
    assert_ptr_equal(replaced.arg, &f->probes[1]);
    advance(f, MS);
    assert_ran(f, 0, 2);
}

SCHEDULER_TEST(scheduler_key_cancelled_from_a_timer_about_to_start_prevents_the_run) {
    open_window(f);
    int result = htw_cancel_key(f->scheduler, f->group, "key", 3, NULL);
    leave_window();
    assert_int_equal(result, HTW_CANCELLED);
    assert_ran(f, 0);
}

SCHEDULER_TEST(scheduler_group_cancelled_when_about_to_start_runs_nothing) {
    open_window(f);
    int64_t cancelled = htw_group_cancel(f->group, NULL, NULL);
    leave_window();
    assert_int_equal(cancelled, 1);
    assert_ran(f, 0);
}

/* holds: scheduler-8 */
SCHEDULER_TEST(scheduler_timer_that_started_runs_on_without_its_key) {
    open_window(f);
    leave_window();
    assert_ran(f, 0, 1);
    assert_int_equal(f->probes[1].result, HTW_MOVED);
    assert_int_equal(htw_find_key(f->scheduler, f->group, "key", 3), 0);
}

/* The run has ended, and the worker is about to file the timer for its next one. The tick is an
   hour, and the clock shows the first one, so that an alarm for now always expires at once. */
SCHEDULER_TEST(scheduler_timer_moved_to_now_when_its_run_has_ended_runs_at_once) {
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.workers = 1;
    f->options.tick_ns = HTW_TICK_NS_MAX;
    at_lock = (struct gate)GATE_INIT;
    atomic_store(&clock_ns, 1);
    scheduler_reopen(f);
    f->probes[0].act = act_stay;
    arm_every(f, 0, 0, 100 * HTW_TICK_NS_MAX, HTW_REPEAT_SKIP);
    assert_true(gate_await(&f->gate, 1));
    let_it_wait_for_the_lock(f);
    atomic_store(&clock_ns, MS);
    assert_int_equal(reschedule(f, 0, 0), HTW_MOVED);
    gate_open(&at_lock);
    assert_true(gate_await(&f->gate, 2));
    assert_in_range(cancel_wait(f, 0), HTW_GONE, HTW_RUNNING);
    assert_int_equal(htw_scheduler_stop(f->scheduler, NULL, NULL), 0);
    atomic_store(&clock_ns, 0);
}

/* SPDX-License-Identifier: MIT */
/*
 * test_unwind.c - threads that leave the library without a return: a callback ends its thread,
 * throws a C++ exception or is cancelled, or a thread is cancelled while it waits in a call.
 * scheduler_close() checks what must hold afterwards: every timer has ended, and nothing hangs.
 */
#include "scheduler_fixture.h"
#ifdef HAVE_THROWING
#include "../../support/throwing.h"
#endif
#include "../unit.h"

#include <errno.h>
#include <poll.h>

enum { TIMERS = 10, LEAVER = 3 };

/* ---- ways to leave */

static void leave_by_exit(struct probe *self) {
    if (self->runs == 1)
        pthread_exit(self);
}

static void leave_by_cancel(struct probe *self) {
    if (self->runs == 1) {
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
}

typedef void leave_function(struct probe *self);

static leave_function *const ways[] = { leave_by_exit, leave_by_cancel };
enum { WAYS = COUNT_OF(ways) };

/* ---- threads that call */

static void call_process(void *arg) {
    struct scheduler_fixture *f = arg;
    htw_scheduler_process(f->scheduler, 0, NULL);
}

static void call_advance(void *arg) {
    struct scheduler_fixture *f = arg;
    htw_scheduler_advance(f->scheduler, 0);
}

static void call_set_time(void *arg) {
    struct scheduler_fixture *f = arg;
    htw_scheduler_set_time(f->scheduler, MS);
}

struct caller {
    void (*call)(void *arg);
    void *arg;
    bool returned;
};

static void *call_in_thread(void *arg) {
    struct caller *caller = arg;
    caller->call(caller->arg);
    caller->returned = true;
    return NULL;
}

/* Whether the call returned to the thread that made it. */
static bool returns(void (*call)(void *arg), void *arg) {
    struct caller caller = { call, arg, false };
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, call_in_thread, &caller), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return caller.returned;
}

/* ---- from callbacks in a thread of the program */

/* Ten timers that are due, one of which leaves. */
static void arm_leaver(struct scheduler_fixture *f, leave_function *leave) {
    for (unsigned i = 0; i < TIMERS; i++)
        arm(f, i, 0);
    f->probes[LEAVER].act = leave;
}

static bool is_readable(struct htw_scheduler *scheduler) {
    struct pollfd poll_fd = { htw_scheduler_fd(scheduler), POLLIN, 0 };
    return poll(&poll_fd, 1, 0) == 1;
}

static void scheduler_open_embedded(struct scheduler_fixture *f) {
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.embedded = true;
    f->count = TIMERS;
    scheduler_reopen(f);
}

SCHEDULER_TEST(unwind_from_process_leaves_the_rest_to_the_next_call) {
    for (unsigned way = 0; way < WAYS; way++) {
        scheduler_open_embedded(f);
        arm_leaver(f, ways[way]);
        assert_false(returns(call_process, f));
        assert_ran(f, 0, 1, 2, 3);
        assert_true(is_readable(f->scheduler));
        assert_int_equal(cancel(f, 5), HTW_CANCELLED);
        assert_int_equal(cancel(f, LEAVER), HTW_GONE);
        size_t count;
        assert_int_equal(htw_scheduler_process(f->scheduler, 0, &count), HTW_DONE);
        assert_int_equal(count, 5);
        assert_ran(f, 4, 6, 7, 8, 9);
    }
}

SCHEDULER_TEST(unwind_from_advance_leaves_the_rest_to_the_next_call) {
    static void (*const calls[])(void *) = { call_advance, call_set_time };
    for (unsigned variant = 0; variant < 2 * WAYS; variant++) {
        f->count = TIMERS;
        scheduler_reopen(f);
        arm_leaver(f, ways[variant / 2]);
        assert_false(returns(calls[variant % 2], f));
        assert_ran(f, 0, 1, 2, 3);
        advance(f, 0);
        assert_ran(f, 4, 5, 6, 7, 8, 9);
    }
}

SCHEDULER_TEST(unwind_from_a_repeating_timer_does_not_end_it) {
    arm_every(f, 0, 0, 5 * MS, HTW_REPEAT_SKIP);
    f->probes[0].act = leave_by_exit;
    assert_false(returns(call_advance, f));
    advance(f, 10 * MS);
    assert_ran(f, 0, 0, 0);
}

SCHEDULER_TEST(unwind_before_a_stop_hands_the_rest_back) {
    f->count = TIMERS;
    scheduler_reopen(f);
    arm_leaver(f, leave_by_exit);
    assert_false(returns(call_advance, f));
    assert_ran(f, 0, 1, 2, 3);
    assert_int_equal(htw_pending(f->scheduler), TIMERS - 4);
}

/* ---- from callbacks in a thread of the library */

SCHEDULER_TEST(unwind_from_a_worker_does_not_end_it) {
    for (unsigned way = 0; way < WAYS; way++) {
        f->options.workers = 1;
        f->count = TIMERS;
        scheduler_reopen(f);
        arm_leaver(f, ways[way]);
        f->probes[7].act = ways[way]; /* a second time */
        advance(f, 0);
        assert_ran(f, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    }
}

SCHEDULER_TEST(unwind_from_an_expirer_does_not_end_it) {
    for (unsigned way = 0; way < WAYS; way++) {
        f->options.clock = HTW_CLOCK_MONOTONIC;
        scheduler_reopen(f);
        for (unsigned i = 0; i < 4; i++)
            f->probes[i].act = i < 3 ? ways[way] : act_stay;
        for (unsigned i = 0; i < 4; i++)
            arm(f, i, i * MS);
        bool passed = gate_await(&f->gate, 1);
        gate_open(&f->gate);
        assert_true(passed);
        assert_true(cancel_wait(f, 3) >= 0);
    }
}

/* ---- in an executor */

static struct htw_task *kept;

static void keep(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    (void)count;
    kept = tasks[0];
}

static void call_task_run(void *arg) {
    (void)arg;
    htw_task_run(kept);
}

SCHEDULER_TEST(unwind_from_a_task_ends_it) {
    for (unsigned way = 0; way < WAYS; way++) {
        const struct htw_executor executor = { keep, NULL };
        f->options.clock = HTW_CLOCK_MONOTONIC;
        f->options.embedded = true;
        f->options.executor = &executor;
        scheduler_reopen(f);
        arm(f, 0, 0);
        f->probes[0].act = ways[way];
        assert_int_equal(htw_scheduler_process(f->scheduler, 0, NULL), HTW_DONE);
        assert_false(returns(call_task_run, NULL));
        assert_ran(f, 0);
    }
}

/* ---- threads that are cancelled while they wait in a call: the request is there before */

static void cancelled_in_cancel_wait(void *arg) {
    struct probe *awaited = arg;
    pthread_cancel(pthread_self());
    awaited->result = htw_cancel_wait(awaited->fixture->scheduler, awaited->handle);
}

static void wait_for_first(struct probe *self) {
    cancelled_in_cancel_wait(&self->fixture->probes[0]);
}

SCHEDULER_TEST(unwind_from_cancel_wait_keeps_no_lock) {
    f->options.workers = 1;
    scheduler_reopen(f);
    arm(f, 0, 0);
    f->probes[0].act = act_stay;
    advance_to_gate(f, 0);
    bool returned = returns(cancelled_in_cancel_wait, &f->probes[0]);
    advance_past_gate(f);
    assert_false(returned);
    assert_int_equal(cancel_wait(f, 0), HTW_GONE);
}

/* A callback that waits for another one, as others can see. */
SCHEDULER_TEST(unwind_from_cancel_wait_in_a_callback_ends_the_wait) {
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.workers = 2;
    scheduler_reopen(f);
    f->probes[0].act = act_stay;
    f->probes[1].act = wait_for_first;
    f->probes[2].act = act_stay;
    arm(f, 0, 0);
    bool passed = gate_await(&f->gate, 1);
    arm(f, 1, 0);
    arm(f, 2, 0);
    passed = passed && gate_await(&f->gate, 2); /* the one that waited has gone on to the third */
    gate_open(&f->gate);
    assert_true(passed);
    for (unsigned i = 0; i < 3; i++)
        assert_true(cancel_wait(f, i) >= 0);
}

static void cancelled_in_stop(void *arg) {
    struct scheduler_fixture *f = arg;
    pthread_cancel(pthread_self());
    htw_scheduler_stop(f->scheduler, NULL, NULL);
}

static void cancelled_in_advance(void *arg) {
    pthread_cancel(pthread_self());
    call_advance(arg);
}

static void cancelled_in_process(void *arg) {
    pthread_cancel(pthread_self());
    call_process(arg);
}

SCHEDULER_TEST(cancelled_thread_finishes_stop_and_advance) {
    f->options.workers = 1;
    scheduler_reopen(f);
    arm(f, 0, 0);
    assert_true(returns(cancelled_in_advance, f));
    assert_ran(f, 0);
    arm(f, 1, HTW_NEVER_NS);
    assert_true(returns(cancelled_in_stop, f));
    assert_int_equal(scheduler_stats(f).handed_back, 1);
    assert_int_equal(htw_schedule(f->scheduler, 0, probe_run, &f->probes[0], NULL), -ESHUTDOWN);
}

SCHEDULER_TEST(cancelled_thread_finishes_process) {
    scheduler_open_embedded(f);
    arm(f, 0, 0);
    assert_true(returns(cancelled_in_process, f));
    assert_ran(f, 0);
    assert_int_equal(htw_scheduler_process(f->scheduler, 0, NULL), HTW_DONE);
}

/* ---- C++ */

#ifdef HAVE_THROWING
static void leave_by_exception(struct probe *self) {
    if (self->runs == 1)
        throwing_throw();
}

SCHEDULER_TEST(exception_from_process_leaves_the_rest_to_the_next_call) {
    scheduler_open_embedded(f);
    arm_leaver(f, leave_by_exception);
    f->probes[6].act = leave_by_exception;
    assert_true(throwing_catch(call_process, f));
    assert_ran(f, 0, 1, 2, 3);
    assert_true(is_readable(f->scheduler));
    assert_true(throwing_catch(call_process, f));
    assert_ran(f, 4, 5, 6);
    assert_false(throwing_catch(call_process, f));
    assert_ran(f, 7, 8, 9);
}

SCHEDULER_TEST(exception_from_advance_leaves_the_rest_to_the_next_call) {
    f->count = TIMERS;
    scheduler_reopen(f);
    arm_leaver(f, leave_by_exception);
    assert_true(throwing_catch(call_advance, f));
    assert_ran(f, 0, 1, 2, 3);
    advance(f, 0);
    assert_ran(f, 4, 5, 6, 7, 8, 9);
}

SCHEDULER_TEST(exception_from_a_task_ends_it) {
    const struct htw_executor executor = { keep, NULL };
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.embedded = true;
    f->options.executor = &executor;
    scheduler_reopen(f);
    arm(f, 0, 0);
    f->probes[0].act = leave_by_exception;
    assert_int_equal(htw_scheduler_process(f->scheduler, 0, NULL), HTW_DONE);
    assert_true(throwing_catch(call_task_run, NULL));
    assert_ran(f, 0);
}
#endif

/* SPDX-License-Identifier: MIT */
/*
 * test_now.c - what is due now runs now, and not with the next tick.
 *
 * A tick of an hour makes the difference plain. The monotonic clock shows what the test says where
 * it says something (-Wl,--wrap).
 */
/* holds: scheduler-1 */
#include "scheduler_fixture.h"

#include <poll.h>

int64_t __real_htw__clock_monotonic_ns(void);
int64_t __wrap_htw__clock_monotonic_ns(void);

static int64_t clock_ns; /* 0: what the clock does. Set while no other thread is there */

int64_t __wrap_htw__clock_monotonic_ns(void) {
    return clock_ns != 0 ? clock_ns : __real_htw__clock_monotonic_ns();
}

#define TICK HTW_TICK_NS_MAX
#define START (10 * TICK + TICK / 2) /* in the middle of a tick */

static void open_at_half_past(struct scheduler_fixture *f, size_t probes) {
    f->options.tick_ns = TICK;
    f->options.manual_start_ns = START;
    f->count = probes;
    scheduler_reopen(f);
}

static void arm_now(struct scheduler_fixture *f, unsigned number, struct htw_spec spec) {
    struct probe *probe = &f->probes[number];
    spec.callback = probe_run;
    spec.arg = probe;
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, &probe->handle, NULL), 0);
}

/* ---- an instant in the past */

/* An event loop that comes late: the scheduler expected it at the beginning of this tick. */
SCHEDULER_TEST(now_as_an_instant_when_the_loop_is_late_is_run_at_once) {
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.embedded = true;
    f->options.tick_ns = TICK;
    clock_ns = START;
    scheduler_reopen(f);
    arm(f, 0, 1);
    clock_ns += TICK;
    arm_at(f, 1, clock_ns - 1);
    assert_int_equal(htw_scheduler_process(f->scheduler, 0, NULL), HTW_DONE);
    assert_int_equal(f->probes[0].runs, 1);
    assert_int_equal(f->probes[1].runs, 1);
    clock_ns = 0;
}

/* ---- forever now */

static void act_forever(struct probe *self) {
    self->result = htw_reschedule(self->last.scheduler, self->last.handle, 0);
}

/* As in a round of the wheel: what is armed in it for now waits for the next one. */
SCHEDULER_TEST(now_forever_does_not_keep_process_from_returning) {
    enum { FOREVER = 100 };
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.embedded = true;
    f->options.tick_ns = TICK;
    f->count = FOREVER + 1;
    scheduler_reopen(f);
    for (unsigned i = 0; i < FOREVER; i++) {
        f->probes[i].act = act_forever;
        arm(f, i, 0);
    }
    for (unsigned call = 1; call <= 5; call++) {
        struct pollfd fd = { .fd = htw_scheduler_fd(f->scheduler), .events = POLLIN };
        size_t count = 0;
        arm(f, FOREVER, 0);
        assert_int_equal(poll(&fd, 1, 300000), 1);
        assert_int_equal(htw_scheduler_process(f->scheduler, 0, &count), HTW_DONE);
        assert_int_equal(f->probes[FOREVER].runs, call);
        assert_in_range(count, FOREVER + 1, 2 * FOREVER + 1);
    }
}

static void act_forever_and_tell(struct probe *self) {
    act_forever(self);
    if (self->runs == 3)
        gate_enter(&self->fixture->gate);
}

SCHEDULER_TEST(now_forever_in_manual_time_ends_with_stop) {
    open_at_half_past(f, 1);
    f->probes[0].act = act_forever_and_tell;
    arm(f, 0, 0);
    advance_to_gate(f, 0);
    gate_open(&f->gate);
    assert_int_equal(htw_scheduler_stop(f->scheduler, NULL, NULL), 0);
    advance_past_gate(f);
}

/* ---- in real threads */

static void act_tell_the_third(struct probe *self) {
    if (self->runs < 3)
        act_forever(self);
    else
        gate_enter(&self->fixture->gate);
}

static void act_tell(struct probe *self) {
    (void)self;
    gate_enter(&self->fixture->gate);
}

static void check_threads(struct scheduler_fixture *f, uint32_t workers) {
    struct htw_group *group;
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.tick_ns = TICK;
    f->options.workers = workers > 0 ? workers : HTW_NO_WORKERS;
    scheduler_reopen(f);
    gate_open(&f->gate);
    f->probes[0].act = act_tell_the_third;
    arm(f, 0, 0);
    assert_true(gate_await(&f->gate, 1));
    assert_int_equal(htw_group_create(f->scheduler, &group), 0);
    assert_int_equal(htw_group_pause(group), 0);
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.group = group;
    f->probes[1].act = act_tell;
    arm_now(f, 1, spec);
    assert_int_equal(htw_group_resume(group), 0);
    assert_true(gate_await(&f->gate, 2));
    f->probes[2].act = act_tell;
    arm_at(f, 2, htw_scheduler_now(f->scheduler) - 1);
    assert_true(gate_await(&f->gate, 3));
    f->probes[3].act = act_forever;
    arm(f, 3, 0);
    f->probes[4].act = act_tell;
    arm(f, 4, 0);
    assert_true(gate_await(&f->gate, 4));
    assert_true(cancel_wait(f, 3) >= 0);
    htw_group_destroy(group);
    assert_int_equal(htw_scheduler_stop(f->scheduler, NULL, NULL), 0);
}

SCHEDULER_TEST(now_is_run_at_once_by_threads) {
    for (uint32_t workers = 0; workers <= 2; workers++)
        check_threads(f, workers);
}

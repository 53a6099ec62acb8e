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

/* ---- a callback that runs again */

/* The ways in which to say now. */
static int ask_for_now(const struct htw_expiration *expiration, htw_handle handle, unsigned way) {
    static const int64_t delays[] = { 0, -1, INT64_MIN };
    static const int64_t distances[] = { 0, -1, -TICK / 2, -TICK };
    int64_t now_ns = htw_scheduler_now(expiration->scheduler);
    if (way < 3)
        return htw_reschedule(expiration->scheduler, handle, delays[way]);
    return htw_reschedule_at(expiration->scheduler, handle, now_ns + distances[way - 3]);
}

#define WAYS 7u

static void act_once_more(struct probe *self) {
    if (self->runs <= WAYS)
        self->result |= ask_for_now(&self->last, self->last.handle, self->runs - 1) != HTW_MOVED;
}

SCHEDULER_TEST(now_asked_for_by_a_callback_is_run_at_once) {
    open_at_half_past(f, 2);
    f->probes[0].act = f->probes[1].act = act_once_more;
    arm(f, 0, 0);
    arm_every(f, 1, 0, 100 * TICK, HTW_REPEAT_SKIP);
    advance(f, 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(f->probes[i].runs, WAYS + 1);
        assert_int_equal(f->probes[i].result, 0);
    }
    assert_int_equal(htw_pending(f->scheduler), 1);
}

SCHEDULER_TEST(now_of_a_repeating_timer_that_catches_up_is_run_at_once) {
    open_at_half_past(f, 1);
    arm_every(f, 0, 0, TICK / 6, HTW_REPEAT_BURST);
    advance(f, 0);
    assert_int_equal(f->probes[0].runs, 1);
    set_time(f, START + 2 * TICK);
    assert_int_equal(f->probes[0].runs, 1 + 12);
}

/* ---- groups */

SCHEDULER_TEST(now_of_a_resumed_group_is_run_at_once) {
    struct htw_group *group;
    open_at_half_past(f, 3);
    assert_int_equal(htw_group_create(f->scheduler, &group), 0);
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.group = group;
    arm_now(f, 0, spec);
    assert_int_equal(htw_group_pause(group), 0);
    arm_now(f, 1, spec);
    spec.when_ns = spec.latest_ns = 1; /* it is ahead when the group is resumed */
    arm_now(f, 2, spec);
    advance(f, TICK / 4);
    assert_none_ran(f);
    assert_int_equal(htw_group_resume(group), 0);
    advance(f, 0);
    assert_int_equal(f->probes[0].runs, 1);
    assert_int_equal(f->probes[1].runs, 1);
    assert_int_equal(f->probes[2].runs, 0);
    htw_group_destroy(group);
    advance(f, TICK);
    assert_int_equal(f->probes[2].runs, 1);
}

/* ---- an instant in the past */

/* With other timers pending, which make the scheduler expect to look at another time. */
static void check_instants(struct scheduler_fixture *f, int64_t other_ns, bool cancelled) {
    open_at_half_past(f, 5);
    arm_at(f, 4, other_ns);
    if (cancelled)
        assert_int_equal(cancel(f, 4), HTW_CANCELLED);
    arm_at(f, 0, START);
    arm_at(f, 1, START - 1);
    arm_at(f, 2, START - TICK / 2 + 1);
    arm_at(f, 3, START + 1); /* ahead, and rounded up */
    advance(f, 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(f->probes[i].runs, 1);
    assert_int_equal(f->probes[3].runs, 0);
    advance(f, TICK / 2 - 1);
    assert_int_equal(f->probes[3].runs, 0);
    advance(f, 1);
    assert_int_equal(f->probes[3].runs, 1);
}

SCHEDULER_TEST(now_as_an_instant_in_the_present_tick_is_run_at_once) {
    static const int64_t others[] = { HTW_NEVER_NS,
                                      START + 100 * TICK,
                                      START + 2 * TICK,
                                      START + TICK,
                                      START + TICK / 2,
                                      START + 1,
                                      START,
                                      START - 1,
                                      START - TICK,
                                      0,
                                      INT64_MIN };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        check_instants(f, others[i], false);
        check_instants(f, others[i], true);
    }
}

SCHEDULER_TEST(now_as_an_instant_after_a_step_back_is_run_at_once) {
    open_at_half_past(f, 2);
    arm(f, 0, 0);
    advance(f, 0);
    set_time(f, START - 5 * TICK);
    arm_at(f, 1, START - 5 * TICK - 1);
    advance(f, 0);
    assert_int_equal(f->probes[1].runs, 1);
}

static void act_schedule_past(struct probe *self) {
    struct scheduler_fixture *f = self->fixture;
    struct probe *other = &f->probes[self->number + f->count / 2];
    int64_t now_ns = htw_scheduler_now(self->last.scheduler);
    self->result = htw_schedule_at(self->last.scheduler, now_ns - 1, probe_run, other, NULL);
}

/* More than a batch is due, and from several ticks. */
SCHEDULER_TEST(now_as_an_instant_read_in_a_long_burst_is_run_at_once) {
    enum { HALF = 300 };
    open_at_half_past(f, (size_t)2 * HALF);
    for (unsigned i = 0; i < HALF; i++) {
        f->probes[i].act = act_schedule_past;
        arm(f, i, 1 + (int64_t)(i % 10) * TICK);
    }
    set_time(f, START + 20 * TICK);
    for (unsigned i = 0; i < 2 * HALF; i++)
        assert_int_equal(f->probes[i].runs, 1);
}

SCHEDULER_TEST(now_as_the_beginning_of_a_range_without_a_tick_is_run_at_once) {
    open_at_half_past(f, 3);
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.absolute = true;
    spec.when_ns = START - 5;
    spec.latest_ns = START - 1;
    arm_now(f, 0, spec);
    spec.latest_ns = START + 5;
    arm_now(f, 1, spec);
    spec.when_ns = START + 1;
    arm_now(f, 2, spec);
    advance(f, 0);
    assert_ran(f, 0, 1);
}

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
    f->options.workers = workers;
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

/* SPDX-License-Identifier: MIT */
/* test_cancel.c - each answer of htw_cancel() and htw_cancel_wait(). */
#include "scheduler_fixture.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

/* holds: scheduler-2 */
SCHEDULER_TEST(scheduler_cancel_of_due_but_not_started_prevents_the_run) {
    arm(f, 0, 0);
    assert_int_equal(cancel(f, 0), HTW_CANCELLED);
    advance(f, 0);
    assert_none_ran(f);
}

SCHEDULER_TEST(scheduler_cancel_of_zero_answers_gone) {
    assert_int_equal(htw_cancel(f->scheduler, 0), HTW_GONE);
    arm(f, 0, MS);
    assert_int_equal(htw_cancel(f->scheduler, 0), HTW_GONE);
    assert_int_equal(htw_cancel_wait(f->scheduler, 0), HTW_GONE);
    assert_int_equal(htw_pending(f->scheduler), 1);
}

static void act_cancel_other(struct probe *self) {
    struct probe *other = &self->fixture->probes[1 - self->number];
    self->result = htw_cancel(self->last.scheduler, other->handle);
}

/* Both are taken from the wheel together: the one that starts first wins. */
SCHEDULER_TEST(scheduler_cancel_of_the_next_in_the_batch_prevents_the_run) {
    f->probes[0].act = f->probes[1].act = act_cancel_other;
    arm(f, 0, MS);
    arm(f, 1, MS);
    advance(f, MS);
    assert_int_equal(f->log_count, 1);
    assert_int_equal(f->probes[f->log[0]].result, HTW_CANCELLED);
    assert_int_equal(htw_pending(f->scheduler), 0);
    assert_int_equal(scheduler_stats(f).cancelled, 1);
}

/* ---- with a second thread */

/* holds: scheduler-3 */
SCHEDULER_TEST(scheduler_cancel_of_repeating_that_runs_elsewhere_ends_it) {
    f->probes[0].act = act_stay;
    arm_every(f, 0, MS, MS, HTW_REPEAT_BURST);
    advance_to_gate(f, 10 * MS);
    assert_int_equal(cancel(f, 0), HTW_RUNNING);
    advance_past_gate(f);
    assert_ran(f, 0);
}

/* ---- from another CPU's shard */

#define FOREIGN 3000u

/* A thread, and how many calls of it were answered wrongly. */
struct caller {
    pthread_t thread;
    struct scheduler_fixture *fixture;
    int result;
};

static void go_to_cpu(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    (void)sched_setaffinity(0, sizeof(set), &set); /* where this fails, all is in one shard */
}

static void *cancel_all(void *arg) {
    struct caller *self = arg;
    struct scheduler_fixture *fixture = self->fixture;
    go_to_cpu(1);
    for (unsigned i = 0; i < FOREIGN; i++)
        if (htw_cancel(fixture->scheduler, fixture->probes[i].handle) != HTW_CANCELLED ||
            htw_is_pending(fixture->scheduler, fixture->probes[i].handle) ||
            htw_cancel(fixture->scheduler, fixture->probes[i].handle) != HTW_GONE)
            self->result++;
    return NULL;
}

static void *arm_and_let_others_cancel(void *arg) {
    struct caller *self = arg;
    struct scheduler_fixture *fixture = self->fixture;
    go_to_cpu(0);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < FOREIGN; i++)
            if (htw_schedule(fixture->scheduler, MS * (1 + i % 700), probe_run, &fixture->probes[i],
                             &fixture->probes[i].handle) != 0)
                self->result++;
        struct caller other = { .fixture = fixture };
        if (pthread_create(&other.thread, NULL, cancel_all, &other) != 0)
            abort();
        pthread_join(other.thread, NULL);
        self->result += other.result;
    }
    return NULL;
}

/* holds: scheduler-2 */
SCHEDULER_TEST(scheduler_cancel_from_another_shard_is_exact) {
    f->options.shards = 2;
    f->count = FOREIGN;
    scheduler_reopen(f);
    struct caller arming = { .fixture = f };
    /* In a thread of its own, so that this one's affinity stays as it is. */
    assert_int_equal(pthread_create(&arming.thread, NULL, arm_and_let_others_cancel, &arming), 0);
    assert_int_equal(pthread_join(arming.thread, NULL), 0);
    assert_int_equal(arming.result, 0);
    assert_int_equal(htw_pending(f->scheduler), 0);
    assert_int_equal(scheduler_stats(f).cancelled, 3 * FOREIGN);
    advance(f, HTW_SECOND);
    assert_none_ran(f);
}

/* ---- and tell what was left */

#define cancel_remaining(self, number, ret_left_ns) \
    htw_cancel_remaining((self)->scheduler, (self)->probes[number].handle, ret_left_ns)

static void act_count(struct probe *self) {
    self->fixture->probes[1].result++;
}

/* holds: scheduler-28 */
LATER_TEST(scheduler_cancel_tells_what_was_left_of_the_delay) {
    int64_t left_ns = 77;
    arm(f, 0, 10 * MS);
    advance(f, 4 * MS + 1);
    assert_int_equal(cancel_remaining(f, 0, &left_ns), HTW_CANCELLED);
    assert_int_equal(left_ns, 6 * MS - 1);
    left_ns = 77;
    assert_int_equal(cancel_remaining(f, 0, &left_ns), HTW_GONE);
    assert_int_equal(left_ns, 77);
    arm(f, 0, HTW_NEVER_NS);
    assert_int_equal(cancel_remaining(f, 0, &left_ns), HTW_CANCELLED);
    assert_int_equal(left_ns, HTW_NEVER_NS);
    arm_at(f, 0, START_NS - HTW_HOUR);
    assert_int_equal(cancel_remaining(f, 0, &left_ns), HTW_CANCELLED);
    assert_int_equal(left_ns, 0);
    struct htw_spec spec = hooked_spec(f, 0, 3 * MS);
    f->probes[0].on_release = act_count;
    arm_spec(f, 0, &spec);
    assert_int_equal(cancel_remaining(f, 0, &left_ns), HTW_CANCELLED);
    assert_int_equal(left_ns, 3 * MS);
    assert_int_equal(f->probes[0].releases, 1);
    assert_int_equal(f->probes[1].result, 1);
    assert_int_equal(scheduler_stats(f).cancelled, 4);
    assert_int_equal(htw_cancel_remaining(f->scheduler, 0, &left_ns), HTW_GONE);
    assert_int_equal(htw_cancel_remaining(f->scheduler, 1, NULL), -EINVAL);
    assert_int_equal(htw_cancel_remaining(NULL, 1, &left_ns), -EINVAL);
    assert_log(f, "A");
}

/* holds: scheduler-28 */
LATER_TEST(scheduler_cancel_tells_what_is_left_by_the_clock_of_the_timer) {
    int64_t left_ns;
    struct htw_spec spec = probe_spec(f, 0, 10 * MS);
    spec.clock = HTW_CLOCK_REALTIME;
    arm_spec(f, 0, &spec);
    assert_int_equal(
        htw_scheduler_set_clock(f->scheduler, HTW_CLOCK_REALTIME, START_NS - HTW_SECOND), 0);
    assert_int_equal(cancel_remaining(f, 0, &left_ns), HTW_CANCELLED);
    assert_int_equal(left_ns, HTW_SECOND + 10 * MS);
}

/* holds: scheduler-28 */
LATER_TEST(scheduler_cancel_of_a_paused_timer_tells_the_rest_that_it_kept) {
    int64_t left_ns;
    create_group(f);
    struct htw_spec spec = grouped_spec(f, 0, 10 * MS);
    arm_spec(f, 0, &spec);
    advance(f, 3 * MS);
    pause_group(f);
    advance(f, HTW_HOUR);
    assert_int_equal(cancel_remaining(f, 0, &left_ns), HTW_CANCELLED);
    assert_int_equal(left_ns, 7 * MS);
}

static void act_cancel_remaining(struct probe *self) {
    int64_t left_ns = 77;
    self->result = cancel_remaining(self->fixture, self->number, &left_ns);
    if (left_ns != 77)
        self->result = -1;
}

LATER_TEST(scheduler_cancel_of_running_tells_nothing_left) {
    arm_every(f, 0, MS, MS, HTW_REPEAT_SKIP);
    f->probes[0].act = act_cancel_remaining;
    advance(f, 10 * MS);
    assert_ran(f, 0);
    assert_int_equal(f->probes[0].result, HTW_RUNNING);
}

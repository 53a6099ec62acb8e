/* SPDX-License-Identifier: MIT */
/* test_cancel - each answer of htw_cancel() and htw_cancel_wait(). */
#include "scheduler_fixture.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

static void scheduler_cancel_of_pending_prevents_the_run(void **state) {
    (void)state;
    struct scheduler_fixture f;
    scheduler_open(&f, NULL, 2);
    arm(&f, 0, 5 * MS);
    arm(&f, 1, 5 * MS);
    assert_int_equal(htw_cancel(f.scheduler, f.probes[0].handle), HTW_CANCELLED);
    assert_false(htw_is_pending(f.scheduler, f.probes[0].handle));
    assert_int_equal(htw_pending(f.scheduler), 1);
    assert_int_equal(htw_cancel(f.scheduler, f.probes[0].handle), HTW_GONE);
    advance(&f, 10 * MS);
    assert_ran(&f, 1);
    assert_int_equal(scheduler_stats(&f).cancelled, 1);
    scheduler_close(&f);
}

static void scheduler_cancel_of_forever_is_a_cancel(void **state) {
    (void)state;
    struct scheduler_fixture f;
    scheduler_open(&f, NULL, 1);
    arm(&f, 0, HTW_NEVER_NS);
    assert_int_equal(htw_cancel(f.scheduler, f.probes[0].handle), HTW_CANCELLED);
    assert_int_equal(htw_pending(f.scheduler), 0);
    scheduler_close(&f);
}

static void scheduler_cancel_of_due_but_not_started_prevents_the_run(void **state) {
    (void)state;
    struct scheduler_fixture f;
    scheduler_open(&f, NULL, 1);
    arm(&f, 0, 0);
    assert_int_equal(htw_cancel(f.scheduler, f.probes[0].handle), HTW_CANCELLED);
    advance(&f, 0);
    assert_none_ran(&f);
    scheduler_close(&f);
}

static void scheduler_cancel_after_the_run_is_gone(void **state) {
    (void)state;
    struct scheduler_fixture f;
    scheduler_open(&f, NULL, 1);
    arm(&f, 0, 0);
    advance(&f, 0);
    assert_int_equal(htw_cancel(f.scheduler, f.probes[0].handle), HTW_GONE);
    assert_int_equal(htw_cancel_wait(f.scheduler, f.probes[0].handle), HTW_GONE);
    assert_int_equal(scheduler_stats(&f).cancelled, 0);
    scheduler_close(&f);
}

static void scheduler_cancel_of_zero_is_gone(void **state) {
    (void)state;
    struct scheduler_fixture f;
    scheduler_open(&f, NULL, 1);
    assert_int_equal(htw_cancel(f.scheduler, 0), HTW_GONE);
    arm(&f, 0, MS);
    assert_int_equal(htw_cancel(f.scheduler, 0), HTW_GONE);
    assert_int_equal(htw_cancel_wait(f.scheduler, 0), HTW_GONE);
    assert_int_equal(htw_pending(f.scheduler), 1);
    scheduler_close(&f);
}

static void act_cancel_self(struct probe *self) {
    self->result = htw_cancel(self->last.scheduler, self->last.handle);
}

static void scheduler_cancel_in_own_callback_says_running(void **state) {
    (void)state;
    struct scheduler_fixture f;
    scheduler_open(&f, NULL, 1);
    f.probes[0].act = act_cancel_self;
    arm(&f, 0, 0);
    advance(&f, 0);
    assert_int_equal(f.probes[0].result, HTW_RUNNING);
    assert_int_equal(scheduler_stats(&f).fired, 1);
    assert_int_equal(scheduler_stats(&f).cancelled, 0);
    scheduler_close(&f);
}

static void scheduler_cancel_of_repeating_in_own_callback_ends_it(void **state) {
    (void)state;
    struct scheduler_fixture f;
    scheduler_open(&f, NULL, 1);
    f.probes[0].act = act_cancel_self;
    arm_every(&f, 0, MS, MS, HTW_REPEAT_SKIP);
    advance(&f, 10 * MS);
    assert_ran(&f, 0);
    assert_int_equal(f.probes[0].result, HTW_RUNNING);
    assert_int_equal(htw_cancel(f.scheduler, f.probes[0].handle), HTW_GONE);
    assert_int_equal(scheduler_stats(&f).fired, 1);
    scheduler_close(&f);
}

static void act_cancel_other(struct probe *self) {
    struct probe *other = &self->fixture->probes[1 - self->number];
    self->result = htw_cancel(self->last.scheduler, other->handle);
}

/* Both are taken from the wheel together: the one that starts first wins. */
static void scheduler_cancel_of_the_next_in_the_batch_prevents_the_run(void **state) {
    (void)state;
    struct scheduler_fixture f;
    scheduler_open(&f, NULL, 2);
    f.probes[0].act = f.probes[1].act = act_cancel_other;
    arm(&f, 0, MS);
    arm(&f, 1, MS);
    advance(&f, MS);
    assert_int_equal(f.log_count, 1);
    assert_int_equal(f.probes[f.log[0]].result, HTW_CANCELLED);
    assert_int_equal(htw_pending(f.scheduler), 0);
    assert_int_equal(scheduler_stats(&f).cancelled, 1);
    scheduler_close(&f);
}

static void act_cancel_wait_self(struct probe *self) {
    self->result = htw_cancel_wait(self->last.scheduler, self->last.handle);
}

static void scheduler_cancel_wait_for_itself_is_a_deadlock_and_cancels(void **state) {
    (void)state;
    struct scheduler_fixture f;
    scheduler_open(&f, NULL, 2);
    f.probes[0].act = f.probes[1].act = act_cancel_wait_self;
    arm(&f, 0, MS);
    arm_every(&f, 1, 2 * MS, MS, HTW_REPEAT_BURST);
    advance(&f, 10 * MS);
    assert_ran(&f, 0, 1);
    assert_int_equal(f.probes[0].result, -EDEADLK);
    assert_int_equal(f.probes[1].result, -EDEADLK);
    scheduler_close(&f);
}

static void scheduler_cancel_wait_of_pending_is_a_cancel(void **state) {
    (void)state;
    struct scheduler_fixture f;
    scheduler_open(&f, NULL, 1);
    arm(&f, 0, MS);
    assert_int_equal(htw_cancel_wait(f.scheduler, f.probes[0].handle), HTW_CANCELLED);
    advance(&f, MS);
    assert_none_ran(&f);
    scheduler_close(&f);
}

/* ---- with a second thread */

static struct gate *the_gate;

static void act_wait(struct probe *self) {
    (void)self;
    gate_enter(the_gate);
}

/* With `workers`: a worker runs the callback, otherwise the thread that drives. */
static void cancel_while_it_runs(uint32_t workers) {
    struct scheduler_fixture f;
    struct gate gate = GATE_INIT;
    struct driver driver;
    struct htw_scheduler_options options = scheduler_options();
    options.workers = workers;
    scheduler_open(&f, &options, 1);
    the_gate = &gate;
    f.probes[0].act = act_wait;
    arm(&f, 0, MS);
    driver_start(&driver, &f, MS);
    assert_true(gate_await(&gate, 1));
    assert_false(htw_is_pending(f.scheduler, f.probes[0].handle));
    assert_int_equal(htw_pending(f.scheduler), 0);
    assert_int_equal(htw_cancel(f.scheduler, f.probes[0].handle), HTW_RUNNING);
    assert_int_equal(htw_cancel(f.scheduler, f.probes[0].handle), HTW_RUNNING);
    gate_open(&gate);
    assert_int_equal(driver_join(&driver), 0);
    assert_int_equal(htw_cancel(f.scheduler, f.probes[0].handle), HTW_GONE);
    assert_int_equal(scheduler_stats(&f).fired, 1);
    scheduler_close(&f);
}

static void scheduler_cancel_of_running_elsewhere_says_so(void **state) {
    (void)state;
    cancel_while_it_runs(0);
    cancel_while_it_runs(1);
}

static void scheduler_cancel_of_repeating_that_runs_elsewhere_ends_it(void **state) {
    (void)state;
    struct scheduler_fixture f;
    struct gate gate = GATE_INIT;
    struct driver driver;
    scheduler_open(&f, NULL, 1);
    the_gate = &gate;
    f.probes[0].act = act_wait;
    arm_every(&f, 0, MS, MS, HTW_REPEAT_BURST);
    driver_start(&driver, &f, 10 * MS);
    assert_true(gate_await(&gate, 1));
    assert_int_equal(htw_cancel(f.scheduler, f.probes[0].handle), HTW_RUNNING);
    gate_open(&gate);
    assert_int_equal(driver_join(&driver), 0);
    assert_ran(&f, 0);
    scheduler_close(&f);
}

struct waiter {
    pthread_t thread;
    struct scheduler_fixture *fixture;
    htw_handle handle;
    int result;
    unsigned runs; /* of the timer, when it had waited */
};

static void *wait_for_callback(void *arg) {
    struct waiter *waiter = arg;
    waiter->result = htw_cancel_wait(waiter->fixture->scheduler, waiter->handle);
    pthread_mutex_lock(&waiter->fixture->mutex);
    waiter->runs = waiter->fixture->probes[0].runs;
    pthread_mutex_unlock(&waiter->fixture->mutex);
    return NULL;
}

static void scheduler_cancel_wait_of_running_returns_when_it_has_ended(void **state) {
    (void)state;
    struct scheduler_fixture f;
    struct gate gate = GATE_INIT;
    struct driver driver;
    struct waiter waiter = { .fixture = &f };
    scheduler_open(&f, NULL, 1);
    the_gate = &gate;
    f.probes[0].act = act_wait;
    arm_every(&f, 0, MS, MS, HTW_REPEAT_BURST);
    driver_start(&driver, &f, 10 * MS);
    assert_true(gate_await(&gate, 1));
    waiter.handle = f.probes[0].handle;
    assert_int_equal(pthread_create(&waiter.thread, NULL, wait_for_callback, &waiter), 0);
    gate_open(&gate);
    assert_int_equal(pthread_join(waiter.thread, NULL), 0);
    assert_int_equal(driver_join(&driver), 0);
    /* It waits from within the first run, or comes when a later one is under way or awaited. */
    assert_true(waiter.result == HTW_RUNNING || waiter.result == HTW_CANCELLED ||
                waiter.result == HTW_GONE);
    assert_int_equal(waiter.runs, f.probes[0].runs);
    scheduler_close(&f);
}

/* ---- from another CPU's shard */

#define FOREIGN 3000u

static void go_to_cpu(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    (void)sched_setaffinity(0, sizeof(set), &set); /* where this fails, all is in one shard */
}

static void *cancel_all(void *arg) {
    struct waiter *waiter = arg;
    struct scheduler_fixture *fixture = waiter->fixture;
    go_to_cpu(1);
    for (unsigned i = 0; i < FOREIGN; i++)
        if (htw_cancel(fixture->scheduler, fixture->probes[i].handle) != HTW_CANCELLED ||
            htw_is_pending(fixture->scheduler, fixture->probes[i].handle) ||
            htw_cancel(fixture->scheduler, fixture->probes[i].handle) != HTW_GONE)
            waiter->result++;
    return NULL;
}

static void *arm_and_let_others_cancel(void *arg) {
    struct waiter *self = arg;
    struct scheduler_fixture *fixture = self->fixture;
    go_to_cpu(0);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < FOREIGN; i++)
            if (htw_schedule(fixture->scheduler, MS * (1 + i % 700), probe_run, &fixture->probes[i],
                             &fixture->probes[i].handle) != 0)
                self->result++;
        struct waiter other = { .fixture = fixture };
        if (pthread_create(&other.thread, NULL, cancel_all, &other) != 0)
            abort();
        pthread_join(other.thread, NULL);
        self->result += other.result;
    }
    return NULL;
}

static void scheduler_cancel_from_another_shard_is_exact(void **state) {
    (void)state;
    struct scheduler_fixture f;
    struct htw_scheduler_options options = scheduler_options();
    options.shards = 2;
    scheduler_open(&f, &options, FOREIGN);
    struct waiter arming = { .fixture = &f };
    /* In a thread of its own, so that this one's affinity stays as it is. */
    assert_int_equal(pthread_create(&arming.thread, NULL, arm_and_let_others_cancel, &arming), 0);
    assert_int_equal(pthread_join(arming.thread, NULL), 0);
    assert_int_equal(arming.result, 0);
    assert_int_equal(htw_pending(f.scheduler), 0);
    assert_int_equal(scheduler_stats(&f).cancelled, 3 * FOREIGN);
    advance(&f, HTW_SECOND);
    assert_none_ran(&f);
    scheduler_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scheduler_cancel_of_pending_prevents_the_run),
        cmocka_unit_test(scheduler_cancel_of_forever_is_a_cancel),
        cmocka_unit_test(scheduler_cancel_of_due_but_not_started_prevents_the_run),
        cmocka_unit_test(scheduler_cancel_after_the_run_is_gone),
        cmocka_unit_test(scheduler_cancel_of_zero_is_gone),
        cmocka_unit_test(scheduler_cancel_in_own_callback_says_running),
        cmocka_unit_test(scheduler_cancel_of_repeating_in_own_callback_ends_it),
        cmocka_unit_test(scheduler_cancel_of_the_next_in_the_batch_prevents_the_run),
        cmocka_unit_test(scheduler_cancel_wait_for_itself_is_a_deadlock_and_cancels),
        cmocka_unit_test(scheduler_cancel_wait_of_pending_is_a_cancel),
        cmocka_unit_test(scheduler_cancel_of_running_elsewhere_says_so),
        cmocka_unit_test(scheduler_cancel_of_repeating_that_runs_elsewhere_ends_it),
        cmocka_unit_test(scheduler_cancel_wait_of_running_returns_when_it_has_ended),
        cmocka_unit_test(scheduler_cancel_from_another_shard_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

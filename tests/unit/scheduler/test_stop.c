/* SPDX-License-Identifier: MIT */
/* test_stop.c - what is left goes to the visitor, once, and then nothing goes on. */
/* holds: scheduler-11 */
#include "../../support/random.h"
#include "scheduler_fixture.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

struct visit {
    struct scheduler_fixture *fixture;
    int result;
    size_t count;
    struct {
        struct htw_unexpired leftover;
        bool was_pending;
        int cancelled, stopped, destroyed, scheduled;
    } seen[2000];
};

static void visit(void *context, const struct htw_unexpired *unexpired) {
    struct visit *self = context;
    struct htw_scheduler *scheduler = self->fixture->scheduler;
    if (self->count == 2000)
        abort();
    self->seen[self->count].leftover = *unexpired;
    self->seen[self->count].was_pending = htw_is_pending(scheduler, unexpired->handle);
    self->seen[self->count].cancelled = htw_cancel(scheduler, unexpired->handle);
    self->seen[self->count].stopped = htw_scheduler_stop(scheduler, NULL, NULL);
    self->seen[self->count].destroyed = htw_scheduler_destroy(scheduler);
    self->seen[self->count].scheduled = htw_schedule(scheduler, 0, probe_run, NULL, NULL);
    self->count++;
}

/* Any thread. */
static void *stop_unchecked(void *arg) {
    struct visit *self = calloc(1, sizeof(*self));
    if (self == NULL)
        abort();
    self->fixture = arg;
    self->result = htw_scheduler_stop(self->fixture->scheduler, visit, self);
    return self;
}

static void assert_visits(const struct visit *self) {
    assert_int_equal(self->result, 0);
    for (size_t i = 0; i < self->count; i++) {
        const struct htw_unexpired *unexpired = &self->seen[i].leftover;
        const struct probe *probe = unexpired->arg;
        assert_ptr_equal(unexpired->callback, probe_run);
        assert_int_equal(unexpired->handle, probe->handle);
        assert_false(self->seen[i].was_pending);
        assert_int_equal(self->seen[i].cancelled, HTW_GONE);
        assert_int_equal(self->seen[i].stopped, -EDEADLK);
        assert_int_equal(self->seen[i].destroyed, -EDEADLK);
        assert_int_equal(self->seen[i].scheduled, -ESHUTDOWN);
    }
}

static struct visit *stop(struct scheduler_fixture *f) {
    struct visit *self = stop_unchecked(f);
    assert_visits(self);
    return self;
}

/* Each probe was visited once, with its deadline. */
static void assert_visited(const struct visit *self, const int64_t *deadlines_ns, size_t count) {
    assert_int_equal(self->count, count);
    for (size_t i = 0; i < count; i++) {
        const struct htw_unexpired *unexpired = &self->seen[i].leftover;
        struct probe *probe = unexpired->arg;
        assert_int_equal(unexpired->deadline_ns, deadlines_ns[probe->number]);
        assert_int_equal(probe->result++, 0);
    }
}

SCHEDULER_TEST(scheduler_stop_hands_back_each_with_its_deadline) {
    static const int64_t deadlines_ns[] = {
        HTW_NEVER_NS, 300 * HTW_SECOND, 5 * MS + 2, 5 * MS + 1, 0, HTW_NEVER_NS, 70 * MS
    };
    for (unsigned i = 0; i < 6; i++)
        arm(f, i, deadlines_ns[i]);
    arm_every(f, 6, deadlines_ns[6], MS, HTW_REPEAT_SKIP);
    arm(f, 7, 4 * MS);
    assert_int_equal(cancel(f, 7), HTW_CANCELLED);
    struct visit *visited = stop(f);
    assert_visited(visited, deadlines_ns, 7);
    free(visited);
    assert_none_ran(f);
}

/* All of these are due: their ticks have passed. */
SCHEDULER_TEST(scheduler_stop_hands_back_what_is_overdue) {
    static const int64_t deadlines_ns[] = { 50 * MS, 30 * MS, 1000 * MS, 40 * MS, -5 };
    f->options.manual_start_ns = HTW_SECOND;
    scheduler_reopen(f);
    for (unsigned i = 0; i < 5; i++)
        arm_at(f, i, deadlines_ns[i]);
    struct visit *visited = stop(f);
    assert_visited(visited, deadlines_ns, 5);
    free(visited);
}

SCHEDULER_TEST(scheduler_after_stop_every_call_says_so) {
    struct htw_group *group = NULL;
    int64_t deadline = 0;
    arm(f, 0, MS);
    arm_every(f, 1, MS, MS, HTW_REPEAT_SKIP);
    assert_int_equal(htw_scheduler_stop(f->scheduler, NULL, NULL), 0);
    struct htw_scheduler *s = f->scheduler;
    assert_each_schedule_call_answers(s, probe_run, -ESHUTDOWN);
    assert_int_equal(htw_reschedule(s, f->probes[0].handle, 0), -ESHUTDOWN);
    assert_int_equal(htw_reschedule_at(s, f->probes[0].handle, 0), -ESHUTDOWN);
    assert_int_equal(htw_group_create(s, &group), -ESHUTDOWN);
    assert_int_equal(htw_scheduler_advance(s, MS), -ESHUTDOWN);
    assert_int_equal(htw_scheduler_set_time(s, MS), -ESHUTDOWN);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(htw_cancel(s, f->probes[i].handle), HTW_GONE);
        assert_int_equal(htw_cancel_wait(s, f->probes[i].handle), HTW_GONE);
        assert_int_equal(htw_set_period(s, f->probes[i].handle, MS), HTW_GONE);
        assert_false(htw_is_pending(s, f->probes[i].handle));
        assert_int_equal(htw_deadline(s, f->probes[i].handle, &deadline), -ENOENT);
    }
    assert_int_equal(htw_pending(s), 0);
    assert_int_equal(htw_scheduler_now(s), 0);
    assert_int_equal(htw_scheduler_next(s), HTW_NEVER_NS);
    assert_none_ran(f);
}

SCHEDULER_TEST(scheduler_second_stop_finds_nothing) {
    arm(f, 0, MS);
    struct visit *first = stop(f), *second = stop(f);
    assert_int_equal(first->count, 1);
    assert_int_equal(second->count, 0);
    free(first);
    free(second);
}

/* ---- from callbacks and hooks */

static void act_stop(struct probe *self) {
    self->result = htw_scheduler_stop(self->last.scheduler, NULL, NULL) == -EDEADLK &&
                   htw_scheduler_destroy(self->last.scheduler) == -EDEADLK &&
                   htw_scheduler_advance(self->last.scheduler, 0) == -EDEADLK &&
                   htw_scheduler_set_time(self->last.scheduler, 0) == -EDEADLK;
}

SCHEDULER_TEST(scheduler_stop_in_a_callback_is_a_deadlock) {
    for (uint32_t workers = 0; workers <= 2; workers++) {
        f->options.workers = workers;
        scheduler_reopen(f);
        f->probes[0].act = act_stop;
        arm(f, 0, MS);
        advance(f, MS);
        assert_true(f->probes[0].result);
        arm(f, 0, MS);
    }
}

/* ---- while something goes on */

/* The first is running, the others of its tick have been taken; a few are yet to come. */
static void stop_while_running(struct scheduler_fixture *f, uint32_t workers) {
    pthread_t thread;
    void *result;
    f->options.workers = workers;
    f->count = 200;
    scheduler_reopen(f);
    for (unsigned i = 0; i < 200; i++) {
        f->probes[i].act = act_stay;
        arm(f, i, i < 150 ? MS : 2 * MS + i);
    }
    advance_to_gate(f, 10 * MS);
    assert_int_equal(pthread_create(&thread, NULL, stop_unchecked, f), 0);
    /* Only when stop has begun is the gate opened. */
    while (htw_scheduler_advance(f->scheduler, 0) == -EBUSY)
        sched_yield();
    gate_open(&f->gate);
    assert_int_equal(pthread_join(thread, &result), 0);
    advance_past_gate(f);
    struct visit *visited = result;
    assert_visits(visited);
    assert_true(f->log_count >= 1);
    for (size_t i = 0; i < visited->count; i++)
        ((struct probe *)visited->seen[i].leftover.arg)->result++;
    for (unsigned i = 0; i < 200; i++) /* run or handed back, and not both */
        assert_int_equal(f->probes[i].runs + (unsigned)f->probes[i].result, 1);
    free(visited);
}

SCHEDULER_TEST(scheduler_stop_waits_for_what_runs_and_hands_back_the_rest) {
    stop_while_running(f, 0);
    stop_while_running(f, 1);
    stop_while_running(f, 2);
}

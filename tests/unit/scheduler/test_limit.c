/* SPDX-License-Identifier: MIT */
/* test_limit.c - max_pending is reached exactly, and never exceeded. */
/* holds: scheduler-10 */
#include "scheduler_fixture.h"

#include <errno.h>

#define CAP 1000u

static void open_capped(struct scheduler_fixture *f, uint64_t cap, uint32_t shards, size_t probes) {
    f->options.max_pending = cap;
    f->options.shards = shards;
    f->count = probes;
    scheduler_reopen(f);
}

/* No way of scheduling goes beyond the limit, and none changes anything. */
static void assert_full(struct scheduler_fixture *f) {
    struct htw_scheduler_stats before = scheduler_stats(f);
    assert_each_schedule_call_answers(f->scheduler, probe_run, -EAGAIN);
    struct htw_scheduler_stats after = scheduler_stats(f);
    assert_int_equal(after.refused, before.refused + 6);
    assert_int_equal(after.scheduled, before.scheduled);
    assert_int_equal(after.pending, before.pending);
}

static void reach_limit(struct scheduler_fixture *f, uint64_t cap, uint32_t shards) {
    open_capped(f, cap, shards, (size_t)cap + 1);
    for (unsigned i = 0; i < cap; i++) {
        int error = i % 2 ? schedule_numbered(f, i, MS * (1 + i % 9), NULL)
                          : htw_schedule(f->scheduler, MS * (1 + i % 9), probe_run, &f->probes[i],
                                         &f->probes[i].handle);
        assert_int_equal(error, 0);
    }
    assert_int_equal(htw_pending(f->scheduler), cap);
    assert_full(f);
    /* Each that goes makes room for one. */
    for (unsigned i = 0; i < cap; i += 3) {
        assert_int_equal(cancel(f, i), HTW_CANCELLED);
        arm(f, i, 5 * MS);
        assert_int_equal(htw_schedule(f->scheduler, 0, probe_run, &f->probes[cap], NULL), -EAGAIN);
    }
    advance(f, 9 * MS);
    assert_int_equal(f->log_count, cap);
    assert_int_equal(htw_pending(f->scheduler), 0);
    for (unsigned i = 0; i < cap; i++)
        assert_int_equal(schedule_numbered(f, i, HTW_NEVER_NS, NULL), 0);
    assert_full(f);
}

SCHEDULER_TEST(scheduler_limit_is_reached_exactly) {
    static const uint64_t caps[] = { 1, 2, 63, 64, 65, 127, 128, 129, CAP };
    for (size_t i = 0; i < COUNT_OF(caps); i++)
        reach_limit(f, caps[i], 1);
}

SCHEDULER_TEST(scheduler_limit_of_several_shards_is_reached_exactly) {
    static const uint64_t caps[] = { 1, 2, 3, 64, 200, CAP };
    for (size_t i = 0; i < COUNT_OF(caps); i++)
        reach_limit(f, caps[i], 4);
}

/* What one shard holds in reserve is fetched by another, down to the last. */
SCHEDULER_TEST(scheduler_limit_moves_between_shards) {
    open_capped(f, 300, 4, 2000);
    unsigned armed = 0;
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < 300; i++) {
            armed = (armed + 1) % 2000;
            assert_int_equal(schedule_numbered(f, armed, MS, NULL), 0);
        }
        assert_int_equal(htw_schedule(f->scheduler, 0, probe_run, &f->probes[0], NULL), -EAGAIN);
        advance(f, MS);
        assert_int_equal(f->log_count, 300);
        f->log_count = 0;
    }
}

/* ---- what runs does not count */

static void act_schedule_another(struct probe *self) {
    struct scheduler_fixture *f = self->fixture;
    if (self->number + 2 >= f->count)
        return;
    struct probe *next = self + 1;
    self->result = htw_schedule(self->last.scheduler, MS, probe_run, next, &next->handle);
    /* One more is too many. */
    if (self->result == 0 &&
        htw_schedule(self->last.scheduler, MS, probe_run, self, NULL) != -EAGAIN)
        self->result = 1;
}

SCHEDULER_TEST(scheduler_callback_at_a_limit_of_one_may_schedule) {
    open_capped(f, 1, 1, 200);
    for (unsigned i = 0; i < 200; i++)
        f->probes[i].act = act_schedule_another;
    arm(f, 0, MS);
    advance(f, HTW_SECOND);
    assert_int_equal(f->log_count, 199);
    for (unsigned i = 0; i < 199; i++)
        assert_int_equal(f->probes[i].result, 0);
    assert_int_equal(htw_pending(f->scheduler), 0);
    arm(f, 199, MS);
}

static void act_take_the_place(struct probe *self) {
    struct probe *other = self + 1;
    if (htw_schedule(self->last.scheduler, MS, probe_run, other, &other->handle) != 0)
        self->result = 1;
    else
        self->result = htw_reschedule(self->last.scheduler, self->last.handle, MS);
}

/* Another timer has the place: the timer cannot come to life again. */
SCHEDULER_TEST(scheduler_reschedule_in_own_callback_at_the_limit_is_refused) {
    open_capped(f, 1, 1, 2);
    f->probes[0].act = act_take_the_place;
    arm(f, 0, MS);
    advance(f, 10 * MS);
    assert_ran(f, 0, 1);
    assert_int_equal(f->probes[0].result, -EAGAIN);
    assert_int_equal(htw_pending(f->scheduler), 0);
}

/* ---- replacing */

/* Nothing is refused for the limit's sake once all scheduling is. */
SCHEDULER_TEST(scheduler_at_the_limit_after_stop_says_shutdown) {
    open_capped(f, 1, 1, 2);
    arm(f, 0, MS);
    assert_int_equal(htw_scheduler_stop(f->scheduler, NULL, NULL), 0);
    assert_int_equal(htw_schedule(f->scheduler, 0, probe_run, &f->probes[1], NULL), -ESHUTDOWN);
    assert_int_equal(schedule_numbered(f, 1, 0, NULL), -ESHUTDOWN);
    assert_int_equal(scheduler_stats(f).refused, 0);
}

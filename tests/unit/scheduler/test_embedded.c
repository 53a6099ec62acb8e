/* SPDX-License-Identifier: MIT */
/*
 * test_embedded.c - a scheduler inside an event loop. Its clock is a real one, so
 * these tests wait for it; how long that takes does not matter to them.
 */
/* holds: scheduler-24 */
#include "scheduler_fixture.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#define PATIENCE_MS 300000

static void open_embedded(struct scheduler_fixture *f, size_t probes) {
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.embedded = true;
    f->count = probes;
    scheduler_reopen(f);
}

/* Whether the descriptor becomes readable within a time. */
static bool is_readable(struct scheduler_fixture *f, int timeout_ms) {
    struct pollfd file = { .fd = htw_scheduler_fd(f->scheduler), .events = POLLIN };
    assert_true(file.fd >= 0);
    return poll(&file, 1, timeout_ms) == 1 && (file.revents & POLLIN);
}

/* Waits and processes, as an event loop does, until so many callbacks have run. */
static void loop_until(struct scheduler_fixture *f, uint64_t runs) {
    while (f->runs < runs) {
        assert_true(is_readable(f, PATIENCE_MS));
        assert_int_equal(htw_scheduler_process(f->scheduler, 0, NULL), HTW_DONE);
    }
}

SCHEDULER_TEST(scheduler_descriptor_becomes_readable_when_something_is_due) {
    size_t count = 77;
    open_embedded(f, 1);
    assert_false(is_readable(f, 0));
    arm(f, 0, 5 * MS);
    assert_true(is_readable(f, PATIENCE_MS));
    assert_none_ran(f);
    loop_until(f, 1);
    assert_ran(f, 0);
    assert_false(is_readable(f, 0));
    assert_int_equal(htw_scheduler_process(f->scheduler, 0, &count), HTW_DONE);
    assert_int_equal(count, 0);
}

SCHEDULER_TEST(scheduler_earlier_timer_sets_the_descriptor_again) {
    open_embedded(f, 2);
    arm(f, 0, 3600 * HTW_SECOND);
    assert_int_equal(htw_scheduler_process(f->scheduler, 0, NULL), HTW_DONE);
    int64_t far_ns = htw_scheduler_next(f->scheduler);
    assert_false(is_readable(f, 0));
    arm(f, 1, 2 * MS);
    assert_true(htw_scheduler_next(f->scheduler) < far_ns);
    loop_until(f, 1);
    assert_ran(f, 1);
    assert_int_equal(htw_scheduler_next(f->scheduler), far_ns);
    /* By a move as well. */
    assert_int_equal(reschedule(f, 0, MS), HTW_MOVED);
    loop_until(f, 2);
    assert_ran(f, 0);
}

SCHEDULER_TEST(scheduler_process_runs_no_more_than_its_budget) {
    open_embedded(f, 200);
    for (unsigned i = 0; i < 200; i++)
        arm(f, i, 0);
    static const size_t budgets[] = { 1, 1, 63, 64, 65 };
    size_t total = 0, count;
    for (size_t i = 0; i < 5; i++) {
        assert_true(is_readable(f, PATIENCE_MS));
        assert_int_equal(htw_scheduler_process(f->scheduler, budgets[i], &count), HTW_MORE);
        assert_int_equal(count, budgets[i]);
        total += count;
        assert_int_equal(f->runs, total);
        assert_int_equal(htw_pending(f->scheduler), 200 - total);
    }
    assert_true(is_readable(f, PATIENCE_MS));
    assert_int_equal(htw_scheduler_process(f->scheduler, 200 - total, &count), HTW_MORE);
    assert_int_equal(count, 200 - total);
    assert_int_equal(htw_scheduler_process(f->scheduler, 1, &count), HTW_DONE);
    assert_int_equal(count, 0);
    assert_false(is_readable(f, 0));
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(f->probes[i].runs, 1);
}

static void act_again(struct probe *self) {
    self->result = htw_reschedule(self->last.scheduler, self->last.handle, 0);
}

static bool all_have_run(const struct scheduler_fixture *f) {
    bool all = true;
    for (size_t i = 0; i < f->count; i++)
        all &= f->probes[i].runs > 0;
    return all;
}

/* With so fine a tick, what has just run is due again when the next call comes. */
SCHEDULER_TEST(scheduler_budget_that_one_shard_could_spend_reaches_all_shards) {
    f->options.shards = 8;
    f->options.tick_ns = HTW_TICK_NS_MIN;
    open_embedded(f, 64);
    for (unsigned i = 0; i < 64; i++) {
        f->probes[i].act = act_again;
        assert_int_equal(schedule_numbered(f, i, 0, NULL), 0);
    }
    for (unsigned call = 0; call < 100000 && !all_have_run(f); call++) {
        size_t served;
        assert_true(htw_scheduler_process(f->scheduler, 1, &served) >= 0);
        assert_true(served <= 1);
    }
    assert_true(all_have_run(f));
}

static void act_again_at_first(struct probe *self) {
    if (self->runs < 50)
        act_again(self);
}

/* One call for each event, until all have run: an edge that is missing is waited for. Each event is of what a
   callback schedules, or the budget was spent. */
SCHEDULER_TEST(scheduler_edge_occurs_for_what_is_left) {
    for (size_t budget = 0; budget < 2; budget++) {
        struct epoll_event event = { .events = EPOLLIN | EPOLLET };
        int epoll = epoll_create1(EPOLL_CLOEXEC);
        open_embedded(f, 2);
        int fd = htw_scheduler_fd(f->scheduler);
        assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
        for (unsigned i = 0; i < 2; i++) {
            f->probes[i].act = act_again_at_first;
            arm(f, i, i * MS);
        }
        while (f->runs < 100) {
            int count = epoll_wait(epoll, &event, 1, PATIENCE_MS);
            if (count == -1 && errno == EINTR) /* it was stopped, and continued */
                continue;
            assert_int_equal(count, 1);
            assert_true(htw_scheduler_process(f->scheduler, budget, NULL) >= 0);
        }
        close(epoll);
    }
}

/* ---- who is refused */

static void act_process(struct probe *self) {
    self->result = htw_scheduler_process(self->last.scheduler, 0, NULL);
    if (self->result == -EDEADLK)
        self->result = htw_scheduler_stop(self->last.scheduler, NULL, NULL);
}

SCHEDULER_TEST(scheduler_process_in_a_callback_is_a_deadlock) {
    open_embedded(f, 1);
    f->probes[0].act = act_process;
    arm(f, 0, 0);
    loop_until(f, 1);
    assert_int_equal(f->probes[0].result, -EDEADLK);
}

static void *process(void *arg) {
    struct advancer *advancer = arg;
    advancer->result = htw_scheduler_process(advancer->scheduler, 0, NULL);
    return NULL;
}

SCHEDULER_TEST(scheduler_process_while_another_is_in_it_is_busy) {
    open_embedded(f, 1);
    struct advancer advancer = { .scheduler = f->scheduler };
    size_t count = 77;
    f->probes[0].act = act_stay;
    arm(f, 0, 0);
    assert_int_equal(pthread_create(&advancer.thread, NULL, process, &advancer), 0);
    assert_true(gate_await(&f->gate, 1));
    assert_int_equal(htw_scheduler_process(f->scheduler, 0, &count), -EBUSY);
    assert_int_equal(count, 77);
    gate_open(&f->gate);
    assert_int_equal(advancer_join(&advancer), HTW_DONE);
    assert_int_equal(htw_scheduler_process(f->scheduler, 0, &count), HTW_DONE);
}

SCHEDULER_TEST(scheduler_process_after_stop_says_shutdown) {
    open_embedded(f, 1);
    arm(f, 0, 0);
    assert_int_equal(htw_scheduler_stop(f->scheduler, NULL, NULL), 0);
    assert_int_equal(htw_scheduler_process(f->scheduler, 0, NULL), -ESHUTDOWN);
    assert_int_equal(htw_scheduler_next(f->scheduler), HTW_NEVER_NS);
    assert_none_ran(f);
}

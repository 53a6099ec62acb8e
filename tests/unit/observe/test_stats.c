/* SPDX-License-Identifier: MIT */
/* test_stats.c - every counter moves when it should, and only then. The test sees when a thread goes to
   sleep (-Wl,--wrap). */
#include "../../../src/port/alarm.h"
#include "../scheduler/scheduler_fixture.h"

#include <stdatomic.h>

#define DELAY_NS (10 * MS)

/* By how much counters may differ from those before; `demoted` is looked at apart. */
struct moves {
    uint64_t scheduled, fired, cancelled, handed_back, runs, late, missed, refused, moved;
    uint64_t wakeups, empty_wakeups;
    int64_t pending;
};

static struct htw_scheduler_stats before;

static void mark(struct scheduler_fixture *f) {
    before = scheduler_stats(f);
}

static void assert_moves(struct scheduler_fixture *f, const struct moves *moves) {
    struct htw_scheduler_stats now = scheduler_stats(f);
    assert_int_equal(now.scheduled - before.scheduled, moves->scheduled);
    assert_int_equal(now.fired - before.fired, moves->fired);
    assert_int_equal(now.cancelled - before.cancelled, moves->cancelled);
    assert_int_equal(now.handed_back - before.handed_back, moves->handed_back);
    assert_int_equal(now.runs - before.runs, moves->runs);
    assert_int_equal(now.late - before.late, moves->late);
    assert_int_equal(now.missed - before.missed, moves->missed);
    assert_int_equal(now.refused - before.refused, moves->refused);
    assert_int_equal(now.moved - before.moved, moves->moved);
    assert_int_equal(now.wakeups - before.wakeups, moves->wakeups);
    assert_int_equal(now.empty_wakeups - before.empty_wakeups, moves->empty_wakeups);
    assert_int_equal((int64_t)(now.pending - before.pending), moves->pending);
    assert_int_equal(now.running, 0);
    assert_int_equal(now.lateness.count - before.lateness.count, moves->runs);
    assert_int_equal(now.callback.count - before.callback.count, moves->runs);
    before = now;
}

#define assert_moved(self, ...) assert_moves(self, &(struct moves) { __VA_ARGS__ })

LATER_TEST(stats_given_wrongly_are_refused) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    assert_int_equal(htw_scheduler_get_stats(NULL, &stats), -EINVAL);
    assert_int_equal(htw_scheduler_get_stats(f->scheduler, NULL), -EINVAL);
    static const size_t sizes[] = { 0, sizeof(stats) - 1, sizeof(stats) + 1 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        stats.struct_size = sizes[i];
        assert_int_equal(htw_scheduler_get_stats(f->scheduler, &stats), -EINVAL);
        assert_int_equal(stats.struct_size, sizes[i]);
    }
}

static _Atomic unsigned sleeps;

void __real_htw__alarm_wait(struct htw__alarm *alarm);
void __wrap_htw__alarm_wait(struct htw__alarm *alarm);

void __wrap_htw__alarm_wait(struct htw__alarm *alarm) {
    atomic_fetch_add(&sleeps, 1);
    __real_htw__alarm_wait(alarm);
}

LATER_TEST(stats_of_a_thread_that_starts_count_no_wakeup) {
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.start_threads = true;
    scheduler_reopen(f);
    while (atomic_load(&sleeps) == 0)
        sched_yield();
    before = (struct htw_scheduler_stats)HTW_SCHEDULER_STATS_INIT;
    assert_moved(f, 0);
}

/* ---- late; time passes while callbacks run, or is set forward */

LATER_TEST(stats_count_as_late_what_is_later_than_the_threshold) {
    f->options.late_threshold_ns = 2 * MS;
    scheduler_reopen(f);
    mark(f);
    arm(f, 0, DELAY_NS);
    set_time(f, START_NS + DELAY_NS + 2 * MS);
    assert_moved(f, .scheduled = 1, .fired = 1, .runs = 1, .wakeups = 1);
    assert_int_equal(f->probes[0].last.late_ns, 2 * MS);
    arm(f, 0, DELAY_NS);
    set_time(f, htw_scheduler_now(f->scheduler) + DELAY_NS + 2 * MS + 1);
    assert_moved(f, .scheduled = 1, .fired = 1, .runs = 1, .late = 1, .wakeups = 1);
    assert_int_equal(before.lateness.max_ns, 2 * MS + 1);
    assert_int_equal(before.lateness.sum_ns, 4 * MS + 1);
}

static struct htw_scheduler_stats asked;

static void act_ask_stats(struct probe *self) {
    asked = (struct htw_scheduler_stats)HTW_SCHEDULER_STATS_INIT;
    self->result = htw_scheduler_get_stats(self->last.scheduler, &asked);
}

LATER_TEST(stats_asked_for_in_a_callback_count_it_as_running) {
    f->probes[0].act = act_ask_stats;
    arm(f, 0, DELAY_NS);
    arm(f, 1, HTW_SECOND);
    advance(f, DELAY_NS);
    assert_int_equal(f->probes[0].result, 0);
    assert_int_equal(asked.running, 1);
    assert_int_equal(asked.runs, 1);
    assert_int_equal(asked.fired, 0);
    assert_int_equal(asked.pending, 1);
    assert_int_equal(asked.scheduled, 2);
}

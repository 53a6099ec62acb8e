/* SPDX-License-Identifier: MIT */
/* Every counter moves when it should, and only then; what is written for Prometheus is in
   test_scheduler_prometheus.c. */
#include "../../support/scheduler_case.h"

#include "../unit.h"

#include <errno.h>

#define DELAY_NS (10 * HTW_MILLISECOND)

/* By how much counters may differ from those before; `demoted` is looked at apart. */
struct moves {
    uint64_t scheduled, fired, cancelled, handed_back, runs, late, missed, refused, moved;
    uint64_t wakeups, empty_wakeups;
    int64_t pending;
};

static struct htw_scheduler_stats before;

static void mark(const struct scheduler_case *test) {
    before = scheduler_case_stats(test->scheduler);
}

static void assert_moves(const struct scheduler_case *test, const struct moves *moves) {
    struct htw_scheduler_stats now = scheduler_case_stats(test->scheduler);
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

static void stats_given_wrongly_are_refused(void **state) {
    struct scheduler_case *test = *state;
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    assert_int_equal(htw_scheduler_get_stats(NULL, &stats), -EINVAL);
    assert_int_equal(htw_scheduler_get_stats(test->scheduler, NULL), -EINVAL);
    stats.struct_size--;
    assert_int_equal(htw_scheduler_get_stats(test->scheduler, &stats), -EINVAL);
    stats.struct_size = 0;
    assert_int_equal(htw_scheduler_get_stats(test->scheduler, &stats), -EINVAL);
}

static void stats_of_a_new_scheduler_are_zero(void **state) {
    struct scheduler_case *test = *state;
    before = (struct htw_scheduler_stats)HTW_SCHEDULER_STATS_INIT;
    assert_moves(test, &(struct moves) { 0 });
    assert_int_equal(before.demoted, 0);
    assert_int_equal(before.lateness.sum_ns + before.lateness.max_ns + before.lateness.p999_ns, 0);
    assert_true(before.memory_bytes > 0);
    assert_int_equal(before.struct_size, sizeof(before));
}

static void stats_of_a_timer_that_fires(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    mark(test);
    probe_schedule(&a, DELAY_NS);
    assert_moves(test, &(struct moves) { .scheduled = 1, .pending = 1 });
    scheduler_case_advance(test, DELAY_NS - 1);
    assert_moves(test, &(struct moves) { 0 });
    scheduler_case_advance(test, 1);
    assert_moves(test, &(struct moves) { .fired = 1, .runs = 1, .wakeups = 1, .pending = -1 });
    scheduler_case_advance(test, HTW_SECOND);
    assert_moves(test, &(struct moves) { 0 });
}

static void stats_of_a_timer_that_is_moved_and_cancelled(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    probe_schedule(&a, DELAY_NS);
    mark(test);
    assert_int_equal(htw_reschedule(test->scheduler, a.handle, 2 * DELAY_NS), HTW_MOVED);
    assert_moves(test, &(struct moves) { .moved = 1 });
    assert_int_equal(htw_reschedule_at(test->scheduler, a.handle, HTW_NEVER_NS), HTW_MOVED);
    assert_moves(test, &(struct moves) { .moved = 1 });
    assert_int_equal(htw_cancel(test->scheduler, a.handle), HTW_CANCELLED);
    assert_moves(test, &(struct moves) { .cancelled = 1, .pending = -1 });
    assert_int_equal(htw_cancel(test->scheduler, a.handle), HTW_GONE);
    assert_int_equal(htw_reschedule(test->scheduler, a.handle, DELAY_NS), HTW_GONE);
    assert_int_equal(htw_reschedule(test->scheduler, 0, DELAY_NS), HTW_GONE);
    assert_moves(test, &(struct moves) { 0 });
}

static void stats_of_a_timer_moved_earlier_count_no_empty_wakeup(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    probe_schedule(&a, HTW_SECOND);
    assert_int_equal(htw_reschedule(test->scheduler, a.handle, DELAY_NS), HTW_MOVED);
    mark(test);
    scheduler_case_advance(test, DELAY_NS);
    assert_moves(test, &(struct moves) { .fired = 1, .runs = 1, .wakeups = 1, .pending = -1 });
}

static void stats_of_a_wakeup_for_a_cancelled_timer_count_it_as_empty(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    probe_schedule(&a, DELAY_NS);
    assert_int_equal(htw_cancel(test->scheduler, a.handle), HTW_CANCELLED);
    mark(test);
    scheduler_case_advance(test, HTW_SECOND);
    struct htw_scheduler_stats now = scheduler_case_stats(test->scheduler);
    /* Whether there is one is the scheduler's business. */
    assert_int_equal(now.wakeups - before.wakeups, now.empty_wakeups - before.empty_wakeups);
    assert_true(now.wakeups - before.wakeups <= 1);
}

static void stats_of_a_repeating_timer_count_its_runs_apart(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    mark(test);
    assert_int_equal(htw_schedule_every(test->scheduler, DELAY_NS, DELAY_NS, HTW_REPEAT_SKIP,
                                        case_probe_run, &a, &a.handle),
                     0);
    scheduler_case_advance(test, 5 * DELAY_NS);
    assert_moves(test, &(struct moves) { .scheduled = 1, .runs = 5, .wakeups = 5, .pending = 1 });
    assert_int_equal(htw_cancel(test->scheduler, a.handle), HTW_CANCELLED);
    assert_moves(test, &(struct moves) { .cancelled = 1, .pending = -1 });
}

static unsigned cancel_itself(struct probe *probe) {
    return (unsigned)htw_cancel(probe->test->scheduler, probe->handle);
}

static void stats_of_a_repeating_timer_cancelled_in_a_run_count_it_as_fired(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    mark(test);
    assert_int_equal(htw_schedule_every(test->scheduler, DELAY_NS, DELAY_NS, HTW_REPEAT_SKIP,
                                        case_probe_run, &a, &a.handle),
                     0);
    scheduler_case_advance(test, 2 * DELAY_NS);
    a.during = cancel_itself;
    scheduler_case_advance(test, 9 * DELAY_NS);
    assert_moves(test, &(struct moves) { .scheduled = 1, .fired = 1, .runs = 3, .wakeups = 3 });
}

static unsigned come_again_once(struct probe *probe) {
    if (probe->runs > 1)
        return 0;
    return (unsigned)htw_reschedule(probe->test->scheduler, probe->handle, DELAY_NS);
}

static void stats_of_a_timer_that_comes_again_count_it_once(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    mark(test);
    a.during = come_again_once;
    probe_schedule(&a, DELAY_NS);
    scheduler_case_advance(test, 9 * DELAY_NS);
    assert_moves(
        test, &(struct moves) { .scheduled = 1, .fired = 1, .runs = 2, .moved = 1, .wakeups = 2 });
}

static void stats_of_a_replaced_timer_count_it_as_cancelled(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = case_probe_spec(&a, DELAY_NS);
    spec.key = "key";
    spec.key_size = 3;
    probe_schedule_spec(&a, &spec);
    mark(test);
    assert_int_equal(htw_schedule_spec(test->scheduler, &spec, NULL, NULL), 0);
    assert_moves(test, &(struct moves) { .scheduled = 1, .cancelled = 1 });
    spec.keep_existing = true;
    assert_int_equal(htw_schedule_spec(test->scheduler, &spec, NULL, NULL), -EEXIST);
    assert_moves(test, &(struct moves) { 0 });
}

static void stats_of_what_is_refused_count_eagain_only(void **state) {
    (void)state;
    struct scheduler_case test;
    struct htw_scheduler_options options = scheduler_case_options();
    options.max_pending = 1;
    scheduler_case_begin(&test, &options);
    struct probe a = scheduler_case_probe(&test, 'a');
    struct htw_spec spec = case_probe_spec_hooked(&a, DELAY_NS);
    probe_schedule(&a, DELAY_NS);
    mark(&test);
    assert_int_equal(htw_schedule(test.scheduler, 0, case_probe_run, &a, NULL), -EAGAIN);
    assert_moves(&test, &(struct moves) { .refused = 1 });
    assert_int_equal(htw_schedule_spec(test.scheduler, &spec, NULL, NULL), -EAGAIN);
    assert_moves(&test, &(struct moves) { .refused = 1 });
    assert_int_equal(htw_schedule(test.scheduler, 0, NULL, &a, NULL), -EINVAL);
    assert_int_equal(
        htw_schedule_every(test.scheduler, 0, 0, HTW_REPEAT_SKIP, case_probe_run, &a, NULL),
        -EINVAL);
    assert_moves(&test, &(struct moves) { 0 });
    assert_int_equal(htw_scheduler_stop(test.scheduler, NULL, NULL), 0);
    assert_moves(&test, &(struct moves) { .handed_back = 1, .pending = -1 });
    assert_int_equal(htw_schedule(test.scheduler, 0, case_probe_run, &a, NULL), -ESHUTDOWN);
    assert_int_equal(htw_schedule_spec(test.scheduler, &spec, NULL, NULL), -ESHUTDOWN);
    assert_moves(&test, &(struct moves) { 0 });
    scheduler_case_end(&test);
}

/* ---- late, missed, distributions: time passes while callbacks run, or is set forward */

static void set_time(struct scheduler_case *test, int64_t time_ns) {
    assert_int_equal(htw_scheduler_set_time(test->scheduler, time_ns), 0);
}

static void stats_count_as_late_what_is_later_than_the_threshold(void **state) {
    (void)state;
    struct scheduler_case test;
    struct htw_scheduler_options options = scheduler_case_options();
    options.late_threshold_ns = 2 * HTW_MILLISECOND;
    scheduler_case_begin(&test, &options);
    struct probe a = scheduler_case_probe(&test, 'a');
    mark(&test);
    probe_schedule(&a, DELAY_NS);
    set_time(&test, CASE_START_NS + DELAY_NS + 2 * HTW_MILLISECOND);
    assert_moves(&test, &(struct moves) { .scheduled = 1, .fired = 1, .runs = 1, .wakeups = 1 });
    assert_int_equal(a.last.late_ns, 2 * HTW_MILLISECOND);
    probe_schedule(&a, DELAY_NS);
    set_time(&test, htw_scheduler_now(test.scheduler) + DELAY_NS + 2 * HTW_MILLISECOND + 1);
    assert_moves(
        &test, &(struct moves) { .scheduled = 1, .fired = 1, .runs = 1, .late = 1, .wakeups = 1 });
    assert_int_equal(before.lateness.max_ns, 2 * HTW_MILLISECOND + 1);
    assert_int_equal(before.lateness.sum_ns, 4 * HTW_MILLISECOND + 1);
    scheduler_case_end(&test);
}

static void stats_without_a_threshold_count_ten_milliseconds_as_late(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    probe_schedule(&a, DELAY_NS);
    set_time(test, CASE_START_NS + DELAY_NS + 10 * HTW_MILLISECOND);
    assert_int_equal(scheduler_case_stats(test->scheduler).late, 0);
    probe_schedule(&b, DELAY_NS);
    set_time(test, CASE_START_NS + 3 * DELAY_NS + 10 * HTW_MILLISECOND + 1);
    assert_int_equal(scheduler_case_stats(test->scheduler).late, 1);
}

static void stats_count_missed_periods_with_the_run_that_missed_them(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    assert_int_equal(htw_schedule_every(test->scheduler, DELAY_NS, DELAY_NS, HTW_REPEAT_SKIP,
                                        case_probe_run, &a, &a.handle),
                     0);
    set_time(test, CASE_START_NS + 4 * DELAY_NS + 1);
    assert_int_equal(a.runs, 1);
    assert_int_equal(scheduler_case_stats(test->scheduler).missed, 3);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(a.last.missed, 3);
    assert_int_equal(scheduler_case_stats(test->scheduler).missed, 3);
}

static void stats_of_lateness_tell_percentiles(void **state) {
    struct scheduler_case *test = *state;
    enum { COUNT = 1000 };
    static struct probe probes[COUNT];
    /* All are taken at one instant, so that the i-th is late by i milliseconds. */
    for (unsigned i = 0; i < COUNT; i++) {
        probes[i] = scheduler_case_probe(test, 'p');
        probe_schedule(&probes[i], (COUNT - i) * HTW_MILLISECOND);
    }
    set_time(test, CASE_START_NS + COUNT * HTW_MILLISECOND);
    struct htw_distribution lateness = scheduler_case_stats(test->scheduler).lateness;
    assert_int_equal(lateness.count, COUNT);
    assert_int_equal(lateness.max_ns, (COUNT - 1) * HTW_MILLISECOND);
    assert_int_equal(lateness.sum_ns, (uint64_t)COUNT * (COUNT - 1) / 2 * HTW_MILLISECOND);
    assert_in_range(lateness.p50_ns, 499 * HTW_MILLISECOND, 508 * HTW_MILLISECOND);
    assert_in_range(lateness.p90_ns, 899 * HTW_MILLISECOND, 915 * HTW_MILLISECOND);
    assert_in_range(lateness.p99_ns, 989 * HTW_MILLISECOND, 999 * HTW_MILLISECOND);
    assert_in_range(lateness.p999_ns, 998 * HTW_MILLISECOND, 999 * HTW_MILLISECOND);
}

static unsigned ask_stats(struct probe *probe) {
    struct htw_scheduler_stats *stats = probe->context;
    *stats = (struct htw_scheduler_stats)HTW_SCHEDULER_STATS_INIT;
    return (unsigned)htw_scheduler_get_stats(probe->test->scheduler, stats);
}

static void stats_asked_for_in_a_callback_count_it_as_running(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_scheduler_stats stats;
    a.during = ask_stats;
    a.context = &stats;
    probe_schedule(&a, DELAY_NS);
    probe_schedule(&b, HTW_SECOND);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(a.answer, 0);
    assert_int_equal(stats.running, 1);
    assert_int_equal(stats.runs, 1);
    assert_int_equal(stats.fired, 0);
    assert_int_equal(stats.pending, 1);
    assert_int_equal(stats.scheduled, 2);
}

/* ---- demotions and memory */

static void stats_count_demotions_and_never_go_back(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    probe_schedule(&a, 3700 * HTW_SECOND + HTW_MILLISECOND);
    probe_schedule(&b, 3700 * HTW_SECOND);
    scheduler_case_advance(test, 3700 * HTW_SECOND);
    uint64_t demoted = scheduler_case_stats(test->scheduler).demoted;
    assert_true(demoted >= 1);
    set_time(test, CASE_START_NS - 500 * HTW_SECOND); /* into a new wheel */
    probe_schedule(&b, HTW_SECOND);
    scheduler_case_advance(test, HTW_SECOND);
    assert_int_equal(b.runs, 2);
    assert_true(scheduler_case_stats(test->scheduler).demoted >= demoted);
}

static void assert_memory_is_told(const struct scheduler_case *test) {
    assert_int_equal(scheduler_case_stats(test->scheduler).memory_bytes, test->memory.live_bytes);
}

static void stats_of_memory_are_what_the_allocator_gave(void **state) {
    struct scheduler_case *test = *state;
    static struct probe probes[600];
    assert_memory_is_told(test);
    uint64_t empty = scheduler_case_stats(test->scheduler).memory_bytes;
    for (unsigned i = 0; i < 600; i++) {
        probes[i] = scheduler_case_probe(test, 'p');
        struct htw_spec spec = case_probe_spec_hooked(&probes[i], (1 + i) * HTW_SECOND);
        spec.key = &i;
        spec.key_size = sizeof(i);
        probe_schedule_spec(&probes[i], &spec);
        assert_memory_is_told(test);
    }
    assert_true(scheduler_case_stats(test->scheduler).memory_bytes > empty + 600 * 100);
    scheduler_case_advance(test, 300 * HTW_SECOND);
    assert_memory_is_told(test);
    for (unsigned i = 300; i < 600; i++)
        assert_int_equal(htw_cancel(test->scheduler, probes[i].handle), HTW_CANCELLED);
    assert_memory_is_told(test);
}

static void stats_of_memory_count_groups(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    assert_int_equal(htw_group_create(test->scheduler, &test->group), 0);
    assert_memory_is_told(test);
    struct htw_spec spec = case_probe_spec(&a, DELAY_NS);
    spec.group = test->group;
    spec.key = "key";
    spec.key_size = 3;
    probe_schedule_spec(&a, &spec);
    assert_memory_is_told(test);
    scheduler_case_advance(test, DELAY_NS);
    htw_group_destroy(test->group);
    test->group = NULL;
    assert_memory_is_told(test);
}

static void stats_of_memory_fall_when_many_timers_have_gone(void **state) {
    struct scheduler_case *test = *state;
    enum { COUNT = 40000 };
    static htw_handle handles[COUNT];
    struct probe a = scheduler_case_probe(test, 'a');
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(htw_schedule(test->scheduler, DELAY_NS, case_probe_run, &a, &handles[i]),
                         0);
    uint64_t full = scheduler_case_stats(test->scheduler).memory_bytes;
    assert_memory_is_told(test);
    assert_true(full > COUNT * 64u);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(htw_cancel(test->scheduler, handles[i]), HTW_CANCELLED);
    scheduler_case_advance(test, HTW_SECOND);
    assert_memory_is_told(test);
    assert_true(scheduler_case_stats(test->scheduler).memory_bytes < full / 4);
}

#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, scheduler_case_setup, scheduler_case_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(stats_given_wrongly_are_refused),
        CASE(stats_of_a_new_scheduler_are_zero),
        CASE(stats_of_a_timer_that_fires),
        CASE(stats_of_a_timer_that_is_moved_and_cancelled),
        CASE(stats_of_a_timer_moved_earlier_count_no_empty_wakeup),
        CASE(stats_of_a_wakeup_for_a_cancelled_timer_count_it_as_empty),
        CASE(stats_of_a_repeating_timer_count_its_runs_apart),
        CASE(stats_of_a_repeating_timer_cancelled_in_a_run_count_it_as_fired),
        CASE(stats_of_a_timer_that_comes_again_count_it_once),
        CASE(stats_of_a_replaced_timer_count_it_as_cancelled),
        cmocka_unit_test(stats_of_what_is_refused_count_eagain_only),
        cmocka_unit_test(stats_count_as_late_what_is_later_than_the_threshold),
        CASE(stats_without_a_threshold_count_ten_milliseconds_as_late),
        CASE(stats_count_missed_periods_with_the_run_that_missed_them),
        CASE(stats_of_lateness_tell_percentiles),
        CASE(stats_asked_for_in_a_callback_count_it_as_running),
        CASE(stats_count_demotions_and_never_go_back),
        CASE(stats_of_memory_are_what_the_allocator_gave),
        CASE(stats_of_memory_count_groups),
        CASE(stats_of_memory_fall_when_many_timers_have_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

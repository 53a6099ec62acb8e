/* SPDX-License-Identifier: MIT */
/* Every allocation refused in turn: the answer is -ENOMEM, nothing has changed, nothing leaks. */
#include "../../support/scheduler_case.h"

#include "../unit.h"

#include <errno.h>
#include <string.h>

#define DELAY_NS (10 * HTW_MILLISECOND)

/* More than any single call asks for. */
enum { REQUESTS_MAX = 200 };

/* What must not change when a call fails. */
struct snapshot {
    struct htw_scheduler_stats stats;
    size_t blocks;
    uint64_t group_count;
};

static struct snapshot take_snapshot(const struct scheduler_case *test) {
    return (struct snapshot) { scheduler_case_stats(test->scheduler), test->memory.live_blocks,
                               htw_group_count(test->group) };
}

/* `spare`: blocks that a call that failed may keep for the next one. */
static void assert_unchanged(const struct scheduler_case *test, const struct snapshot *before,
                             size_t spare) {
    struct snapshot now = take_snapshot(test);
    assert_in_range(now.blocks, before->blocks, before->blocks + spare);
    assert_int_equal(now.group_count, before->group_count);
    assert_int_equal(now.stats.memory_bytes, test->memory.live_bytes);
    now.stats.memory_bytes = before->stats.memory_bytes;
    assert_memory_equal(&now.stats, &before->stats, sizeof(now.stats));
}

static void check_create(const struct htw_scheduler_options *like) {
    struct failing_allocator memory;
    failing_allocator_init(&memory);
    struct htw_scheduler_options options = *like;
    options.allocator = &memory.allocator;
    for (unsigned forever = 0; forever < 2; forever++) {
        int error = -ENOMEM;
        for (size_t nth = 1; error != 0; nth++) {
            struct htw_scheduler *scheduler = NULL;
            assert_true(nth < REQUESTS_MAX);
            failing_allocator_fail(&memory, nth, forever);
            size_t refusals = memory.refusals;
            error = htw_scheduler_create(&scheduler, &options);
            bool refused = memory.refusals > refusals;
            assert_int_equal(error, refused ? -ENOMEM : 0);
            failing_allocator_relent(&memory);
            if (error == 0)
                assert_int_equal(htw_scheduler_destroy(scheduler), 0);
            else
                assert_null(scheduler);
            assert_null(memory.error);
            assert_int_equal(memory.live_blocks, 0);
        }
    }
    failing_allocator_fini(&memory);
}

static void never_execute(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    (void)tasks;
    (void)count;
}

static void create_refused_memory_leaves_nothing(void **state) {
    (void)state;
    struct htw_scheduler_options options = scheduler_case_options();
    options.shards = 3;
    check_create(&options);
    options.workers = 3;
    check_create(&options);
    options.start_threads = true; /* threads end before create returns, or in destroy */
    check_create(&options);
    options = scheduler_case_options();
    options.executor = &(struct htw_executor) { never_execute, NULL };
    check_create(&options);
    options = (struct htw_scheduler_options)HTW_SCHEDULER_OPTIONS_INIT;
    options.shards = 2;
    options.expirers = 2;
    check_create(&options);
    options.workers = 0;
    check_create(&options);
    options.embedded = true;
    check_create(&options);
}

/* ---- calls */

/* What is tried again and again: 0 or greater when it succeeds. */
typedef int attempt(struct scheduler_case *test);

static struct probe subject, other;

/* Refuses the first request, the second and so on, until the call makes do with those before. */
static void check_attempt(struct scheduler_case *test, attempt *call, int expected, size_t spare) {
    int result = -ENOMEM;
    for (size_t nth = 1; result == -ENOMEM; nth++) {
        assert_true(nth < REQUESTS_MAX);
        struct snapshot before = take_snapshot(test);
        failing_allocator_fail(&test->memory, nth, nth % 2 == 0);
        result = call(test);
        failing_allocator_relent(&test->memory);
        if (result == -ENOMEM)
            assert_unchanged(test, &before, spare);
    }
    assert_int_equal(result, expected);
    assert_adds_up(test->scheduler);
}

static int schedule_soon(struct scheduler_case *test) {
    return htw_schedule(test->scheduler, DELAY_NS, case_probe_run, &subject, &subject.handle);
}

static int schedule_far(struct scheduler_case *test) {
    return htw_schedule(test->scheduler, HTW_NEVER_NS / 2, case_probe_run, &subject,
                        &subject.handle);
}

/* The wheel keeps levels that it has made, and the shard its page. */
static void schedule_refused_memory_changes_nothing(void **state) {
    struct scheduler_case *test = *state;
    subject = scheduler_case_probe(test, 's');
    check_attempt(test, schedule_soon, 0, 2);
    check_attempt(test, schedule_far, 0, 16);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(subject.runs, 1);
}

static int schedule_all_features(struct scheduler_case *test) {
    struct htw_spec spec = case_probe_spec_hooked(&subject, 40 * 24 * 3600 * HTW_SECOND);
    spec.latest_ns = spec.when_ns + HTW_SECOND;
    spec.key = "some key";
    spec.key_size = 8;
    spec.group = test->group;
    spec.period_ns = DELAY_NS;
    return htw_schedule_spec(test->scheduler, &spec, &subject.handle, NULL);
}

static void schedule_with_all_features_refused_memory_changes_nothing(void **state) {
    struct scheduler_case *test = *state;
    assert_int_equal(htw_group_create(test->scheduler, &test->group), 0);
    subject = scheduler_case_probe(test, 's');
    check_attempt(test, schedule_all_features, 0, 16);
    assert_int_equal(subject.releases, 0);
    assert_true(htw_is_pending(test->scheduler, subject.handle));
    assert_int_equal(htw_find_key(test->scheduler, test->group, "some key", 8), subject.handle);
    /* Another one under that key: the first stays what it is until the second can be armed. */
    htw_handle first = subject.handle;
    failing_allocator_fail(&test->memory, 1, true);
    assert_int_equal(schedule_all_features(test), -ENOMEM);
    failing_allocator_relent(&test->memory);
    assert_int_equal(htw_find_key(test->scheduler, test->group, "some key", 8), first);
    assert_int_equal(subject.releases, 0);
    assert_int_equal(schedule_all_features(test), 0);
    assert_int_equal(subject.releases, 1);
}

static int replace_by_far(struct scheduler_case *test) {
    struct htw_spec spec = case_probe_spec(&subject, HTW_NEVER_NS / 2);
    spec.key = "k";
    spec.key_size = 1;
    return htw_schedule_spec(test->scheduler, &spec, &subject.handle, NULL);
}

static void replace_refused_memory_keeps_the_old_timer(void **state) {
    struct scheduler_case *test = *state;
    subject = scheduler_case_probe(test, 's');
    other = scheduler_case_probe(test, 'o');
    struct htw_spec spec = case_probe_spec(&other, DELAY_NS);
    spec.key = "k";
    spec.key_size = 1;
    probe_schedule_spec(&other, &spec);
    check_attempt(test, replace_by_far, 0, 16);
    assert_int_equal(htw_find_key(test->scheduler, NULL, "k", 1), subject.handle);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(other.runs, 0);
}

static int move_far(struct scheduler_case *test) {
    return htw_reschedule(test->scheduler, subject.handle, HTW_NEVER_NS / 2);
}

static int move_far_at(struct scheduler_case *test) {
    return htw_reschedule_at(test->scheduler, subject.handle, HTW_NEVER_NS / 2);
}

static void reschedule_refused_memory_leaves_the_old_deadline(void **state) {
    attempt *const calls[] = { move_far, move_far_at };
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct scheduler_case test;
        struct htw_scheduler_options options = scheduler_case_options();
        scheduler_case_begin(&test, &options);
        subject = scheduler_case_probe(&test, 's');
        probe_schedule(&subject, DELAY_NS);
        failing_allocator_fail(&test.memory, 1, true);
        assert_int_equal(calls[i](&test), -ENOMEM);
        failing_allocator_relent(&test.memory);
        int64_t deadline_ns;
        assert_int_equal(htw_deadline(test.scheduler, subject.handle, &deadline_ns), 0);
        assert_int_equal(deadline_ns, CASE_START_NS + DELAY_NS);
        scheduler_case_advance(&test, DELAY_NS);
        assert_int_equal(subject.runs, 1);
        probe_schedule(&subject, DELAY_NS);
        check_attempt(&test, calls[i], HTW_MOVED, 16);
        scheduler_case_advance(&test, DELAY_NS);
        assert_int_equal(subject.runs, 1);
        scheduler_case_end(&test);
    }
}

static int create_group(struct scheduler_case *test) {
    return htw_group_create(test->scheduler, &test->group);
}

static void group_refused_memory_is_not_created(void **state) {
    struct scheduler_case *test = *state;
    check_attempt(test, create_group, 0, 0);
    assert_non_null(test->group);
}

static int ask_stats(struct scheduler_case *test) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    return htw_scheduler_get_stats(test->scheduler, &stats);
}

static void stats_refused_memory_are_not_given(void **state) {
    struct scheduler_case *test = *state;
    check_attempt(test, ask_stats, 0, 0);
}

/* ---- what cannot fail makes do without memory */

static unsigned come_again_far(struct probe *probe) {
    if (probe->runs > 1)
        return 0;
    return (unsigned)htw_reschedule(probe->test->scheduler, probe->handle, 3600 * HTW_SECOND);
}

static void rearmed_without_memory_comes_at_its_time_all_the_same(void **state) {
    struct scheduler_case *test = *state;
    subject = scheduler_case_probe(test, 's');
    other = scheduler_case_probe(test, 'o');
    subject.during = come_again_far;
    probe_schedule(&subject, DELAY_NS);
    assert_int_equal(htw_schedule_every(test->scheduler, DELAY_NS, 3600 * HTW_SECOND,
                                        HTW_REPEAT_SKIP, case_probe_run, &other, &other.handle),
                     0);
    failing_allocator_fail(&test->memory, 1, true);
    scheduler_case_advance(test, DELAY_NS + 5 * HTW_SECOND);
    assert_int_equal(subject.answer, HTW_MOVED);
    assert_int_equal(subject.runs + other.runs, 2);
    scheduler_case_advance(test, 3600 * HTW_SECOND - 5 * HTW_SECOND - 1);
    assert_int_equal(subject.runs + other.runs, 2);
    scheduler_case_advance(test, 1);
    failing_allocator_relent(&test->memory);
    assert_int_equal(subject.runs, 2);
    assert_int_equal(other.runs, 2);
    assert_false(subject.early || other.early);
}

/* It waits in the farthest bucket that there is, and each time that this comes up costs one
   wake-up: with one level of 256 ticks 255 apart, with two 65 280. */
static void rearmed_without_memory_wakes_up_once_a_turn(void **state) {
    (void)state;
    static const struct {
        int64_t longest_ns; /* what there is room for before */
        int64_t period_ns;
        uint64_t wakeups;
    } cases[] = {
        { 0, 10 * HTW_SECOND, 10000 / 255 },
        { 60 * HTW_SECOND, 3600 * HTW_SECOND, 3600000 / 65280 },
    };
    for (size_t i = 0; i < 2; i++) {
        struct scheduler_case test;
        struct htw_scheduler_options options = scheduler_case_options();
        scheduler_case_begin(&test, &options);
        struct probe repeats = scheduler_case_probe(&test, 'r');
        struct probe far = scheduler_case_probe(&test, 'f');
        if (cases[i].longest_ns > 0) {
            probe_schedule(&far, cases[i].longest_ns);
            assert_int_equal(htw_cancel(test.scheduler, far.handle), HTW_CANCELLED);
        }
        struct htw_spec spec = case_probe_spec(&repeats, HTW_MILLISECOND);
        spec.period_ns = cases[i].period_ns;
        probe_schedule_spec(&repeats, &spec);
        uint64_t before = scheduler_case_stats(test.scheduler).wakeups;
        failing_allocator_fail(&test.memory, 1, true);
        scheduler_case_advance(&test, HTW_MILLISECOND + cases[i].period_ns);
        failing_allocator_relent(&test.memory);
        uint64_t wakeups = scheduler_case_stats(test.scheduler).wakeups - before;
        assert_string_equal(scheduler_case_log(&test), "rr");
        assert_int_equal(repeats.last.late_ns, 0);
        assert_in_range(wakeups, 3, cases[i].wakeups + 5);
        assert_in_range(test.memory.refusals, 1, 3 * wakeups);
        assert_int_equal(htw_cancel(test.scheduler, repeats.handle), HTW_CANCELLED);
        scheduler_case_end(&test);
    }
}

static void resumed_without_memory_comes_at_its_time_all_the_same(void **state) {
    struct scheduler_case *test = *state;
    assert_int_equal(htw_group_create(test->scheduler, &test->group), 0);
    subject = scheduler_case_probe(test, 's');
    struct htw_spec spec = case_probe_spec(&subject, 3600 * HTW_SECOND);
    spec.group = test->group;
    assert_int_equal(htw_group_pause(test->group), 0);
    probe_schedule_spec(&subject, &spec);
    failing_allocator_fail(&test->memory, 1, true);
    assert_int_equal(htw_group_resume(test->group), 0);
    scheduler_case_advance(test, 3600 * HTW_SECOND - 1);
    assert_int_equal(subject.runs, 0);
    scheduler_case_advance(test, 1);
    failing_allocator_relent(&test->memory);
    assert_int_equal(subject.runs, 1);
}

/* A step back wants a new wheel. */
static void clock_set_back_without_memory_runs_nothing_early(void **state) {
    (void)state;
    for (size_t nth = 1; nth < 8; nth++) {
        struct scheduler_case test;
        struct htw_scheduler_options options = scheduler_case_options();
        scheduler_case_begin(&test, &options);
        struct probe probes[4];
        static const int64_t at_s[] = { 1005, 1100, 990, 995 };
        for (unsigned i = 0; i < 2; i++) {
            probes[i] = scheduler_case_probe(&test, (char)('a' + i));
            assert_int_equal(htw_schedule_at(test.scheduler, at_s[i] * HTW_SECOND, case_probe_run,
                                             &probes[i], NULL),
                             0);
        }
        failing_allocator_fail(&test.memory, nth, nth % 2 == 1);
        assert_int_equal(htw_scheduler_set_time(test.scheduler, 980 * HTW_SECOND), 0);
        for (unsigned i = 2; i < 4; i++) {
            probes[i] = scheduler_case_probe(&test, (char)('a' + i));
            int error = htw_schedule_at(test.scheduler, at_s[i] * HTW_SECOND, case_probe_run,
                                        &probes[i], NULL);
            if (error != 0) {
                assert_int_equal(error, -ENOMEM);
                failing_allocator_relent(&test.memory);
                i--;
            }
        }
        scheduler_case_advance(&test, HTW_SECOND);
        assert_string_equal(scheduler_case_log(&test), "");
        scheduler_case_advance(&test, 119 * HTW_SECOND);
        failing_allocator_relent(&test.memory);
        scheduler_case_advance(&test, HTW_SECOND);
        assert_string_equal(scheduler_case_log(&test), "cdab");
        for (unsigned i = 0; i < 4; i++) {
            assert_false(probes[i].early);
            assert_true(probes[i].ran_ns - at_s[i] * HTW_SECOND <= HTW_MILLISECOND);
        }
        scheduler_case_end(&test);
    }
}

static void stop_without_memory_hands_everything_back(void **state) {
    (void)state;
    struct scheduler_case test;
    struct htw_scheduler_options options = scheduler_case_options();
    scheduler_case_begin(&test, &options);
    struct probe a = scheduler_case_probe(&test, 'a'), b = scheduler_case_probe(&test, 'b');
    struct htw_spec spec = case_probe_spec_hooked(&b, HTW_NEVER_NS);
    probe_schedule(&a, DELAY_NS);
    probe_schedule_spec(&b, &spec);
    failing_allocator_fail(&test.memory, 1, true);
    assert_int_equal(htw_scheduler_stop(test.scheduler, case_probe_visit, NULL), 0);
    failing_allocator_relent(&test.memory);
    const char *log = scheduler_case_log(&test); /* in no particular order */
    assert_int_equal(strlen(log), 5);
    assert_non_null(strstr(log, "!a"));
    assert_non_null(strstr(log, "!bB"));
    scheduler_case_end(&test);
}

#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, scheduler_case_setup, scheduler_case_teardown)

/* So that a burst which comes again and again does not ask for memory each time. */
static void shard_that_is_empty_again_keeps_one_page(void **state) {
    enum { TIMERS = 10000 }; /* some three pages */
    static htw_handle handles[TIMERS];
    struct scheduler_case *test = *state;
    struct probe probe = scheduler_case_probe(test, 'p');
    size_t before = test->memory.live_bytes;
    for (int i = 0; i < TIMERS; i++)
        assert_int_equal(
            htw_schedule(test->scheduler, DELAY_NS, case_probe_run, &probe, &handles[i]), 0);
    size_t most = test->memory.live_bytes;
    for (int i = 0; i < TIMERS; i++)
        assert_int_equal(htw_cancel(test->scheduler, handles[i]), HTW_CANCELLED);
    scheduler_case_advance(test, HTW_SECOND); /* cleans up */
    assert_true(test->memory.live_bytes < before + (most - before) / 2);
    size_t kept = test->memory.live_bytes;
    probe_schedule(&probe, DELAY_NS);
    assert_true(test->memory.live_bytes < kept + 128 * 1024); /* a level perhaps, but no page */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_refused_memory_leaves_nothing),
        CASE(schedule_refused_memory_changes_nothing),
        CASE(schedule_with_all_features_refused_memory_changes_nothing),
        CASE(replace_refused_memory_keeps_the_old_timer),
        cmocka_unit_test(reschedule_refused_memory_leaves_the_old_deadline),
        CASE(group_refused_memory_is_not_created),
        CASE(stats_refused_memory_are_not_given),
        CASE(rearmed_without_memory_comes_at_its_time_all_the_same),
        cmocka_unit_test(rearmed_without_memory_wakes_up_once_a_turn),
        CASE(resumed_without_memory_comes_at_its_time_all_the_same),
        cmocka_unit_test(clock_set_back_without_memory_runs_nothing_early),
        cmocka_unit_test(stop_without_memory_hands_everything_back),
        cmocka_unit_test_setup_teardown(shard_that_is_empty_again_keeps_one_page,
                                        scheduler_case_setup, scheduler_case_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

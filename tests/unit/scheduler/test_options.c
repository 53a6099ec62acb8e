/* SPDX-License-Identifier: MIT */
/* test_options.c - what may be chosen, what is refused; and calls on nothing. */
/* holds: scheduler-18 */
#include "scheduler_fixture.h"
#include "../../support/timer_info.h"

#include <htw/wheel.h>

static int create(const struct htw_scheduler_options *options) {
    struct htw_scheduler *untouched = (struct htw_scheduler *)(void *)&untouched;
    struct htw_scheduler *scheduler = untouched;
    int error = htw_scheduler_create(&scheduler, options);
    if (error != 0)
        assert_ptr_equal(scheduler, untouched);
    else
        assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    return error;
}

/* Sets one option, and expects 0 or -EINVAL. */
#define try_option(option, value, expected)                          \
    do {                                                             \
        struct htw_scheduler_options options_ = scheduler_options(); \
        options_.option = value;                                     \
        assert_int_equal(create(&options_), expected);               \
        if ((expected) != 0)                                         \
            assert_string_equal(htw_invalid_member(), #option);      \
    } while (0)

UNIT_TEST(scheduler_option_within_its_range_is_accepted) {
    try_option(tick_ns, 0, 0);
    try_option(tick_ns, HTW_TICK_NS_MIN, 0);
    try_option(tick_ns, HTW_TICK_NS_MAX, 0);
    try_option(wheel_size, 0, 0);
    try_option(wheel_size, HTW_WHEEL_SIZE_MIN, 0);
    try_option(wheel_size, HTW_WHEEL_SIZE_MAX, 0);
    try_option(shards, 0, 0);
    try_option(shards, HTW_SHARDS_MAX, 0);
    try_option(expirers, 0, 0);
    try_option(expirers, HTW_EXPIRERS_MAX, 0);
    try_option(workers, 0, 0);
    try_option(workers, HTW_WORKERS_MAX, 0);
    try_option(workers, HTW_NO_WORKERS, 0);
    for (int clock = HTW_CLOCK_DEFAULT; clock <= HTW_CLOCK_MANUAL; clock++)
        try_option(clock, (enum htw_clock)clock,
                   clock == HTW_CLOCK_BOOTTIME && !HAS_BOOTTIME ? -EINVAL : 0);
    try_option(max_pending, UINT64_MAX, 0);
    try_option(timer_slack_ns, INT64_MAX, 0);
    try_option(late_threshold_ns, INT64_MAX, 0);
    try_option(manual_start_ns, INT64_MAX, 0);
    try_option(thread_name, "", 0);
    try_option(thread_name, "a name of more than fifteen characters", 0);
    try_option(embedded, true, 0);
    try_option(start_threads, true, 0);
}

UNIT_TEST(scheduler_option_beyond_its_range_is_refused) {
    try_option(tick_ns, HTW_TICK_NS_MIN - 1, -EINVAL);
    try_option(tick_ns, HTW_TICK_NS_MAX + 1, -EINVAL);
    try_option(wheel_size, HTW_WHEEL_SIZE_MIN - 1, -EINVAL);
    try_option(wheel_size, 100, -EINVAL);
    try_option(wheel_size, 2 * HTW_WHEEL_SIZE_MAX, -EINVAL);
    try_option(shards, HTW_SHARDS_MAX + 1, -EINVAL);
    try_option(expirers, HTW_EXPIRERS_MAX + 1, -EINVAL);
    try_option(workers, HTW_WORKERS_MAX + 1, -EINVAL);
    try_option(clock, (enum htw_clock) - 1, -EINVAL);
    try_option(clock, (enum htw_clock)(HTW_CLOCK_MANUAL + 1), -EINVAL);
    try_option(timer_slack_ns, -1, -EINVAL);
    try_option(late_threshold_ns, -1, -EINVAL);
    try_option(manual_start_ns, -1, -EINVAL);
}

UNIT_TEST(scheduler_options_of_unknown_size_are_refused) {
    const size_t size = sizeof(struct htw_scheduler_options);
    try_option(struct_size, 0, -EINVAL);
    try_option(struct_size, size - 1, -EINVAL);
    try_option(struct_size, size + 1, -EINVAL);
}

static void ignore_tasks(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context, (void)tasks, (void)count;
}

UNIT_TEST(scheduler_options_that_contradict_each_other_are_refused) {
    struct htw_executor executor = { ignore_tasks, NULL };
    struct htw_scheduler_options options = scheduler_options();
    options.clock = HTW_CLOCK_MONOTONIC;
    options.embedded = true;
    assert_int_equal(create(&options), 0);
    options.workers = 1; /* without meaning here, and the default */
    assert_int_equal(create(&options), 0);
    options.start_threads = true;
    assert_int_equal(create(&options), -EINVAL);
    assert_string_equal(htw_invalid_member(), "start_threads");
    options.start_threads = false;
    options.executor = &executor;
    assert_int_equal(create(&options), 0);
    options.embedded = false;
    assert_int_equal(create(&options), 0);
    executor.execute = NULL;
    assert_int_equal(create(&options), -EINVAL);
    assert_string_equal(htw_invalid_member(), "executor");
    options = scheduler_options();
    assert_int_equal(htw_scheduler_create(NULL, &options), -EINVAL);
    assert_null(htw_invalid_member()); /* it is no member */
}

UNIT_TEST(scheduler_allocator_without_a_function_is_refused) {
    struct failing_allocator memory;
    failing_allocator_init(&memory);
    struct htw_allocator allocator = memory.allocator;
    allocator.allocate = NULL;
    try_option(allocator, &allocator, -EINVAL);
    allocator = memory.allocator;
    allocator.release = NULL;
    try_option(allocator, &allocator, -EINVAL);
    assert_int_equal(memory.calls, 0);
    failing_allocator_fini(&memory);
}

SCHEDULER_TEST(scheduler_defaults_are_those_of_the_header) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    assert_int_equal(create(&options), 0);
    assert_int_equal(create(NULL), 0);
    /* A tick of 1 ms, and late from 10 ms on. */
    arm(f, 0, 1);
    assert_runs_after(f, MS, 0);
    arm(f, 0, 0);
    arm(f, 1, MS);
    set_time(f, 11 * MS + 1);
    set_time(f, 12 * MS);
    assert_int_equal(scheduler_stats(f).late, 1);
}

/* ---- calls without a scheduler */

UNIT_TEST(scheduler_null_is_refused_by_what_schedules) {
    struct htw_group *group = NULL;
    assert_each_schedule_call_answers(NULL, probe_run, -EINVAL);
    assert_int_equal(htw_group_create(NULL, &group), -EINVAL);
    assert_null(group);
}

UNIT_TEST(scheduler_null_is_refused_by_what_takes_handles) {
    int64_t deadline = 77;
    assert_int_equal(htw_cancel(NULL, 1), -EINVAL);
    assert_int_equal(htw_cancel_wait(NULL, 1), -EINVAL);
    assert_int_equal(htw_cancel_remaining(NULL, 1, &deadline), -EINVAL);
    assert_int_equal(htw_cancel_key(NULL, NULL, "", 0, NULL), -EINVAL);
    assert_int_equal(htw_find_key(NULL, NULL, "", 0), 0);
    assert_int_equal(htw_reschedule(NULL, 1, 0), -EINVAL);
    assert_int_equal(htw_reschedule_at(NULL, 1, 0), -EINVAL);
    assert_int_equal(htw_set_period(NULL, 1, 1), -EINVAL);
    assert_false(htw_is_pending(NULL, 1));
    assert_int_equal(timer_deadline_of(NULL, 1, &deadline), -EINVAL);
    assert_int_equal(deadline, 77);
    assert_int_equal(htw_pending(NULL), 0);
}

UNIT_TEST(scheduler_null_is_refused_by_all_other_functions) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    size_t count = 77;
    assert_int_equal(htw_scheduler_create(NULL, NULL), -EINVAL);
    assert_int_equal(htw_scheduler_fd(NULL), -EINVAL);
    assert_int_equal(htw_scheduler_next(NULL), HTW_NEVER_NS);
    assert_int_equal(htw_scheduler_process(NULL, 0, &count), -EINVAL);
    assert_int_equal(count, 77);
    assert_int_equal(htw_scheduler_advance(NULL, 0), -EINVAL);
    assert_int_equal(htw_scheduler_set_clock(NULL, HTW_CLOCK_DEFAULT, 0), -EINVAL);
    assert_int_equal(htw_scheduler_now(NULL), 0);
    assert_int_equal(htw_scheduler_get_stats(NULL, &stats), -EINVAL);
    assert_int_equal(htw_scheduler_prometheus(NULL, stdout), -EINVAL);
    assert_int_equal(htw_scheduler_stop(NULL, NULL, NULL), -EINVAL);
    assert_int_equal(htw_scheduler_destroy(NULL), 0);
    htw_task_run(NULL);
}

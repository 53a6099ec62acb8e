/* SPDX-License-Identifier: MIT */
/* test_inspect.c - what tools show of a scheduler: histograms, shards, and how full the levels are. */
#include "../scheduler/scheduler_fixture.h"

#include <htw/wheel.h>

LATER_TEST(inspect_given_wrongly_is_refused) {
    struct htw_scheduler *s = f->scheduler;
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    struct htw_scheduler_histograms histograms = HTW_SCHEDULER_HISTOGRAMS_INIT;
    assert_int_equal(htw_scheduler_get_histograms(NULL, &stats, &histograms), -EINVAL);
    assert_int_equal(htw_scheduler_get_histograms(s, NULL, &histograms), -EINVAL);
    assert_int_equal(htw_scheduler_get_histograms(s, &stats, NULL), -EINVAL);
    histograms.struct_size--;
    assert_int_equal(htw_scheduler_get_histograms(s, &stats, &histograms), -EINVAL);
}

static void run(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
}

static struct htw_scheduler *create(uint32_t wheel_size) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    options.clock = HTW_CLOCK_MANUAL;
    options.workers = HTW_NO_WORKERS;
    options.shards = 1;
    options.wheel_size = wheel_size;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    return scheduler;
}

/* What a visitor has seen. */
struct levels {
    struct htw_scheduler_level found[HTW_WHEEL_LEVELS_MAX];
    unsigned count;
};

static void keep_level(void *context, const union htw_visited *visited) {
    struct levels *levels = context;
    levels->found[levels->count++] = visited->level;
}

static struct levels levels_of(struct htw_scheduler *scheduler) {
    struct levels levels = { .count = 0 };
    assert_int_equal(htw_scheduler_visit(scheduler, HTW_VISIT_LEVELS, 0, keep_level, &levels), 0);
    return levels;
}

static uint64_t sum_of(const struct htw_scheduler_level *level) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < HTW_LEVEL_PARTS; i++)
        sum += level->timers[i];
    return sum;
}

UNIT_TEST(inspect_levels_show_where_timers_are) {
    struct htw_scheduler *s = create(256);
    for (int i = 0; i < 3; i++)
        assert_int_equal(htw_schedule(s, 10 * MS, run, NULL, NULL), 0);
    assert_int_equal(htw_schedule(s, 1024 * MS, run, NULL, NULL), 0);
    struct levels levels = levels_of(s);
    const struct htw_scheduler_level *level = levels.found;
    assert_int_equal(levels.count, 2);
    assert_int_equal(level[0].bucket_ns, MS);
    assert_int_equal(level[0].buckets, 256);
    assert_int_equal(level[0].parts, 64);
    assert_int_equal(level[0].clock_part, 0);
    assert_int_equal(level[0].timers[2], 3); /* buckets 8 to 11 */
    assert_int_equal(sum_of(&level[0]), 3);
    assert_int_equal(level[1].bucket_ns, 256 * MS);
    assert_int_equal(level[1].timers[1], 1); /* buckets 4 to 7 */
    assert_int_equal(sum_of(&level[1]), 1);
    assert_int_equal(htw_scheduler_advance(s, 1030 * MS), 0);
    levels = levels_of(s);
    assert_int_equal(level[0].clock_part, (1030 % 256) / 4);
    assert_int_equal(sum_of(&level[0]), 0);
    htw_scheduler_destroy(s);
}

/* What is visited first is selected, and no more is visited than is asked for. */
UNIT_TEST(inspect_visits_at_most_what_is_wanted) {
    struct htw_scheduler *s = create(256);
    struct levels levels = { .count = 0 };
    assert_int_equal(htw_schedule(s, 1024 * MS, run, NULL, NULL), 0);
    assert_int_equal(htw_scheduler_visit(s, HTW_VISIT_LEVELS, 1, keep_level, &levels), 0);
    assert_int_equal(levels.count, 1);
    assert_int_equal(levels.found[0].bucket_ns, MS);
    htw_scheduler_destroy(s);
}

UNIT_TEST(inspect_counting_stops_at_64_in_a_bucket) {
    struct htw_scheduler *s = create(256);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(htw_schedule(s, 8 * MS, run, NULL, NULL), 0);
        assert_int_equal(htw_schedule(s, 9 * MS, run, NULL, NULL), 0);
        if (i < 63)
            assert_int_equal(htw_schedule(s, 200 * MS, run, NULL, NULL), 0);
    }
    struct levels levels = levels_of(s);
    assert_int_equal(levels.count, 1);
    assert_int_equal(levels.found[0].timers[2], 128);
    assert_int_equal(levels.found[0].timers[50], 63);
    htw_scheduler_destroy(s);
}

/* Wheels with all levels replace those of a clock that is set back, when it next advances. */
UNIT_TEST(inspect_levels_of_every_size_are_complete_after_a_step_back) {
    for (uint32_t size = HTW_WHEEL_SIZE_MIN; size <= HTW_WHEEL_SIZE_MAX; size *= 2) {
        struct htw_scheduler *s = create(size);
        assert_int_equal(htw_schedule(s, 10 * HTW_SECOND, run, NULL, NULL), 0);
        assert_int_equal(htw_scheduler_set_clock(s, HTW_CLOCK_DEFAULT, 10 * HTW_SECOND), 0);
        assert_int_equal(htw_scheduler_set_clock(s, HTW_CLOCK_DEFAULT, HTW_SECOND), 0);
        assert_int_equal(htw_schedule(s, MS, run, NULL, NULL), 0);
        for (int i = 0; i < 60; i++)
            assert_int_equal(htw_schedule(s, ((int64_t)1 << i) + HTW_SECOND, run, NULL, NULL), 0);
        assert_int_equal(htw_scheduler_advance(s, 2 * MS), 0);
        struct levels levels = levels_of(s);
        uint64_t found = 0, widths = UINT64_MAX;
        for (unsigned number = 0; number < levels.count; number++, widths /= size) {
            const struct htw_scheduler_level *level = &levels.found[number];
            assert_int_equal(level->buckets, widths < size ? widths + 1 : size);
            assert_true(level->clock_part < level->parts);
            found += sum_of(level);
        }
        assert_int_equal(widths, 0); /* the last level reached the end of 64 bits */
        assert_int_equal(found, 60);
        htw_scheduler_destroy(s);
    }
}

UNIT_TEST(inspect_histograms_hold_what_the_statistics_count) {
    struct htw_scheduler *s = create(0);
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    struct htw_scheduler_histograms both = HTW_SCHEDULER_HISTOGRAMS_INIT;
    uint64_t late = 0, took = 0;
    assert_int_equal(htw_schedule(s, 10 * MS, run, NULL, NULL), 0);
    assert_int_equal(htw_scheduler_set_clock(s, HTW_CLOCK_DEFAULT, 110 * MS),
                     0); /* 100 ms late, less than 2^17 us */
    assert_int_equal(htw_schedule(s, MS, run, NULL, NULL), 0);
    assert_int_equal(htw_scheduler_advance(s, MS), 0); /* in time */
    assert_int_equal(htw_schedule(s, MS, run, NULL, NULL), 0);
    assert_int_equal(htw_scheduler_set_clock(s, HTW_CLOCK_DEFAULT, 1000 * HTW_SECOND), 0);
    assert_int_equal(htw_scheduler_get_histograms(s, &stats, &both), 0);
    for (size_t i = 0; i < HTW_SCHEDULER_HISTOGRAM_BUCKETS; i++) {
        late += both.lateness[i];
        took += both.callback[i];
    }
    assert_int_equal(late, stats.lateness.count);
    assert_int_equal(took, stats.callback.count);
    assert_int_equal(late, 3);
    assert_int_equal(both.lateness[0], 1);
    assert_int_equal(both.lateness[17], 1);
    htw_scheduler_destroy(s);
}

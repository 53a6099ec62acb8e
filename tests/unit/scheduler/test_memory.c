/* SPDX-License-Identifier: MIT */
/* test_memory.c - without memory; the model has the calls for timers. */
/* holds: scheduler-16 */
#include "../../support/refused_creation.h"
#include "scheduler_fixture.h"

#define DELAY_NS (10 * MS)

#define refuse_all(f) failing_allocator_fail(&(f)->memory, 1, true)
#define relent(f) failing_allocator_relent(&(f)->memory)

static const struct htw_scheduler_options *wanted;
static struct htw_scheduler *created;

static int create(const struct htw_allocator *allocator) {
    struct htw_scheduler_options options = *wanted;
    options.allocator = allocator;
    created = NULL;
    int error = htw_scheduler_create(&created, &options);
    assert_int_equal(error == 0, created != NULL);
    return error;
}

static void destroy(void) {
    assert_int_equal(htw_scheduler_destroy(created), 0);
}

static void check_create(const struct htw_scheduler_options *options) {
    wanted = options;
    assert_refused_creation_leaves_nothing(create, destroy);
    wanted = NULL;
}

static void never_execute(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context, (void)tasks, (void)count;
}

UNIT_TEST(create_refused_memory_leaves_nothing) {
    struct htw_scheduler_options options = scheduler_options();
    options.shards = 3;
    check_create(&options);
    options.workers = 3;
    check_create(&options);
    options.start_threads = true; /* threads end before create returns, or in destroy */
    check_create(&options);
    options = scheduler_options();
    options.executor = &(struct htw_executor) { never_execute, NULL };
    check_create(&options);
    options = (struct htw_scheduler_options)HTW_SCHEDULER_OPTIONS_INIT;
    options.shards = 2;
    options.expirers = 2;
    check_create(&options);
    options.workers = HTW_NO_WORKERS;
    check_create(&options);
    options.embedded = true;
    check_create(&options);
}

LATER_TEST(group_and_stats_refused_memory_are_not_given) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    size_t blocks = f->memory.live_blocks;
    refuse_all(f);
    assert_int_equal(htw_group_create(f->scheduler, &f->group), -ENOMEM);
    assert_null(f->group);
    assert_int_equal(htw_scheduler_get_stats(f->scheduler, &stats), -ENOMEM);
    relent(f);
    assert_int_equal(f->memory.live_blocks, blocks);
}

/* ---- what cannot fail makes do without memory */

/* It waits in the farthest bucket that there is, and each time that this comes up costs one
   wake-up: with one level of 256 ticks 255 apart, with two 65 280. */
/* holds: scheduler-16 */
LATER_TEST(rearmed_without_memory_wakes_up_once_a_turn) {
    static const struct {
        int64_t longest_ns; /* what there is room for before */
        int64_t period_ns;
        uint64_t wakeups;
    } cases[] = {
        { 0, 10 * HTW_SECOND, 10000 / 255 },
        { 60 * HTW_SECOND, 3600 * HTW_SECOND, 3600000 / 65280 },
    };
    for (size_t i = 0; i < 2; i++) {
        scheduler_reopen(f);
        if (cases[i].longest_ns > 0) {
            arm(f, 1, cases[i].longest_ns);
            assert_int_equal(cancel(f, 1), HTW_CANCELLED);
        }
        struct htw_spec spec = probe_spec(f, 0, MS);
        spec.period_ns = cases[i].period_ns;
        arm_spec(f, 0, &spec);
        uint64_t before = scheduler_stats(f).wakeups;
        refuse_all(f);
        advance(f, MS + cases[i].period_ns);
        relent(f);
        uint64_t wakeups = scheduler_stats(f).wakeups - before;
        assert_log(f, "aa");
        assert_int_equal(f->probes[0].last.late_ns, 0);
        assert_in_range(wakeups, 3, cases[i].wakeups + 5);
        assert_in_range(f->memory.refusals, 1, 3 * wakeups);
        assert_int_equal(cancel(f, 0), HTW_CANCELLED);
    }
}

/* So that a burst which comes again and again does not ask for memory each time. */
LATER_TEST(shard_that_is_empty_again_keeps_one_page) {
    enum { TIMERS = 10000 }; /* some three pages */
    static htw_handle handles[TIMERS];
    size_t before = f->memory.live_bytes;
    for (int i = 0; i < TIMERS; i++)
        assert_int_equal(
            htw_schedule(f->scheduler, DELAY_NS, probe_run, &f->probes[0], &handles[i]), 0);
    size_t most = f->memory.live_bytes;
    for (int i = 0; i < TIMERS; i++)
        assert_int_equal(htw_cancel(f->scheduler, handles[i]), HTW_CANCELLED);
    advance(f, HTW_SECOND); /* cleans up */
    assert_true(f->memory.live_bytes < before + (most - before) / 2);
    size_t kept = f->memory.live_bytes;
    arm(f, 0, DELAY_NS);
    assert_true(f->memory.live_bytes < kept + 128 * 1024); /* a level perhaps, but no page */
}

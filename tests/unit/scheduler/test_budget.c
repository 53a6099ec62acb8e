/* SPDX-License-Identifier: MIT */
/* test_budget.c - the budget of htw_scheduler_process(). */
#include "../unit.h"

#include <htw/scheduler.h>

#include <stdbool.h>

#define TIMERS 64

static void run_again(void *arg, const struct htw_expiration *expiration) {
    unsigned *runs = arg;
    ++*runs;
    assert_int_equal(htw_reschedule(expiration->scheduler, expiration->handle, 0), HTW_MOVED);
}

static bool all_have_run(const unsigned *runs) {
    for (unsigned i = 0; i < TIMERS; i++)
        if (runs[i] == 0)
            return false;
    return true;
}

/* With so fine a tick, what has just run is due again when the next call comes. */
UNIT_TEST(scheduler_budget_that_one_shard_could_spend_reaches_all_shards) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.embedded = true;
    options.workers = 0;
    options.shards = 8;
    options.tick_ns = HTW_TICK_NS_MIN;
    struct htw_scheduler *scheduler;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    unsigned runs[TIMERS] = { 0 };
    for (unsigned i = 0; i < TIMERS; i++) {
        struct htw_spec spec = HTW_SPEC_INIT;
        spec.callback = run_again;
        spec.arg = &runs[i];
        spec.key = &i; /* spreads them over the shards */
        spec.key_size = sizeof(i);
        assert_int_equal(htw_schedule_spec(scheduler, &spec, NULL, NULL), 0);
    }
    for (unsigned call = 0; call < 100000 && !all_have_run(runs); call++) {
        size_t served;
        assert_true(htw_scheduler_process(scheduler, 1, &served) >= 0);
        assert_true(served <= 1);
    }
    assert_true(all_have_run(runs));
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

static void count_run(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    ++*(unsigned *)arg;
}

/* holds: scheduler-24 */
UNIT_TEST(scheduler_budget_that_is_exactly_used_up_answers_more) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.embedded = true;
    options.shards = 1;
    struct htw_scheduler *scheduler;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    for (unsigned budget = 1; budget <= 200; budget = budget * 2 + 1) {
        unsigned runs = 0;
        size_t served;
        for (unsigned i = 0; i < budget; i++)
            assert_int_equal(htw_schedule(scheduler, 0, count_run, &runs, NULL), 0);
        assert_int_equal(htw_scheduler_process(scheduler, budget, &served), HTW_MORE);
        assert_int_equal(served, budget);
        assert_int_equal(runs, budget);
        assert_int_equal(htw_scheduler_process(scheduler, budget, &served), HTW_DONE);
        assert_int_equal(served, 0);
    }
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

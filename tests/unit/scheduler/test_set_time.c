/* SPDX-License-Identifier: MIT */
/* test_set_time.c - the clock is set, forward and back. */
#include "../../support/random.h"
#include "scheduler_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MANY 10000u

SCHEDULER_TEST(scheduler_set_forward_runs_all_that_has_become_due) {
    arm(f, 0, 30 * MS);
    arm(f, 1, 10 * MS);
    arm(f, 2, 40 * MS + 1);
    arm(f, 3, 300 * HTW_SECOND);
    arm(f, 4, 20 * MS);
    set_time(f, 40 * MS);
    assert_ran(f, 1, 4, 0);
    for (unsigned i = 0; i < 5; i++)
        if (f->probes[i].runs == 1) {
            assert_int_equal(f->probes[i].ran_ns, 40 * MS);
            assert_int_equal(f->probes[i].last.late_ns, 40 * MS - f->probes[i].last.deadline_ns);
        }
    set_time(f, 400 * HTW_SECOND);
    assert_ran(f, 2, 3);
}

SCHEDULER_TEST(scheduler_set_to_the_present_is_an_advance_by_nothing) {
    f->options.manual_start_ns = 5 * MS;
    scheduler_reopen(f);
    arm(f, 0, 0);
    arm(f, 1, 1);
    set_time(f, 5 * MS);
    assert_ran(f, 0);
}

/* holds: scheduler-1 */
SCHEDULER_TEST(scheduler_set_back_runs_nothing_early) {
    f->options.manual_start_ns = 100 * MS;
    scheduler_reopen(f);
    arm(f, 0, 50 * MS); /* at 150 */
    arm(f, 1, 0);       /* at 100, and due */
    set_time(f, 20 * MS);
    assert_none_ran(f);
    assert_int_equal(htw_scheduler_now(f->scheduler), 20 * MS);
    arm(f, 2, 10 * MS); /* at 30 */
    arm(f, 3, 0);       /* at 20, and due */
    arm_at(f, 4, 90 * MS + 1);
    advance(f, 0);
    assert_ran(f, 3);
    assert_runs_after(f, 10 * MS, 2);
    assert_runs_after(f, 61 * MS, 4);
    assert_runs_after(f, 9 * MS, 1);
    assert_runs_after(f, 50 * MS, 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(f->probes[i].last.late_ns, 0);
}

SCHEDULER_TEST(scheduler_set_back_and_forward_again_runs_all_in_time) {
    arm(f, 0, 500 * MS);
    for (int64_t i = 0; i < 20; i++) {
        set_time(f, 499 * MS);
        set_time(f, i * MS);
    }
    assert_none_ran(f);
    set_time(f, 500 * MS - 1);
    assert_none_ran(f);
    set_time(f, 500 * MS);
    assert_ran(f, 0);
}

/* Enough that they are moved in slices; some under keys, so that all shards have some. */
static void set_back_many(struct scheduler_fixture *f, uint32_t shards, uint32_t workers) {
    int64_t start_ns = 1000 * HTW_SECOND;
    f->options.shards = shards;
    f->options.workers = workers;
    f->options.manual_start_ns = start_ns;
    f->count = MANY + 1;
    scheduler_reopen(f);
    for (unsigned i = 0; i < MANY; i++) {
        struct htw_spec spec = HTW_SPEC_INIT;
        char key[16];
        snprintf(key, sizeof(key), "%u", i);
        spec.callback = probe_run;
        spec.arg = &f->probes[i];
        spec.key = i % 4 == 3 ? key : NULL;
        spec.key_size = strlen(key);
        spec.when_ns = MS * (1 + i * INT64_C(7919) % MANY);
        arm_spec(f, i, &spec);
    }
    set_time(f, start_ns + 1000 * MS);
    assert_int_equal(f->log_count, 1000);
    set_time(f, 5 * HTW_SECOND);
    f->log_count = 0;
    arm(f, MANY, 3 * MS); /* makes it look, and find that the clock was set back */
    advance(f, 10 * MS);
    assert_ran(f, MANY);
    assert_int_equal(htw_pending(f->scheduler), MANY - 1000);
    /* Between back and forth they can be moved and cancelled. */
    for (unsigned i = 0; i < MANY; i += 4)
        if (is_pending(f, i)) {
            f->probes[i].result = 1;
            if (i % 8)
                assert_int_equal(cancel(f, i), HTW_CANCELLED);
            else
                assert_int_equal(reschedule(f, i, HTW_SECOND), HTW_MOVED);
        }
    advance(f, HTW_SECOND);
    for (unsigned i = 0; i < MANY; i += 4)
        if (f->probes[i].result)
            assert_int_equal(f->probes[i].runs, i % 8 == 0);
    set_time(f, start_ns);
    f->log_count = 0;
    advance(f, MANY * MS);
    for (unsigned i = 0; i < MANY; i++) {
        bool cancelled = f->probes[i].result && i % 8;
        assert_int_equal(f->probes[i].runs, !cancelled);
        if (cancelled || f->probes[i].result || f->probes[i].ran_ns <= start_ns + 1000 * MS)
            continue;
        assert_int_equal(f->probes[i].ran_ns, start_ns + MS * (1 + i * INT64_C(7919) % MANY));
        assert_int_equal(f->probes[i].last.late_ns, 0);
    }
    assert_int_equal(htw_pending(f->scheduler), 0);
}

SCHEDULER_TEST(scheduler_set_back_arms_all_again) {
    set_back_many(f, 1, 0);
    set_back_many(f, 4, 0);
    set_back_many(f, 1, 1);
    set_back_many(f, 4, 4);
}

SCHEDULER_TEST(scheduler_set_back_moves_nothing_of_forever) {
    set_time(f, HTW_SECOND);
    arm(f, 0, HTW_NEVER_NS);
    set_time(f, 0);
    arm(f, 1, 0);
    advance(f, HTW_SECOND);
    assert_ran(f, 1);
    assert_int_equal(reschedule(f, 0, MS), HTW_MOVED);
    advance(f, MS);
    assert_ran(f, 0);
}

SCHEDULER_TEST(scheduler_repeating_with_the_clock_set_back_waits_for_its_instant) {
    static const enum htw_repeat ways[] = { HTW_REPEAT_SKIP, HTW_REPEAT_BURST, HTW_REPEAT_DELAY,
                                            HTW_REPEAT_AFTER };
    for (size_t i = 0; i < 4; i++) {
        scheduler_reopen(f);
        arm_every(f, 0, 100 * MS, 10 * MS, ways[i]);
        advance(f, 100 * MS);
        assert_ran(f, 0);
        set_time(f, 50 * MS);
        assert_runs_after(f, 60 * MS, 0);
        assert_int_equal(f->probes[0].last.deadline_ns, 110 * MS);
        assert_int_equal(f->probes[0].last.missed, 0);
    }
}

/* Random steps; the fixture notices each that is early, and each is to run in the end. */
SCHEDULER_TEST(scheduler_set_at_random_runs_each_once_and_none_early) {
    f->options.shards = 2;
    f->count = 2000;
    scheduler_reopen(f);
    struct random_source random = { 99 };
    for (unsigned i = 0; i < 2000; i++) {
        int64_t value = (int64_t)(random_next(&random) >> 33);
        arm(f, i, value % (100 * MS) * (i % 10 == 0 ? 1000 : 1));
        if (i % 7 == 0)
            set_time(f, value % (200 * MS));
        if (i % 3 == 0)
            advance(f, value % (2 * MS));
    }
    set_time(f, HTW_SECOND);
    set_time(f, 0);
    set_time(f, 1000 * HTW_SECOND);
    for (unsigned i = 0; i < 2000; i++)
        assert_int_equal(f->probes[i].runs, 1);
}

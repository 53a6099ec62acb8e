/* SPDX-License-Identifier: MIT */
/* test_set_time - the clock is set, forward and back. */
#include "scheduler_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MANY 10000u

static void scheduler_set_forward_runs_all_that_has_become_due(void **state) {
    (void)state;
    struct scheduler_fixture f;
    scheduler_open(&f, NULL, 5);
    arm(&f, 0, 30 * MS);
    arm(&f, 1, 10 * MS);
    arm(&f, 2, 40 * MS + 1);
    arm(&f, 3, 300 * HTW_SECOND);
    arm(&f, 4, 20 * MS);
    set_time(&f, 40 * MS);
    assert_ran(&f, 1, 4, 0);
    for (unsigned i = 0; i < 5; i++)
        if (f.probes[i].runs == 1) {
            assert_int_equal(f.probes[i].ran_ns, 40 * MS);
            assert_int_equal(f.probes[i].last.late_ns, 40 * MS - f.probes[i].last.deadline_ns);
        }
    set_time(&f, 400 * HTW_SECOND);
    assert_ran(&f, 2, 3);
    scheduler_close(&f);
}

static void scheduler_set_to_the_present_is_an_advance_by_nothing(void **state) {
    (void)state;
    struct scheduler_fixture f;
    struct htw_scheduler_options options = scheduler_options();
    options.manual_start_ns = 5 * MS;
    scheduler_open(&f, &options, 2);
    arm(&f, 0, 0);
    arm(&f, 1, 1);
    set_time(&f, 5 * MS);
    assert_ran(&f, 0);
    scheduler_close(&f);
}

static void scheduler_set_back_runs_nothing_early(void **state) {
    (void)state;
    struct scheduler_fixture f;
    struct htw_scheduler_options options = scheduler_options();
    options.manual_start_ns = 100 * MS;
    scheduler_open(&f, &options, 5);
    arm(&f, 0, 50 * MS); /* at 150 */
    arm(&f, 1, 0);       /* at 100, and due */
    set_time(&f, 20 * MS);
    assert_none_ran(&f);
    assert_int_equal(htw_scheduler_now(f.scheduler), 20 * MS);
    arm(&f, 2, 10 * MS); /* at 30 */
    arm(&f, 3, 0);       /* at 20, and due */
    assert_int_equal(htw_schedule_at(f.scheduler, 90 * MS + 1, probe_run, &f.probes[4], NULL), 0);
    advance(&f, 0);
    assert_ran(&f, 3);
    advance(&f, 10 * MS - 1);
    assert_none_ran(&f);
    advance(&f, 1);
    assert_ran(&f, 2);
    advance(&f, 61 * MS - 1);
    assert_none_ran(&f);
    advance(&f, 1);
    assert_ran(&f, 4);
    advance(&f, 9 * MS - 1);
    assert_none_ran(&f);
    advance(&f, 1);
    assert_ran(&f, 1);
    advance(&f, 50 * MS - 1);
    assert_none_ran(&f);
    advance(&f, 1);
    assert_ran(&f, 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(f.probes[i].last.late_ns, 0);
    scheduler_close(&f);
}

static void scheduler_set_back_and_forward_again_runs_as_if_nothing_had_been(void **state) {
    (void)state;
    struct scheduler_fixture f;
    scheduler_open(&f, NULL, 1);
    arm(&f, 0, 500 * MS);
    for (int64_t i = 0; i < 20; i++) {
        set_time(&f, 499 * MS);
        set_time(&f, i * MS);
    }
    assert_none_ran(&f);
    set_time(&f, 500 * MS - 1);
    assert_none_ran(&f);
    set_time(&f, 500 * MS);
    assert_ran(&f, 0);
    scheduler_close(&f);
}

/* Enough that they are moved in slices; some under keys, so that all shards have some. */
static void set_back_many(uint32_t shards, uint32_t workers) {
    struct scheduler_fixture f;
    struct htw_scheduler_options options = scheduler_options();
    int64_t start_ns = 1000 * HTW_SECOND;
    options.shards = shards;
    options.workers = workers;
    options.manual_start_ns = start_ns;
    scheduler_open(&f, &options, MANY + 1);
    for (unsigned i = 0; i < MANY; i++) {
        struct htw_spec spec = HTW_SPEC_INIT;
        char key[16];
        snprintf(key, sizeof(key), "%u", i);
        spec.callback = probe_run;
        spec.arg = &f.probes[i];
        spec.key = i % 4 == 3 ? key : NULL;
        spec.key_size = strlen(key);
        spec.when_ns = MS * (1 + i * INT64_C(7919) % MANY);
        assert_int_equal(htw_schedule_spec(f.scheduler, &spec, &f.probes[i].handle, NULL), 0);
    }
    set_time(&f, start_ns + 1000 * MS);
    assert_int_equal(f.log_count, 1000);
    set_time(&f, 5 * HTW_SECOND);
    f.log_count = 0;
    arm(&f, MANY, 3 * MS); /* makes it look, and find that the clock was set back */
    advance(&f, 10 * MS);
    assert_ran(&f, MANY);
    assert_int_equal(htw_pending(f.scheduler), MANY - 1000);
    /* Between back and forth they can be moved and cancelled. */
    for (unsigned i = 0; i < MANY; i += 4)
        if (htw_is_pending(f.scheduler, f.probes[i].handle)) {
            f.probes[i].result = 1;
            if (i % 8)
                assert_int_equal(htw_cancel(f.scheduler, f.probes[i].handle), HTW_CANCELLED);
            else
                assert_int_equal(htw_reschedule(f.scheduler, f.probes[i].handle, HTW_SECOND),
                                 HTW_MOVED);
        }
    advance(&f, HTW_SECOND);
    for (unsigned i = 0; i < MANY; i += 4)
        if (f.probes[i].result)
            assert_int_equal(f.probes[i].runs, i % 8 == 0);
    set_time(&f, start_ns);
    f.log_count = 0;
    advance(&f, MANY * MS);
    for (unsigned i = 0; i < MANY; i++) {
        bool cancelled = f.probes[i].result && i % 8;
        assert_int_equal(f.probes[i].runs, !cancelled);
        if (cancelled || f.probes[i].result || f.probes[i].ran_ns <= start_ns + 1000 * MS)
            continue;
        assert_int_equal(f.probes[i].ran_ns, start_ns + MS * (1 + i * INT64_C(7919) % MANY));
        assert_int_equal(f.probes[i].last.late_ns, 0);
    }
    assert_int_equal(htw_pending(f.scheduler), 0);
    scheduler_close(&f);
}

static void scheduler_set_back_files_all_anew(void **state) {
    (void)state;
    set_back_many(1, 0);
    set_back_many(4, 0);
    set_back_many(1, 1);
    set_back_many(4, 4);
}

static void scheduler_set_back_moves_nothing_of_forever(void **state) {
    (void)state;
    struct scheduler_fixture f;
    scheduler_open(&f, NULL, 2);
    set_time(&f, HTW_SECOND);
    arm(&f, 0, HTW_NEVER_NS);
    set_time(&f, 0);
    arm(&f, 1, 0);
    advance(&f, HTW_SECOND);
    assert_ran(&f, 1);
    assert_int_equal(htw_reschedule(f.scheduler, f.probes[0].handle, MS), HTW_MOVED);
    advance(&f, MS);
    assert_ran(&f, 0);
    scheduler_close(&f);
}

static void scheduler_repeating_with_the_clock_set_back_waits_for_its_instant(void **state) {
    (void)state;
    static const enum htw_repeat ways[] = { HTW_REPEAT_SKIP, HTW_REPEAT_BURST, HTW_REPEAT_DELAY,
                                            HTW_REPEAT_AFTER };
    for (size_t i = 0; i < 4; i++) {
        struct scheduler_fixture f;
        scheduler_open(&f, NULL, 1);
        arm_every(&f, 0, 100 * MS, 10 * MS, ways[i]);
        advance(&f, 100 * MS);
        assert_ran(&f, 0);
        set_time(&f, 50 * MS);
        advance(&f, 60 * MS - 1);
        assert_none_ran(&f);
        advance(&f, 1);
        assert_ran(&f, 0);
        assert_int_equal(f.probes[0].last.deadline_ns, 110 * MS);
        assert_int_equal(f.probes[0].last.missed, 0);
        scheduler_close(&f);
    }
}

/* Random steps; the fixture notices each that is early, and each is to run in the end. */
static void scheduler_set_at_random_runs_each_once_and_none_early(void **state) {
    (void)state;
    struct scheduler_fixture f;
    struct htw_scheduler_options options = scheduler_options();
    options.shards = 2;
    scheduler_open(&f, &options, 2000);
    uint64_t seed = 99;
    for (unsigned i = 0; i < 2000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int64_t value = (int64_t)(seed >> 33);
        arm(&f, i, value % (100 * MS) * (i % 10 == 0 ? 1000 : 1));
        if (i % 7 == 0)
            set_time(&f, value % (200 * MS));
        if (i % 3 == 0)
            advance(&f, value % (2 * MS));
    }
    set_time(&f, HTW_SECOND);
    set_time(&f, 0);
    set_time(&f, 1000 * HTW_SECOND);
    for (unsigned i = 0; i < 2000; i++)
        assert_int_equal(f.probes[i].runs, 1);
    scheduler_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scheduler_set_forward_runs_all_that_has_become_due),
        cmocka_unit_test(scheduler_set_to_the_present_is_an_advance_by_nothing),
        cmocka_unit_test(scheduler_set_back_runs_nothing_early),
        cmocka_unit_test(scheduler_set_back_and_forward_again_runs_as_if_nothing_had_been),
        cmocka_unit_test(scheduler_set_back_files_all_anew),
        cmocka_unit_test(scheduler_set_back_moves_nothing_of_forever),
        cmocka_unit_test(scheduler_repeating_with_the_clock_set_back_waits_for_its_instant),
        cmocka_unit_test(scheduler_set_at_random_runs_each_once_and_none_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

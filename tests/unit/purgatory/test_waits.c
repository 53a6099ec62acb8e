/* SPDX-License-Identifier: MIT */
/* test_waits.c - the histogram of how long requests waited. */
/* holds: purgatory-20 */
#include "../../support/purgatory_case.h"

#include <unistd.h>

#define BUCKETS HTW_PURGATORY_WAIT_BUCKETS

/* What is measured of the requests of a processor that come in the same millisecond. */
enum { AT_LEAST = 16 };

static uint64_t measured(struct purgatory_case *test) {
    struct htw_purgatory_stats stats = purgatory_case_stats(test);
    uint64_t count = 0;
    for (unsigned i = 0; i < BUCKETS; i++)
        count += stats.waits[i];
    return count;
}

/* How much was added to a bucket, and to no other, since this was last asked. */
static void assert_added(struct purgatory_case *test, unsigned bucket, uint64_t count,
                         uint64_t waited_ms) {
    static struct htw_purgatory_stats before;
    struct htw_purgatory_stats stats = purgatory_case_stats(test);
    if (stats.submitted <= 1)
        before = (struct htw_purgatory_stats)HTW_PURGATORY_STATS_INIT;
    for (unsigned i = 0; i < BUCKETS; i++)
        assert_int_equal(stats.waits[i], before.waits[i] + (i == bucket ? count : 0));
    assert_int_equal(stats.waited_ms, before.waited_ms + waited_ms);
    before = stats;
}

PURGATORY_TEST(purgatory_waits_are_counted_by_their_length) {
    static const struct {
        int64_t ms;
        unsigned bucket;
    } cases[] = { { 0, 0 },           { 1, 1 },          { 2, 2 },        { 3, 2 },
                  { 4, 3 },           { 7, 3 },          { 8, 4 },        { 1023, 10 },
                  { 1024, 11 },       { 4194303, 22 },   { 4194304, 23 }, { 100000000, 23 },
                  { 4294967296, 23 }, { 5000000000, 23 } }; /* more than 32 bits */
    struct waiter *a = purgatory_case_waiter(test, 'a');
    for (unsigned i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ms = cases[i / 2].ms;
        watch(a, i % 2 == 0 ? HTW_NEVER_NS : 100000000 * HTW_SECOND, "k");
        purgatory_case_advance(test, ms * MS);
        assert_true(i % 4 < 2 ? cancel(a) : complete(a));
        assert_added(test, cases[i / 2].bucket, 1, (uint64_t)ms);
        purgatory_case_advance(test, MS);
    }
}

PURGATORY_TEST(purgatory_waits_are_counted_however_they_end) {
    assert_int_equal(htw_threshold_create(test->purgatory, 0, &test->threshold), 0);
    watch_each(test, "abcd", 100 * MS, "k");
    assert_int_equal(waiter_await(purgatory_case_waiter(test, 'e'), 5, 100 * MS), HTW_WATCHED);
    assert_int_equal(waiter_await(purgatory_case_waiter(test, 'f'), 9, HTW_NEVER_NS), HTW_WATCHED);
    purgatory_case_advance(test, 10 * MS);
    test->waiters[0].ready = true;
    assert_int_equal(check_key_at_most(test, "k", 1), 1);
    assert_true(cancel(&test->waiters[1]));
    assert_int_equal(htw_threshold_advance(test->threshold, 5), 1);
    assert_int_equal(measured(test), 3);
    assert_int_equal(purgatory_case_stats(test).waits[4], 3);
    purgatory_case_advance(test, 90 * MS); /* c, d */
    assert_int_equal(purgatory_case_stats(test).waits[7], 2);
    assert_int_equal(htw_purgatory_close(test->purgatory, NULL, NULL), 1);
    assert_int_equal(purgatory_case_stats(test).waits[7], 3);
    assert_int_equal(purgatory_case_stats(test).waited_ms, 3 * 10 + 3 * 100);
}

PURGATORY_TEST(purgatory_request_that_ends_in_its_submission_has_not_waited) {
    struct waiter *a = purgatory_case_waiter(test, 'a'), *b = purgatory_case_waiter(test, 'b');
    a->ready = true;
    assert_int_equal(submit(a, MS, "k"), HTW_FINISHED);
    b->yes_at = 2; /* when it is on its key */
    assert_int_equal(submit(b, MS, "k"), HTW_FINISHED);
    assert_int_equal(htw_threshold_create(test->purgatory, 0, &test->threshold), 0);
    assert_int_equal(waiter_await(a, 0, MS), HTW_FINISHED);
    assert_int_equal(measured(test), 0);
}

PURGATORY_TEST(purgatory_waits_while_the_clock_is_set_back_count_as_none) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    watch(a, HTW_NEVER_NS, "k");
    assert_int_equal(htw_scheduler_set_time(test->scheduler, CASE_START_NS - 5 * MS), 0);
    assert_true(cancel(a));
    assert_int_equal(purgatory_case_stats(test).waits[0], 1);
    assert_int_equal(purgatory_case_stats(test).waited_ms, 0);
}

/* So many that not all are measured, whatever processors the test runs on. */
PURGATORY_TEST(purgatory_waits_under_load_are_those_of_a_sample) {
    enum { MANY = 4000 };
    static struct waiter waiters[MANY];
    uint64_t at_most = (uint64_t)AT_LEAST * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t before = 0;
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            waiter_init(&waiters[i], test, '\0');
            watch(&waiters[i], round % 2 == 0 ? HTW_SECOND : HTW_NEVER_NS, "k");
        }
        purgatory_case_advance(test, 3 * MS);
        assert_int_equal(cancel_key(test, "k"), MANY);
        assert_in_range(measured(test) - before, AT_LEAST, at_most + AT_LEAST);
        before = measured(test);
        assert_int_equal(purgatory_case_stats(test).waits[2], before);
        assert_int_equal(purgatory_case_stats(test).waited_ms, 3 * before);
    }
}

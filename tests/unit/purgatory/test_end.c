/* SPDX-License-Identifier: MIT */
/* test_end.c - requests end by hand, with their key, and with their purgatory. */
#include "../../support/purgatory_case.h"

#include <errno.h>
#include <string.h>

/* ---- one request */

PURGATORY_TEST(purgatory_null_request_is_not_ended) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    watch(a, MS, "k");
    assert_false(htw_request_complete(test->purgatory, NULL));
    assert_false(htw_request_cancel(test->purgatory, NULL));
    assert_false(htw_request_complete(NULL, &a->request));
    assert_false(htw_request_cancel(NULL, &a->request));
    assert_true(htw_request_is_pending(&a->request));
    assert_log(test, "a? a?");
}

/* ---- all of it */

static void assert_shut(struct purgatory_case *test) {
    struct waiter *z = purgatory_case_waiter(test, 'z');
    struct htw_purgatory_stats before = purgatory_case_stats(test);
    assert_int_equal(submit(z, MS, "k"), -ESHUTDOWN);
    z->ready = true;
    assert_int_equal(submit(z, HTW_NEVER_NS, "k", "l", "m"), -ESHUTDOWN);
    assert_log(test, "");
    assert_false(htw_request_is_pending(&z->request));
    struct htw_threshold *threshold = NULL;
    assert_int_equal(htw_threshold_create(test->purgatory, 0, &threshold), -ESHUTDOWN);
    assert_null(threshold);
    assert_same_stats(test, &before);
    assert_int_equal(check_key(test, "k"), 0);
    assert_int_equal(cancel_key(test, "k"), 0);
}

/* holds: purgatory-12 */
PURGATORY_TEST(purgatory_closed_ends_all_and_refuses_new_requests) {
    watch(purgatory_case_waiter(test, 'a'), MS, "k");
    watch(purgatory_case_waiter(test, 'b'), HTW_NEVER_NS, "k", "l", "m");
    watch(purgatory_case_waiter(test, 'c'), 0, "n", "l");
    purgatory_case_forget_log(test);
    assert_int_equal(htw_purgatory_close(test->purgatory, waiter_visit, test), 3);
    for (unsigned i = 0; i < 3; i++) {
        struct waiter *waiter = &test->waiters[i];
        assert_int_equal(waiter->visited + waiter->ended + waiter->released, 3);
        assert_int_equal(waiter->reason, HTW_REASON_CLOSED);
    }
    purgatory_case_forget_log(test);
    assert_waiting(test, 0, 0, 0, 0);
    assert_int_equal(htw_purgatory_delayed(test->purgatory), 0);
    assert_int_equal(htw_purgatory_close(test->purgatory, waiter_visit, test), 0);
    assert_shut(test);
    assert_int_equal(htw_purgatory_close(NULL, waiter_visit, test), -EINVAL);
}

static void close_all(struct waiter *self) {
    self->result = htw_purgatory_close(self->test->purgatory, waiter_visit, self->test);
}

/* holds: purgatory-3 */
PURGATORY_TEST(purgatory_closed_from_try_complete_that_returns_true_completes_the_request) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    watch(a, MS, "k");
    a->on_asked = close_all;
    a->ready = true;
    assert_int_equal(check_key(test, "k"), 1);
    assert_int_equal(a->result, 1);
    assert_ends(test, "aC");
    assert_shut(test);
}

/* holds: purgatory-12 */
UNIT_TEST(purgatory_destroyed_closes_what_is_pending) {
    struct purgatory_case test;
    purgatory_case_begin(&test, NULL, NULL);
    watch(purgatory_case_waiter(&test, 'a'), MS, "k");
    watch(purgatory_case_waiter(&test, 'b'), HTW_NEVER_NS, "k", "l", "m");
    purgatory_case_forget_log(&test);
    assert_int_equal(htw_purgatory_destroy(test.purgatory), 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(test.waiters[i].ended + test.waiters[i].released, 2);
        assert_int_equal(test.waiters[i].reason, HTW_REASON_CLOSED);
    }
    assert_int_equal(test.memory.live_blocks, 0);
    assert_int_equal(htw_pending(test.scheduler), 0);
    assert_int_equal(htw_purgatory_destroy(NULL), 0);
    /* For the rest of the case another one. */
    struct htw_purgatory_options options = purgatory_case_options();
    options.context = &test;
    options.allocator = &test.memory.allocator;
    test.submitted = 0;
    memset(test.ends, 0, sizeof(test.ends));
    assert_int_equal(htw_purgatory_create(&test.purgatory, test.scheduler, &options), 0);
    purgatory_case_end(&test);
}

/* ---- the scheduler's end and limit */

static void take_leftover(void *context, const struct htw_unexpired *leftover) {
    (void)leftover;
    ++*(unsigned *)context;
}

PURGATORY_TEST(purgatory_over_a_stopped_scheduler_still_ends_requests) {
    unsigned leftovers = 0;
    for (char name = 'a'; name <= 'f'; name++)
        watch(purgatory_case_waiter(test, name), MS, "k", name < 'd' ? "l" : "m");
    purgatory_case_forget_log(test);
    assert_int_equal(htw_scheduler_stop(test->scheduler, take_leftover, &leftovers), 0);
    assert_in_range(leftovers, 1, 2); /* the alarm of the cpu, and its like */
    assert_log(test, "");
    assert_int_equal(purgatory_case_stats(test).pending, 6);
    assert_int_equal(submit(purgatory_case_waiter(test, 'z'), MS, "k", "l"), -ESHUTDOWN);
    assert_ends(test, "");
    test->waiters[1].ready = true;
    assert_int_equal(check_key(test, "k"), 1);
    assert_true(complete(&test->waiters[0]));
    assert_true(cancel(&test->waiters[4]));
    assert_int_equal(cancel_key(test, "l"), 1);
    assert_ends(test, "bC aC eX cX");
    assert_int_equal(htw_purgatory_close(test->purgatory, waiter_visit, test), 2);
    assert_waiting(test, 0, 0, 0, 0);
}

/* The purgatory needs but one timer, for its first timeout. */
/* holds: purgatory-13 */
UNIT_TEST(purgatory_at_the_limit_of_the_scheduler_refuses_and_changes_nothing) {
    struct purgatory_case test;
    purgatory_case_begin_limited(&test, 1);
    struct waiter *a = purgatory_case_waiter(&test, 'a'), *b = purgatory_case_waiter(&test, 'b');
    struct waiter *c = purgatory_case_waiter(&test, 'c');
    htw_handle stranger = purgatory_case_stranger(&test);
    watch(a, HTW_NEVER_NS, "k", "l");
    watch(b, HTW_NEVER_NS, "k");
    purgatory_case_forget_log(&test);
    struct htw_purgatory_stats before = purgatory_case_stats(&test);
    assert_int_equal(submit(c, MS, "m"), -EAGAIN);
    assert_int_equal(submit(c, MS, "k", "l", "m", "n", "a key of more than sixteen bytes"),
                     -EAGAIN);
    assert_int_equal(htw_purgatory_check_later(test.purgatory, "k", 1), -EAGAIN);
    assert_false(htw_request_is_pending(&c->request));
    /* A table of keys that had all five may stay as large. */
    before.memory_bytes = purgatory_case_stats(&test).memory_bytes;
    assert_same_stats(&test, &before);
    assert_ends(&test, "");
    assert_int_equal(c->released, 0);
    assert_int_equal(htw_cancel(test.scheduler, stranger), HTW_CANCELLED);
    watch(c, MS, "k", "l", "m", "n", "a key of more than sixteen bytes");
    c->ready = true;
    assert_int_equal(check_key(&test, "n"), 1);
    purgatory_case_end(&test);
}

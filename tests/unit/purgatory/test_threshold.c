/* SPDX-License-Identifier: MIT */
/* test_threshold.c - requests wait until a value is reached. */
/* holds: purgatory-11 */
#include "../../support/purgatory_case.h"

#include <errno.h>

THRESHOLD_TEST(threshold_completes_in_order_of_values) {
    static struct waiter waiters[3000];
    for (unsigned i = 0; i < 3000; i++)
        waiter_init(&waiters[i], test, '\0');
    for (unsigned i = 0; i < 3000; i++) { /* scattered, and up to values far ahead */
        unsigned which = i * 1999 % 3000;
        uint64_t value = 101 + (uint64_t)which * which * which;
        assert_int_equal(waiter_await(&waiters[which], value, HTW_NEVER_NS), HTW_WATCHED);
    }
    assert_waiting(test, 3000, 0, 0, 0);
    assert_int_equal(advance_to(test, 101 + 1000 * 1000 * 1000), 1001);
    assert_ended_up_to(test, waiters, 1001);
    assert_int_equal(advance_to(test, UINT64_C(1) << 40), 1999);
    assert_ended_up_to(test, waiters + 1001, 1999);
}

THRESHOLD_TEST(threshold_given_wrongly_is_refused) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    struct htw_threshold *threshold = NULL;
    assert_int_equal(htw_threshold_create(NULL, 0, &threshold), -EINVAL);
    assert_int_equal(htw_threshold_create(test->purgatory, 0, NULL), -EINVAL);
    assert_null(threshold);
    assert_int_equal(htw_threshold_await(NULL, &a->request, 0, MS), -EINVAL);
    assert_int_equal(htw_threshold_await(test->threshold, NULL, 0, MS), -EINVAL);
    assert_int_equal(htw_threshold_await(test->threshold, NULL, 1000, MS), -EINVAL);
    assert_int_equal(htw_threshold_advance(NULL, 1), -EINVAL);
    assert_int_equal(htw_threshold_value(NULL), 0);
    assert_int_equal(htw_threshold_destroy(NULL), 0);
    assert_false(htw_request_is_pending(&a->request));
}

/* ---- hooks */

static void advance_by_ten(struct waiter *self) {
    self->result = advance_to(self->test, htw_threshold_value(self->test->threshold) + 10);
}

THRESHOLD_TEST(threshold_advanced_in_a_hook_completes_more) {
    await_value(test, 'a', 101)->on_ended = advance_by_ten;
    await_value(test, 'b', 111)->on_released = advance_by_ten;
    await_value(test, 'c', 105);
    await_value(test, 'd', 121);
    await_value(test, 'e', 122);
    int64_t ended = advance_to(test, 101);
    assert_int_equal(ended + test->waiters[0].result + test->waiters[1].result, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(test->waiters[i].released, 1);
    assert_int_equal(test->waiters[4].ended, 0);
    assert_int_equal(htw_threshold_value(test->threshold), 121);
}

static void destroy_threshold(struct waiter *self) {
    self->result = htw_threshold_destroy(self->test->threshold);
}

THRESHOLD_TEST(threshold_cannot_be_destroyed_by_a_hook) {
    struct waiter *a = await_value(test, 'a', 101), *b = await_value(test, 'b', 1000);
    a->on_ended = destroy_threshold;
    b->on_released = destroy_threshold;
    watch(purgatory_case_waiter(test, 'c'), MS, "k");
    test->waiters[2].on_asked = destroy_threshold;
    assert_int_equal(advance_to(test, 101), 1);
    assert_int_equal(check_key(test, "k"), 0);
    purgatory_case_advance(test, HTW_SECOND);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(test->waiters[i].result, -EDEADLK);
    await_value(test, 'a', 102); /* it has not been touched */
}

/* ---- the end */

THRESHOLD_TEST(threshold_destroyed_closes_its_requests) {
    await_value(test, 'a', 101);
    await_value(test, 'b', UINT64_MAX);
    watch(purgatory_case_waiter(test, 'c'), MS, "k");
    purgatory_case_forget_log(test);
    assert_int_equal(htw_purgatory_destroy(test->purgatory), -EBUSY);
    assert_log(test, "");
    assert_waiting(test, 3, 1, 1, 3);
    assert_int_equal(htw_threshold_destroy(test->threshold), 0);
    test->threshold = NULL;
    assert_int_equal(test->waiters[0].reason, HTW_REASON_CLOSED);
    assert_int_equal(test->waiters[1].reason, HTW_REASON_CLOSED);
    assert_int_equal(test->waiters[0].released + test->waiters[1].released, 2);
    assert_waiting(test, 1, 1, 1, 1);
}

THRESHOLD_TEST(threshold_of_a_closed_purgatory_refuses_requests) {
    await_value(test, 'a', 101);
    await_value(test, 'b', UINT64_MAX);
    watch(purgatory_case_waiter(test, 'c'), MS, "k");
    assert_int_equal(htw_purgatory_close(test->purgatory, waiter_visit, test), 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(test->waiters[i].reason, HTW_REASON_CLOSED);
        assert_int_equal(test->waiters[i].visited, 1);
    }
    purgatory_case_forget_log(test);
    struct waiter *d = purgatory_case_waiter(test, 'd');
    assert_int_equal(waiter_await(d, 1000, MS), -ESHUTDOWN);
    assert_int_equal(waiter_await(d, 1, MS), -ESHUTDOWN);
    assert_advance_log(test, 2000, 0, "");
    assert_waiting(test, 0, 0, 0, 0);
}

UNIT_TEST(threshold_at_the_limit_of_the_scheduler_refuses) {
    struct purgatory_case test;
    purgatory_case_begin_limited(&test, 1);
    assert_int_equal(htw_threshold_create(test.purgatory, 0, &test.threshold), 0);
    htw_handle stranger = purgatory_case_stranger(&test);
    assert_int_equal(waiter_await(purgatory_case_waiter(&test, 'a'), 10, HTW_NEVER_NS),
                     HTW_WATCHED);
    struct waiter *b = purgatory_case_waiter(&test, 'b');
    struct htw_purgatory_stats before = purgatory_case_stats(&test);
    assert_int_equal(waiter_await(b, 10, MS), -EAGAIN);
    assert_same_stats(&test, &before);
    assert_int_equal(waiter_await(b, 0, MS), HTW_FINISHED);
    assert_int_equal(advance_to(&test, 10), 1);
    assert_int_equal(htw_cancel(test.scheduler, stranger), HTW_CANCELLED);
    assert_int_equal(waiter_await(b, 11, MS), HTW_WATCHED);
    purgatory_case_end(&test);
}

/* SPDX-License-Identifier: MIT */
/* test_threshold.c - requests wait until a value is reached. */
/* holds: purgatory-11 */
#include "../../support/purgatory_case.h"

#include <errno.h>

THRESHOLD_TEST(threshold_reached_already_ends_the_request_in_the_call) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    static const uint64_t values[] = { 100, 99, 1, 0 };
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(waiter_await(a, values[i], i == 0 ? 0 : MS), HTW_FINISHED);
        assert_log(test, "aC a=");
    }
    assert_waiting(test, 0, 0, 0, 0);
    assert_int_equal(htw_purgatory_delayed(test->purgatory), 0);
}

THRESHOLD_TEST(threshold_completes_requests_for_its_value_or_less) {
    await_value(test, 'a', 103);
    await_value(test, 'b', 101);
    await_value(test, 'c', 102);
    await_value(test, 'd', 200);
    assert_log(test, "");
    assert_waiting(test, 4, 0, 0, 4);
    assert_advance_log(test, 102, 2, "bC b= cC c=");
    assert_int_equal(htw_threshold_value(test->threshold), 102);
    assert_int_equal(advance_to(test, 102), 0);
    assert_advance_log(test, 103, 1, "aC a=");
    assert_int_equal(advance_to(test, 199), 0);
    assert_advance_log(test, 200, 1, "dC d=");
    assert_waiting(test, 0, 0, 0, 0);
    assert_int_equal(htw_purgatory_delayed(test->purgatory), 0);
}

THRESHOLD_TEST(threshold_advanced_to_a_smaller_value_ignores_it) {
    await_value(test, 'a', 110);
    assert_int_equal(advance_to(test, 99), 0);
    assert_int_equal(advance_to(test, 0), 0);
    assert_int_equal(htw_threshold_value(test->threshold), 100);
    assert_int_equal(advance_to(test, 109), 0);
    assert_int_equal(advance_to(test, 105), 0);
    assert_int_equal(htw_threshold_value(test->threshold), 109);
    assert_log(test, "");
    assert_int_equal(advance_to(test, 110), 1);
}

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

THRESHOLD_TEST(threshold_that_is_not_reached_lets_requests_expire) {
    struct waiter *a = purgatory_case_waiter(test, 'a'), *b = purgatory_case_waiter(test, 'b');
    struct waiter *c = purgatory_case_waiter(test, 'c'), *d = purgatory_case_waiter(test, 'd');
    assert_int_equal(waiter_await(a, 101, 2 * MS), HTW_WATCHED);
    assert_int_equal(waiter_await(b, 1000000, MS), HTW_WATCHED);
    assert_int_equal(waiter_await(c, 101, HTW_NEVER_NS), HTW_WATCHED);
    assert_int_equal(waiter_await(d, 101, -1), HTW_WATCHED);
    assert_waiting(test, 4, 0, 0, 3);
    assert_log(test, "");
    assert_log_after(test, 0, "dE d=");
    assert_log_after(test, MS, "bE b=");
    assert_log_after(test, MS, "aE a=");
    assert_waiting(test, 1, 0, 0, 0);
    assert_advance_log(test, 2000000, 1, "cC c=");
}

THRESHOLD_TEST(threshold_requests_can_be_ended_by_hand) {
    struct waiter *a = await_value(test, 'a', 101), *b = await_value(test, 'b', 101);
    await_value(test, 'c', 101);
    assert_true(complete(a));
    assert_true(cancel(b));
    assert_log(test, "aC a= bX b=");
    assert_waiting(test, 1, 0, 0, 1);
    assert_advance_log(test, 101, 1, "cC c=");
    assert_log_after(test, HTW_SECOND, "");
}

THRESHOLD_TEST(threshold_requests_are_on_no_key) {
    struct waiter *a = await_value(test, 'a', 101);
    assert_int_equal(check_key(test, ""), 0);
    assert_int_equal(cancel_key(test, ""), 0);
    assert_true(htw_request_is_pending(&a->request));
    assert_int_equal(submit(a, MS, "k"), -EBUSY);
    assert_int_equal(waiter_await(a, 101, MS), -EBUSY);
    assert_int_equal(waiter_await(a, 1, MS), -EBUSY);
    watch(purgatory_case_waiter(test, 'b'), MS, "k");
    assert_int_equal(waiter_await(&test->waiters[1], 101, MS), -EBUSY);
    assert_waiting(test, 2, 1, 1, 2);
    assert_ends(test, "");
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

/* ---- great values */

THRESHOLD_TEST(threshold_reaches_the_greatest_value) {
    await_value(test, 'a', UINT64_MAX);
    await_value(test, 'b', UINT64_MAX - 1);
    await_value(test, 'c', UINT64_C(1) << 63);
    await_value(test, 'd', UINT64_MAX);
    assert_int_equal(advance_to(test, UINT64_C(1) << 62), 0);
    assert_advance_log(test, UINT64_MAX - 2, 1, "cC c=");
    assert_advance_log(test, UINT64_MAX - 1, 1, "bC b=");
    await_value(test, 'e', UINT64_MAX);
    assert_int_equal(advance_to(test, UINT64_MAX), 3);
    assert_true(htw_threshold_value(test->threshold) == UINT64_MAX);
    assert_waiting(test, 0, 0, 0, 0);
    purgatory_case_forget_log(test);
    struct waiter *f = purgatory_case_waiter(test, 'f');
    assert_int_equal(waiter_await(f, UINT64_MAX, MS), HTW_FINISHED);
    assert_int_equal(advance_to(test, UINT64_MAX), 0);
}

THRESHOLD_TEST(threshold_in_one_step_to_the_greatest_value_keeps_the_order) {
    assert_int_equal(htw_threshold_lower(test->threshold, 0), 0);
    await_value(test, 'a', UINT64_MAX);
    await_value(test, 'b', 1);
    await_value(test, 'c', UINT64_MAX - 1);
    await_value(test, 'd', UINT64_MAX / 2);
    assert_advance_log(test, UINT64_MAX, 4, "bC b= dC d= cC c= aC a=");
}

THRESHOLD_TEST(threshold_may_start_at_any_value) {
    static const uint64_t values[] = { 1, 255, 256, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX };
    assert_int_equal(htw_threshold_destroy(test->threshold), 0);
    for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        assert_int_equal(htw_threshold_create(test->purgatory, values[i], &test->threshold), 0);
        assert_true(htw_threshold_value(test->threshold) == values[i]);
        struct waiter *a = purgatory_case_waiter(test, 'a');
        assert_int_equal(waiter_await(a, values[i], MS), HTW_FINISHED);
        if (values[i] < UINT64_MAX) {
            await_value(test, 'b', values[i] + 1);
            await_value(test, 'c', UINT64_MAX);
            assert_in_range(advance_to(test, values[i] + 1), 1, 2);
            assert_int_equal(test->waiters[1].ended, 1);
            advance_to(test, UINT64_MAX);
        }
        assert_waiting(test, 0, 0, 0, 0);
        assert_int_equal(htw_threshold_destroy(test->threshold), 0);
    }
    test->threshold = NULL;
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

/* Waits again for the next value, from release. */
static void await_next(struct waiter *self) {
    if (self->released < 50)
        self->result = waiter_await(self, 100 + self->released + 1, HTW_SECOND);
}

THRESHOLD_TEST(threshold_request_may_wait_again_from_release) {
    struct waiter *a = await_value(test, 'a', 101);
    a->name = '\0';
    a->on_released = await_next;
    assert_int_equal(advance_to(test, 101), 1);
    assert_int_equal(a->released, 1);
    assert_int_equal(a->result, HTW_WATCHED);
    advance_to(test, 200); /* all that it waits for now is reached in the call */
    assert_int_equal(a->released, 50);
    assert_waiting(test, 0, 0, 0, 0);
}

static void end_peer(struct waiter *self) {
    if (self->peer->life == WAITER_PENDING)
        self->answer = cancel(self->peer);
}

THRESHOLD_TEST(threshold_hooks_may_end_others_that_it_has_reached) {
    struct waiter *a = await_value(test, 'a', 101), *b = await_value(test, 'b', 102);
    a->on_ended = b->on_ended = end_peer;
    a->peer = await_value(test, 'c', 103);
    b->peer = await_value(test, 'd', 104);
    assert_int_equal(advance_to(test, 110), 2);
    assert_true(a->answer && b->answer);
    assert_ends(test, "aC cX bC dX");
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

THRESHOLD_TEST(threshold_memory_does_not_grow_with_use) {
    static struct waiter waiters[256];
    uint64_t before = 0;
    for (unsigned i = 0; i < 256; i++)
        waiter_init(&waiters[i], test, '\0');
    for (uint64_t value = 0; value < 20000; value++) {
        struct waiter *waiter = &waiters[value % 256];
        assert_int_equal(waiter_await(waiter, 101 + value + 200, MS), HTW_WATCHED);
        assert_int_equal(advance_to(test, 101 + value), value < 200 ? 0 : 1);
        if (value == 10000)
            before = purgatory_case_stats(test).memory_bytes;
    }
    assert_in_range(purgatory_case_stats(test).memory_bytes, before, before + 2048);
}

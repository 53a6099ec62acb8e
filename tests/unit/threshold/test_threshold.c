/* SPDX-License-Identifier: MIT */
/* test_threshold.c - hooks that change the threshold on which their request waits. Random histories of thresholds are in
   tests/model/model_purgatory.c. */
#include "../../support/purgatory_case.h"

static int64_t end_all(struct purgatory_case *test, enum htw_reason reason) {
    return htw_threshold_end_all(test->threshold, reason, waiter_visit, test);
}

/* ---- advanced, lowered */

static void advance_by_ten(struct waiter *self) {
    self->result = advance_to(self->test, htw_threshold_value(self->test->threshold) + 10);
}

/* holds: purgatory-11 */
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

static void lower_and_await(struct waiter *self) {
    self->result = htw_threshold_lower(self->test->threshold, 0);
    await_value(self->test, 'z', 5);
}

/* An advance completes all that it has reached, and none that came after a hook has lowered. */
/* holds: purgatory-16 */
THRESHOLD_TEST(threshold_lowered_by_a_hook_does_not_delay_the_advance) {
    await_value(test, 'a', 101)->on_ended = lower_and_await;
    await_value(test, 'b', 102);
    await_value(test, 'c', 111);
    assert_advance_log(test, 110, 2, "aC a= bC b=");
    assert_int_equal(htw_threshold_value(test->threshold), 0);
    assert_waiting(test, 2, 0, 0, 2);
    assert_advance_log(test, 5, 1, "zC z=");
}

/* ---- all ended */

static void await_more(struct waiter *self) {
    if (self->released < 50)
        self->result = waiter_await(self, 101 + self->released % 7, HTW_SECOND);
}

/* One that waits for less, one for more, and the same again. */
/* holds: purgatory-17 */
THRESHOLD_TEST(threshold_whose_hooks_wait_again_does_not_end_those) {
    static const uint64_t values[] = { 101, 104, 107 };
    for (unsigned i = 0; i < 3; i++)
        await_value(test, (char)('a' + i), values[i])->on_released = await_more;
    assert_int_equal(end_all(test, HTW_REASON_CANCELLED), 3);
    assert_waiting(test, 3, 0, 0, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(test->waiters[i].released, 1);
}

/* More new ones than are passed over under one lock. */
static void add_many(struct waiter *self) {
    static struct waiter others[100];
    for (unsigned i = 0; i < 100; i++) {
        waiter_init(&others[i], self->test, '\0');
        self->result = waiter_await(&others[i], 102, HTW_SECOND);
    }
}

THRESHOLD_TEST(threshold_to_which_a_hook_adds_many_ends_the_others) {
    await_value(test, 'a', 101)->on_ended = add_many;
    await_value(test, 'b', 103);
    assert_int_equal(end_all(test, HTW_REASON_COMPLETED), 2);
    assert_waiting(test, 100, 0, 0, 100);
}

static void end_all_again(struct waiter *self) {
    self->result = end_all(self->test, HTW_REASON_CANCELLED);
}

/* holds: purgatory-17 */
THRESHOLD_TEST(threshold_whose_hook_ends_all_ends_each_once) {
    struct waiter *a = await_value(test, 'a', 101);
    await_value(test, 'b', 102);
    a->on_ended = end_all_again;
    assert_int_equal(end_all(test, HTW_REASON_COMPLETED), 1);
    assert_int_equal(a->result, 1);
    assert_log(test, "a! aC b! bX b= a=");
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

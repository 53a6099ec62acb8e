/* SPDX-License-Identifier: MIT */
/* test_threshold_changes.c - thresholds that are lowered, or whose requests are ended. */
#include "../../support/purgatory_case.h"

#include <errno.h>

static void lower(struct purgatory_case *test, uint64_t value) {
    assert_int_equal(htw_threshold_lower(test->threshold, value), 0);
}

static int64_t end_all(struct purgatory_case *test, enum htw_reason reason) {
    return htw_threshold_end_all(test->threshold, reason, waiter_visit, test);
}

/* ---- lowered */

THRESHOLD_TEST(threshold_lowered_makes_new_requests_wait_again) {
    lower(test, 50);
    assert_int_equal(htw_threshold_value(test->threshold), 50);
    await_value(test, 'a', 100);
    await_value(test, 'b', 51);
    assert_int_equal(waiter_await(purgatory_case_waiter(test, 'c'), 50, MS), HTW_FINISHED);
    purgatory_case_forget_log(test);
    assert_advance_log(test, 99, 1, "bC b=");
    assert_advance_log(test, 100, 1, "aC a=");
}

/* holds: purgatory-16 */
THRESHOLD_TEST(threshold_lowered_ends_no_request) {
    await_value(test, 'a', 101);
    await_value(test, 'b', 150);
    lower(test, 0);
    await_value(test, 'c', 1);
    await_value(test, 'd', 101);
    assert_log(test, "");
    assert_waiting(test, 4, 0, 0, 4);
    assert_int_equal(advance_to(test, 100), 1);
    assert_int_equal(advance_to(test, 149), 2);
    assert_advance_log(test, 150, 1, "cC c= aC a= dC d= bC b=");
}

/* As often as one likes, over the whole range. */
/* holds: purgatory-16 */
THRESHOLD_TEST(threshold_lowered_and_raised_again_and_again_keeps_the_order) {
    for (unsigned round = 0; round < 5; round++) {
        lower(test, 0);
        await_value(test, 'a', UINT64_MAX);
        await_value(test, 'b', UINT64_MAX / 2);
        lower(test, 0);
        await_value(test, 'c', 1);
        assert_int_equal(advance_to(test, UINT64_MAX - 1), 2);
        lower(test, UINT64_MAX / 2);
        await_value(test, 'd', UINT64_MAX - 1);
        assert_advance_log(test, UINT64_MAX, 2, "cC c= bC b= dC d= aC a=");
    }
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

/* holds: purgatory-17 */
THRESHOLD_TEST(threshold_whose_requests_were_ended_can_be_used_as_before) {
    static const struct {
        enum htw_reason reason;
        const char *log;
    } cases[] = { { HTW_REASON_COMPLETED, "b! bC b= c! cC c= a! aC a=" },
                  { HTW_REASON_CANCELLED, "b! bX b= c! cX c= a! aX a=" },
                  { HTW_REASON_CLOSED, "b! bS b= c! cS c= a! aS a=" } };
    for (unsigned i = 0; i < 3; i++) {
        await_value(test, 'a', UINT64_MAX);
        await_value(test, 'b', 101);
        await_value(test, 'c', 101);
        watch(purgatory_case_waiter(test, 'd'), MS, "k");
        purgatory_case_forget_log(test);
        assert_int_equal(end_all(test, cases[i].reason), 3);
        assert_log(test, cases[i].log);
        assert_int_equal(htw_threshold_value(test->threshold), 100);
        assert_int_equal(end_all(test, cases[i].reason), 0);
        assert_true(cancel(&test->waiters[3]));
        assert_waiting(test, 0, 0, 0, 0);
    }
    await_value(test, 'a', 101);
    purgatory_case_forget_log(test);
    assert_advance_log(test, 101, 1, "aC a=");
}

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

/* holds: purgatory-18 */
THRESHOLD_TEST(threshold_needs_no_memory_to_wait_to_be_lowered_and_to_end_all) {
    uint64_t before = test->memory.live_bytes;
    failing_allocator_fail(&test->memory, 1, true);
    for (char name = 'a'; name <= 'e'; name++)
        assert_int_equal(waiter_await(purgatory_case_waiter(test, name),
                                      UINT64_C(1) << (10 * (name - 'a' + 1)), HTW_NEVER_NS),
                         HTW_WATCHED);
    lower(test, 0);
    assert_int_equal(end_all(test, HTW_REASON_CANCELLED), 5);
    failing_allocator_relent(&test->memory);
    assert_int_equal(test->memory.live_bytes, before);
}

THRESHOLD_TEST(threshold_changed_wrongly_is_refused) {
    await_value(test, 'a', 101);
    assert_int_equal(htw_threshold_lower(NULL, 1), -EINVAL);
    assert_int_equal(htw_threshold_end_all(NULL, HTW_REASON_CANCELLED, NULL, NULL), -EINVAL);
    assert_int_equal(end_all(test, HTW_REASON_EXPIRED), -EINVAL);
    assert_int_equal(end_all(test, (enum htw_reason)4), -EINVAL);
    assert_log(test, "");
    assert_waiting(test, 1, 0, 0, 1);
}

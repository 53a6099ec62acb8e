/* SPDX-License-Identifier: MIT */
/* test_timeout.c - requests that wait get another timeout. */
#include "../../support/purgatory_case.h"

#include <errno.h>

/* holds: purgatory-21 */
PURGATORY_TEST(purgatory_timeout_made_longer_expires_later) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    watch(a, 5 * MS, "k");
    watch(purgatory_case_waiter(test, 'b'), 5 * MS, "k");
    purgatory_case_advance(test, 4 * MS);
    assert_int_equal(set_timeout(a, 10 * MS), 0);
    purgatory_case_forget_log(test);
    assert_log_after(test, 9 * MS, "bE b=");
    assert_waiting(test, 1, 1, 1, 1);
    assert_log_after(test, MS, "aE a=");
}

PURGATORY_TEST(purgatory_timeout_made_shorter_expires_earlier) {
    struct waiter *a = purgatory_case_waiter(test, 'a'), *b = purgatory_case_waiter(test, 'b');
    static const int64_t none_ns[] = { 0, -1, INT64_MIN };
    watch(a, HTW_SECOND, "k");
    assert_int_equal(set_timeout(a, 2 * MS), 0);
    purgatory_case_forget_log(test);
    assert_log_after(test, MS, "");
    assert_log_after(test, MS, "aE a=");
    for (unsigned i = 0; i < 3; i++) {
        watch(b, HTW_SECOND, "k");
        assert_int_equal(set_timeout(b, none_ns[i]), 0);
        assert_ends(test, "");
        assert_ends_after(test, 0, "bE");
    }
}

PURGATORY_TEST(purgatory_timeout_removed_never_expires_and_can_be_set_again) {
    static const int64_t long_ns[] = { HTW_NEVER_NS, HTW_NEVER_NS - 1, HTW_NEVER_NS / 2 };
    struct waiter *a = purgatory_case_waiter(test, 'a');
    watch(a, MS, "k");
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(set_timeout(a, long_ns[i]), 0);
        assert_ends_after(test, 1000000 * HTW_SECOND, "");
        assert_waiting(test, 1, 1, 1, 1);
    }
    assert_int_equal(set_timeout(a, MS), 0);
    assert_ends_after(test, MS, "aE");
}

PURGATORY_TEST(purgatory_timeout_on_a_threshold_can_be_changed) {
    assert_int_equal(htw_threshold_create(test->purgatory, 0, &test->threshold), 0);
    struct waiter *a = purgatory_case_waiter(test, 'a'), *b = purgatory_case_waiter(test, 'b');
    assert_int_equal(waiter_await(a, 10, MS), HTW_WATCHED);
    assert_int_equal(waiter_await(b, 10, MS), HTW_WATCHED);
    assert_int_equal(set_timeout(a, 2 * MS), 0);
    assert_log_after(test, MS, "bE b=");
    assert_int_equal(htw_threshold_advance(test->threshold, 10), 1);
    assert_log(test, "aC a=");
    assert_log_after(test, HTW_SECOND, "");
}

/* holds: purgatory-21 */
PURGATORY_TEST(purgatory_timeout_that_does_not_run_is_not_changed) {
    struct waiter *a = purgatory_case_waiter(test, 'a'), *b = purgatory_case_waiter(test, 'b');
    assert_int_equal(set_timeout(a, MS), -ENOENT); /* never submitted */
    watch(a, HTW_NEVER_NS, "k");
    assert_int_equal(set_timeout(a, MS), -ENOENT);
    purgatory_case_advance(test, HTW_SECOND);
    assert_true(cancel(a));
    assert_int_equal(set_timeout(a, MS), -ENOENT);
    watch(b, MS, "k");
    purgatory_case_advance(test, MS);
    assert_int_equal(set_timeout(b, MS), -ENOENT);
    watch(b, MS, "k"); /* it has had a timeout once */
    assert_int_equal(set_timeout(b, 2 * MS), 0);
    assert_true(complete(b));
    assert_int_equal(set_timeout(b, MS), -ENOENT);
    assert_ends_after(test, HTW_SECOND, "aX bE bC");
}

PURGATORY_TEST(purgatory_timeout_given_wrongly_is_refused) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    watch(a, MS, "k");
    assert_int_equal(htw_request_set_timeout(NULL, &a->request, 2 * MS), -EINVAL);
    assert_int_equal(htw_request_set_timeout(test->purgatory, NULL, 2 * MS), -EINVAL);
    assert_ends_after(test, MS, "aE");
}

/* ---- hooks */

static void set_own(struct waiter *self) {
    self->result = set_timeout(self, 3 * MS);
}

PURGATORY_TEST(purgatory_timeout_is_changed_in_try_complete_of_one_that_waits) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    a->on_asked = set_own;
    watch(a, MS, "k");
    assert_int_equal(a->result, -ENOENT); /* it did not wait yet */
    assert_int_equal(check_key(test, "k"), 0);
    assert_int_equal(a->result, 0);
    assert_ends_after(test, 2 * MS, "");
    assert_ends_after(test, MS, "aE");
}

PURGATORY_TEST(purgatory_timeout_is_not_changed_in_hooks_of_one_that_ends) {
    struct waiter *a = purgatory_case_waiter(test, 'a'), *b = purgatory_case_waiter(test, 'b');
    a->on_ended = b->on_released = set_own;
    watch(a, MS, "k");
    watch(b, MS, "k");
    purgatory_case_advance(test, MS);
    assert_int_equal(a->result, -ENOENT);
    assert_int_equal(b->result, -ENOENT);
    purgatory_case_advance(test, HTW_SECOND);
    assert_int_equal(a->ended + b->ended, 2);
}

static void set_peer(struct waiter *self) {
    self->result = set_timeout(self->peer, 3 * MS);
}

/* The timer has rung, and one of two requests is taken: the other is still in time. */
PURGATORY_TEST(purgatory_timeout_that_is_due_can_be_changed_until_it_is_taken) {
    struct waiter *a = purgatory_case_waiter(test, 'a'), *b = purgatory_case_waiter(test, 'b');
    a->peer = b;
    b->peer = a;
    a->on_ended = b->on_ended = set_peer;
    watch(a, MS, "k");
    watch(b, MS, "k");
    purgatory_case_advance(test, MS);
    assert_int_equal(a->ended + b->ended, 1);
    assert_int_equal(a->ended ? a->result : b->result, 0);
    purgatory_case_advance(test, 3 * MS);
    assert_int_equal(a->ended + b->ended, 2);
    assert_int_equal(a->result + b->result, -ENOENT);
}

/* The timer expires while a hook runs, and leaves a mark; that is not taken back. */
static void ring_and_set(struct waiter *self) {
    if (self->asked <= 2)
        return;
    self->on_asked = NULL;
    purgatory_case_advance(self->test, MS);
    self->result = set_timeout(self, MS);
}

static void cancel_and_set(struct waiter *self) {
    if (self->asked <= 2)
        return;
    self->on_asked = NULL;
    self->answer = cancel(self);
    self->result = set_timeout(self, HTW_SECOND);
}

/* holds: purgatory-21 */
PURGATORY_TEST(purgatory_timeout_of_a_marked_request_does_not_keep_it) {
    struct waiter *a = purgatory_case_waiter(test, 'a'), *b = purgatory_case_waiter(test, 'b');
    a->on_asked = ring_and_set;
    b->on_asked = cancel_and_set;
    watch(a, MS, "k");
    watch(b, HTW_SECOND, "l");
    assert_int_equal(check_key(test, "k"), 0);
    assert_int_equal(a->result, -ENOENT);
    assert_int_equal(check_key(test, "l"), 0);
    assert_true(b->answer);
    assert_int_equal(b->result, 0);
    assert_ends(test, "aE bX");
}

/* ---- refused */

/* On a clock that goes on by itself, since on a manual one the wheel has a place for every deadline
   from the beginning. */
/* holds: purgatory-21 */
UNIT_TEST(purgatory_timeout_refused_memory_stays_as_it_was) {
    struct purgatory_case test;
    struct htw_scheduler_options options = purgatory_case_scheduler_options();
    options.clock = HTW_CLOCK_MONOTONIC;
    options.embedded = true;
    purgatory_case_begin(&test, &options, NULL);
    struct waiter *a = purgatory_case_waiter(&test, 'a');
    watch(a, 1000 * HTW_SECOND, "k");
    uint64_t before = htw_timer_deadline(&a->request._timeout);
    failing_allocator_fail(&test.memory, 1, true);
    assert_int_equal(set_timeout(a, HTW_NEVER_NS), -ENOMEM);
    failing_allocator_relent(&test.memory);
    assert_int_equal(htw_timer_deadline(&a->request._timeout), before);
    assert_waiting(&test, 1, 1, 1, 1);
    assert_int_equal(set_timeout(a, HTW_NEVER_NS), 0);
    assert_true(htw_timer_deadline(&a->request._timeout) > before);
    assert_true(cancel(a));
    purgatory_case_end(&test);
}

PURGATORY_TEST(purgatory_timeout_after_the_scheduler_was_stopped_stays_as_it_was) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    watch(a, 5 * MS, "k");
    uint64_t before = htw_timer_deadline(&a->request._timeout);
    assert_int_equal(htw_scheduler_stop(test->scheduler, NULL, NULL), 0);
    assert_int_equal(set_timeout(a, MS), -ESHUTDOWN);
    assert_int_equal(htw_timer_deadline(&a->request._timeout), before);
    assert_true(cancel(a));
}

PURGATORY_TEST(purgatory_timeout_changed_often_takes_no_memory_and_no_timers) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    watch(a, MS, "k");
    struct htw_purgatory_stats before = purgatory_case_stats(test);
    for (int64_t i = 0; i < 5000; i++) {
        assert_int_equal(set_timeout(a, (i * 7919 % 1000 + 2) * MS), 0);
        if (i % 50 == 0)
            purgatory_case_advance(test, MS);
    }
    assert_same_stats(test, &before);
    assert_ends(test, "");
}

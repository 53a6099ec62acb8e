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

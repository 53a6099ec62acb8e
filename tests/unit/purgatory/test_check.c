/* SPDX-License-Identifier: MIT */
/* test_check.c - an event on a key: which requests are asked, in which order, and what remains. */
#include "../../support/purgatory_case.h"

#include <errno.h>

/* holds: purgatory-7 */
PURGATORY_TEST(purgatory_check_asks_in_order_of_arrival) {
    watch_each(test, "bdaec", HTW_NEVER_NS, "k");
    assert_check_log(test, "k", 0, "b? d? a? e? c?");
    assert_true(cancel(&test->waiters['d' - 'a']));
    watch_each(test, "d", HTW_NEVER_NS, "k");
    assert_check_log(test, "k", 0, "b? a? e? c? d?");
}

PURGATORY_TEST(purgatory_check_given_wrongly_is_refused) {
    watch_each(test, "A", HTW_NEVER_NS, "k");
    assert_int_equal(htw_purgatory_check(NULL, "k", 1), -EINVAL);
    assert_int_equal(htw_purgatory_check(test->purgatory, NULL, 1), -EINVAL);
    assert_int_equal(htw_purgatory_check_at_most(NULL, "k", 1, 1), -EINVAL);
    assert_int_equal(htw_purgatory_check_at_most(test->purgatory, NULL, 1, 1), -EINVAL);
    assert_int_equal(htw_purgatory_check_later(NULL, "k", 1), -EINVAL);
    assert_int_equal(htw_purgatory_check_later(test->purgatory, NULL, 1), -EINVAL);
    assert_int_equal(htw_purgatory_cancel_key(NULL, "k", 1, NULL, NULL), -EINVAL);
    assert_int_equal(htw_purgatory_cancel_key(test->purgatory, NULL, 1, NULL, NULL), -EINVAL);
    assert_log_after(test, MS, "");
}

/* holds: purgatory-7 */
PURGATORY_TEST(purgatory_check_at_most_stops_at_its_limit) {
    watch_each(test, "aBcDEFg", HTW_NEVER_NS, "k");
    assert_int_equal(check_key_at_most(test, "k", 0), 0);
    assert_log(test, "");
    assert_int_equal(check_key_at_most(test, "k", 1), 1);
    assert_log(test, "a? b? bC b=");
    assert_int_equal(check_key_at_most(test, "k", 2), 2);
    assert_ends(test, "dC eC");
    assert_int_equal(test->waiters['f' - 'a'].asked, 2);
    assert_int_equal(check_key_at_most(test, "k", 2), 1);
    assert_ends(test, "fC");
    assert_int_equal(check_key_at_most(test, "k", UINT64_MAX), 0);
    assert_log(test, "a? c? g?");
}

/* ---- what changes meanwhile */

/* Puts another on the key that is being checked. */
static void bring_peer(struct waiter *self) {
    struct waiter *peer = self->peer;
    self->peer = NULL;
    if (peer != NULL)
        self->result = submit(peer, HTW_NEVER_NS, "k");
}

/* holds: purgatory-7 */
PURGATORY_TEST(purgatory_check_asks_no_request_twice_when_others_arrive_meanwhile) {
    watch_each(test, "abc", HTW_NEVER_NS, "k");
    struct waiter *a = &test->waiters[0], *x = purgatory_case_waiter(test, 'x');
    struct waiter *b = &test->waiters[1], *y = purgatory_case_waiter(test, 'y');
    a->on_asked = bring_peer;
    a->peer = x;
    b->ready = true;
    b->on_ended = bring_peer;
    b->peer = y;
    assert_int_equal(check_key(test, "k"), 1);
    assert_int_equal(a->asked, 3);
    assert_int_equal(b->asked, 3);
    assert_int_equal(test->waiters[2].asked, 3);
    assert_in_range(x->asked, 2, 3); /* when it was submitted, and perhaps by the check */
    assert_in_range(y->asked, 2, 3);
    purgatory_case_forget_log(test);
    assert_check_log(test, "k", 0, "a? c? x? y?");
}

static void count_from_inside(struct waiter *self) {
    self->result = (int64_t)htw_purgatory_watched(self->test->purgatory);
    self->answer = htw_purgatory_delayed(self->test->purgatory) == 0 &&
                   check_key(self->test, "k") == 0 && check_key(self->test, "m") == 0;
}

/* By an event, by its own end of time, and by hand. */
/* holds: purgatory-6 */
PURGATORY_TEST(purgatory_request_is_removed_from_all_keys_before_on_complete) {
    for (unsigned way = 0; way < 4; way++) {
        struct waiter *a = purgatory_case_waiter(test, 'a');
        a->on_ended = count_from_inside;
        watch(a, MS, "k", "l", "m");
        a->ready = true;
        a->result = -1;
        if (way == 0)
            assert_int_equal(check_key(test, "l"), 1);
        else if (way == 1)
            purgatory_case_advance(test, MS);
        else if (way == 2)
            assert_true(complete(a));
        else
            assert_int_equal(cancel_key(test, "m"), 1);
        assert_int_equal(a->ended, 1);
        assert_int_equal(a->result, 0);
        assert_true(a->answer);
        assert_waiting(test, 0, 0, 0, 0);
        assert_int_equal(htw_purgatory_delayed(test->purgatory), 0);
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * test_nested.c - `try_complete` hooks that check the key which the same thread is checking. The
 * check in progress goes round again, no event is lost, and the number of calls is bounded.
 */
/* holds: purgatory-22 */
#include "../../support/purgatory_case.h"

enum { MANY = 1000 };

static struct waiter waiters[MANY];

/* Puts waiters on key "k", in the order of the array. */
static void watch_all(struct purgatory_case *test, unsigned count,
                      void (*on_asked)(struct waiter *)) {
    for (unsigned i = 0; i < count; i++) {
        waiter_init(&waiters[i], test, '\0');
        watch(&waiters[i], HTW_NEVER_NS, "k");
        waiters[i].asked = 0;
    }
    for (unsigned i = 0; i < count; i++)
        waiters[i].on_asked = on_asked;
}

static unsigned asked_in_all(unsigned count) {
    unsigned asked = 0;
    for (unsigned i = 0; i < count; i++)
        asked += waiters[i].asked;
    return asked;
}

static void check_own_key(struct waiter *self) {
    self->result += check_key(self->test, "k");
}

/* 7 of them once caused a million calls. */
PURGATORY_TEST(purgatory_hooks_that_always_check_their_key_are_asked_a_few_times) {
    watch_all(test, 7, check_own_key);
    assert_int_equal(check_key(test, "k"), 0);
    assert_in_range(asked_in_all(7), 2 * 7, 5 * 7);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(waiters[i].result, 0);
    assert_waiting(test, 7, 7, 1, 0);
}

/* ---- no event is lost */

static unsigned turn;

/* The waiter whose turn it is passes the turn to the one before it, which was asked before, and
   says no: so each step takes another round. When no turn is left all say yes. */
static void pass_turn_back(struct waiter *self) {
    unsigned index = (unsigned)(self - waiters);
    self->ready = turn == 0;
    if (turn == index + 1) {
        turn = index;
        self->result += check_key(self->test, "k");
    }
}

PURGATORY_TEST(purgatory_events_that_go_against_the_order_of_arrival_are_all_seen) {
    enum { COUNT = 100 };
    watch_all(test, COUNT, pass_turn_back);
    turn = COUNT;
    assert_int_equal(check_key(test, "k"), COUNT);
    assert_int_equal(turn, 0);
    assert_true(asked_in_all(COUNT) <= (COUNT + 1) * COUNT);
    assert_waiting(test, 0, 0, 0, 0);
}

static void check_for_one_more(struct waiter *self) {
    if (self->asked == 1)
        self->result = check_key_at_most(self->test, "k", 1);
}

PURGATORY_TEST(purgatory_check_inside_adds_its_limit_to_that_of_the_one_outside) {
    watch_all(test, 5, NULL);
    waiters[0].on_asked = check_for_one_more;
    for (unsigned i = 1; i < 5; i++)
        waiters[i].ready = true;
    assert_int_equal(check_key_at_most(test, "k", 1), 2);
    assert_int_equal(waiters[0].result, 0);
    assert_int_equal(waiters[1].ended + waiters[2].ended, 2);
    assert_int_equal(waiters[3].asked + waiters[4].asked, 0);
}

static void come_back(struct waiter *self) {
    self->result = submit(self, HTW_NEVER_NS, "k");
}

static void say_yes_to_checks(struct waiter *self) {
    self->ready = self->asked % 3 == 0; /* not when it is submitted */
    if (self->ready)
        check_key(self->test, "k");
}

/* Each takes itself back to the key in `release`, and says yes when it is asked there. */
PURGATORY_TEST(purgatory_check_inside_ends_although_requests_are_submitted_again) {
    watch_all(test, 5, NULL);
    for (unsigned i = 0; i < 5; i++) {
        waiters[i].asked = 2;
        waiters[i].on_asked = say_yes_to_checks;
        waiters[i].on_released = come_back;
    }
    assert_in_range(check_key(test, "k"), 5, 5 * (5 + 16 + 1));
    assert_waiting(test, 5, 5, 1, 0);
    for (unsigned i = 0; i < 5; i++)
        waiters[i].on_released = NULL;
}

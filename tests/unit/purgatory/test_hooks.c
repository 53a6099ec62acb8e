/* SPDX-License-Identifier: MIT */
/* test_hooks.c - hooks that call the library, on their own request and on others. */
/* holds: purgatory-5 */
#include "../../support/purgatory_case.h"

#include <errno.h>

/* ---- keys */

static void check_own_key(struct waiter *self) {
    self->result = check_key(self->test, "k");
}

static void check_other_key(struct waiter *self) {
    self->result = check_key(self->test, "l");
}

/* A hook that always checks its own key is asked again for that, but only once. */
PURGATORY_TEST(purgatory_try_complete_that_checks_its_own_key_is_asked_once_more) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    a->on_asked = check_own_key;
    watch(a, HTW_SECOND, "k");
    assert_log(test, "a? a? a?"); /* the first time it is not on the key yet */
    assert_check_log(test, "k", 0, "a? a?");
    a->yes_at = a->asked + 2;
    assert_check_log(test, "k", 1, "a? a? aC a=");
    assert_int_equal(a->result, 0); /* it was marked, and not counted */
    assert_waiting(test, 0, 0, 0, 0);
}

PURGATORY_TEST(purgatory_try_completes_that_check_each_other_end) {
    struct waiter *w = watch_each(test, "abcd", HTW_SECOND, "k");
    for (unsigned i = 0; i < 4; i++) {
        w[i].name = '\0';
        w[i].on_asked = check_own_key;
    }
    assert_int_equal(check_key(test, "k"), 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(w[i].asked >= 3);
        w[i].ready = true;
    }
    assert_true(check_key(test, "k") > 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(w[i].ended, 1);
    assert_waiting(test, 0, 0, 0, 0);
}

/* In its n-th call, `try_complete` makes its request ready and checks its key, and says no. */
static unsigned ready_at;

static void get_ready_and_check(struct waiter *self) {
    if (self->asked == ready_at) {
        self->result = check_key(self->test, "k");
        self->yes_at = ready_at + 1;
    }
}

/* holds: purgatory-2 */
PURGATORY_TEST(purgatory_event_inside_try_complete_is_not_lost) {
    ready_at = 3;
    watch_each(test, "a", HTW_SECOND, "k")->on_asked = get_ready_and_check;
    assert_check_log(test, "k", 1, "a? a? aC a=");
}

/* holds: purgatory-2 */
PURGATORY_TEST(purgatory_event_inside_the_second_try_is_not_lost) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    ready_at = 2;
    a->on_asked = get_ready_and_check;
    assert_int_equal(submit(a, HTW_SECOND, "k", "l"), HTW_FINISHED);
    assert_log(test, "a? a? a? aC a=");
    assert_waiting(test, 0, 0, 0, 0);
}

PURGATORY_TEST(purgatory_on_complete_may_check_its_own_key) {
    struct waiter *w = watch_each(test, "abc", HTW_SECOND, "k");
    for (unsigned i = 0; i < 3; i++) {
        w[i].ready = true;
        w[i].on_ended = check_own_key;
    }
    assert_int_equal(check_key(test, "k") + w[0].result + w[1].result + w[2].result, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(w[i].ended, 1);
    assert_waiting(test, 0, 0, 0, 0);
}

PURGATORY_TEST(purgatory_hooks_may_check_other_keys) {
    struct waiter *a = purgatory_case_waiter(test, 'a'), *b = purgatory_case_waiter(test, 'b');
    struct waiter *c = purgatory_case_waiter(test, 'c'), *d = purgatory_case_waiter(test, 'd');
    watch(a, HTW_SECOND, "k");
    watch(b, HTW_SECOND, "k");
    watch(c, HTW_SECOND, "l");
    watch(d, HTW_SECOND, "l");
    purgatory_case_forget_log(test);
    a->on_asked = check_other_key;
    b->on_ended = check_other_key;
    b->ready = true;
    d->yes_at = 4;
    assert_int_equal(check_key(test, "k"), 1);
    assert_int_equal(a->result, 0);
    assert_int_equal(b->result, 1);
    assert_log(test, "a? c? d? b? bC c? d? dC d= b=");
}

static void cancel_own_key(struct waiter *self) {
    self->result = cancel_key(self->test, "k");
}

PURGATORY_TEST(purgatory_try_complete_may_cancel_its_own_key) {
    struct waiter *w = watch_each(test, "abc", HTW_SECOND, "k");
    w[1].on_asked = cancel_own_key;
    assert_int_equal(check_key(test, "k"), 0);
    assert_int_equal(w[1].result, 3);
    /* The one that is in its hook is marked, ends behind it, and without a visitor. */
    assert_log(test, "a? b? a! aX a= c! cX c= bX b=");
    w = watch_each(test, "abc", HTW_SECOND, "k");
    w[0].on_asked = cancel_own_key;
    w[0].ready = true;
    assert_check_log(test, "k", 1, "a? b! bX b= c! cX c= aC a=");
}

PURGATORY_TEST(purgatory_on_complete_may_cancel_its_own_key) {
    struct waiter *w = watch_each(test, "abc", HTW_SECOND, "k");
    w[1].ready = true;
    w[1].on_ended = cancel_own_key;
    assert_int_equal(check_key(test, "k"), 1);
    assert_int_equal(w[1].result, 2);
    assert_ends(test, "bC aX cX");
    assert_int_equal(w[0].visited + w[2].visited, 2);
    assert_waiting(test, 0, 0, 0, 0);
}

PURGATORY_TEST(purgatory_visitor_may_check_and_cancel_the_key) {
    struct waiter *w = watch_each(test, "abcd", HTW_SECOND, "k");
    w[0].on_visited = cancel_own_key;
    assert_int_equal(cancel_key(test, "k") + w[0].result, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(w[i].ended, 1);
        assert_int_equal(w[i].visited, 1);
    }
    w = watch_each(test, "abc", HTW_SECOND, "k");
    w[0].on_visited = check_own_key;
    w[1].ready = true;
    assert_int_equal(cancel_key(test, "k") + w[0].result, 3);
    assert_int_equal(w[0].reason, HTW_REASON_CANCELLED);
    assert_int_equal(w[2].reason, HTW_REASON_CANCELLED);
    assert_waiting(test, 0, 0, 0, 0);
}

/* ---- new requests */

static void submit_peer(struct waiter *self) {
    struct waiter *peer = self->peer;
    self->peer = NULL;
    if (peer != NULL)
        self->result = submit(peer, HTW_SECOND, "k", "l", "m");
}

PURGATORY_TEST(purgatory_every_hook_may_submit_others) {
    struct waiter *a = &test->waiters[0];
    void (**hooks[])(struct waiter *) = { &a->on_asked, &a->on_visited, &a->on_ended,
                                          &a->on_released };
    for (unsigned i = 0; i < 4; i++) {
        watch_each(test, "a", HTW_SECOND, "k");
        struct waiter *b = purgatory_case_waiter(test, 'b');
        *hooks[i] = submit_peer;
        a->peer = b;
        a->result = -1;
        check_key(test, "k");
        cancel_key(test, "k");
        cancel_key(test, "l");
        assert_int_equal(a->result, HTW_WATCHED);
        assert_int_equal(b->ended, 1);
        assert_int_equal(a->ended, 1);
        assert_waiting(test, 0, 0, 0, 0);
    }
}

/* ---- end of all */

static void destroy_all(struct waiter *self) {
    self->result = htw_purgatory_destroy(self->test->purgatory);
}

PURGATORY_TEST(purgatory_hook_cannot_destroy) {
    struct waiter *a = &test->waiters[0];
    void (**hooks[])(struct waiter *) = { &a->on_asked, &a->on_visited, &a->on_ended,
                                          &a->on_released };
    for (unsigned i = 0; i < 4; i++) {
        watch_each(test, "a", HTW_SECOND, "k");
        *hooks[i] = destroy_all;
        check_key(test, "k");
        if (i != 1)
            purgatory_case_advance(test, HTW_SECOND); /* in a callback of the scheduler */
        cancel_key(test, "k");
        assert_int_equal(a->result, -EDEADLK);
        assert_int_equal(a->ended, 1);
        purgatory_case_forget_log(test);
    }
    watch_each(test, "a", HTW_SECOND, "k"); /* it has not even been closed */
}

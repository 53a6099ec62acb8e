/* SPDX-License-Identifier: MIT */
/* test_hooks.c - hooks that call the library, on their own request and on others. */
/* holds: purgatory-5 */
#include "../../support/purgatory_case.h"

#include <errno.h>

/* ---- keys */

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

/* SPDX-License-Identifier: MIT */
/*
 * test_requests.c - the life of a request, told by examples: when it is asked, in which order, and what is true in its
 * hooks. tests/model/model_purgatory.c has random histories of the same; in tests/stage/requests.c hooks do anything.
 */
#include "../../support/purgatory_case.h"

#include <htw/scope.h>

PURGATORY_TEST(purgatory_request_that_is_new_or_null_is_not_pending) {
    struct htw_request request, zeroed;
    memset(&request, 0xff, sizeof(request));
    memset(&zeroed, 0, sizeof(zeroed));
    htw_request_init(&request);
    htw_request_init(NULL);
    assert_memory_equal(&request, &zeroed, sizeof(zeroed));
    assert_false(htw_request_is_pending(&request));
    assert_false(htw_request_is_pending(NULL));
}

/* ---- asked */

static int64_t count_on_all(struct purgatory_case *test) {
    int64_t count = 0;
    for (const char *key = "klm"; *key != '\0'; key++)
        count += htw_purgatory_count_key(test->purgatory, key, 1);
    return count;
}

static void look_from_inside(struct waiter *self) {
    if (self->asked == 1)
        self->answer = count_on_all(self->test) == 0;
    else
        self->result = count_on_all(self->test);
}

/* holds: purgatory-2 */
PURGATORY_TEST(purgatory_request_is_asked_before_and_after_it_is_on_all_keys) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    a->on_asked = look_from_inside;
    watch(a, MS, "k", "l", "m");
    assert_log(test, "a? a?");
    assert_true(a->answer);
    assert_int_equal(a->result, 3);
    assert_waiting(test, 1, 3, 3, 1);
}

/* holds: purgatory-7 */
PURGATORY_TEST(purgatory_check_asks_in_order_of_arrival) {
    watch_each(test, "bdaec", HTW_NEVER_NS, "k");
    assert_check_log(test, "k", 0, "b? d? a? e? c?");
    assert_true(cancel(&test->waiters['d' - 'a']));
    watch_each(test, "d", HTW_NEVER_NS, "k");
    assert_check_log(test, "k", 0, "b? a? e? c? d?");
}

/* In `release`, a few times. */
static void come_back(struct waiter *self) {
    if (self->released < 5)
        self->result = submit(self, HTW_NEVER_NS, "k");
}

PURGATORY_TEST(purgatory_cancel_of_a_key_ends_no_request_that_comes_back_meanwhile) {
    watch_each(test, "ab", HTW_NEVER_NS, "k");
    test->waiters[0].on_released = test->waiters[1].on_released = come_back;
    assert_int_equal(cancel_key(test, "k"), 2);
    assert_waiting(test, 2, 2, 1, 0);
}

/* Puts another on the key that is being checked. */
static void bring_peer(struct waiter *self) {
    struct waiter *peer = self->peer;
    self->peer = NULL;
    if (peer != NULL)
        self->result = submit(peer, HTW_NEVER_NS, "k");
}

/* holds: purgatory-7 */
PURGATORY_TEST(purgatory_check_asks_no_request_twice_when_others_arrive_meanwhile) {
    watch_each(test, "aBcde", HTW_NEVER_NS, "k");
    struct waiter *a = &test->waiters[0], *b = &test->waiters[1];
    struct waiter *x = purgatory_case_waiter(test, 'x'), *y = purgatory_case_waiter(test, 'y');
    a->on_asked = b->on_ended = bring_peer;
    a->peer = x;
    b->peer = y;
    assert_int_equal(check_key(test, "k"), 1);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(test->waiters[i].asked, 3);
    assert_in_range(x->asked, 2, 3); /* when it was submitted, and perhaps by the check */
    assert_in_range(y->asked, 2, 3);
    purgatory_case_forget_log(test);
    assert_check_log(test, "k", 0, "a? c? d? e? x? y?");
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
    struct waiter *b = purgatory_case_waiter(test, 'b');
    ready_at = 2; /* in the submission */
    b->on_asked = get_ready_and_check;
    assert_int_equal(submit(b, HTW_SECOND, "k", "l"), HTW_FINISHED);
    assert_log(test, "b? b? b? bC b=");
    assert_waiting(test, 0, 0, 0, 0);
}

/* ---- in its hooks */

static void submit_itself(struct waiter *self) {
    self->result = submit(self, MS, "other");
}

PURGATORY_TEST(purgatory_request_in_its_hooks_is_busy) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    a->on_asked = a->on_ended = submit_itself;
    watch(a, MS, "k");
    assert_int_equal(a->result, -EBUSY);
    a->result = 0;
    purgatory_case_advance(test, MS);
    assert_int_equal(a->result, -EBUSY);
    assert_log(test, "a? a? aE a=");
}

static void look_at_all(struct waiter *self) {
    struct htw_purgatory_stats stats = purgatory_case_stats(self->test);
    self->result = (int64_t)(stats.watched + stats.keys + stats.delayed);
    self->answer = check_key(self->test, "k") == 0 && check_key(self->test, "m") == 0;
}

/* By an event, by its own end of time, and by hand. */
/* holds: purgatory-6 */
PURGATORY_TEST(purgatory_request_is_removed_from_all_keys_before_on_complete) {
    for (unsigned way = 0; way < 4; way++) {
        struct waiter *a = purgatory_case_waiter(test, 'a');
        a->on_ended = look_at_all;
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
    }
}

static void close_all(struct waiter *self) {
    self->result = htw_purgatory_close(self->test->purgatory, waiter_visit, self->test);
}

/* holds: purgatory-3 */
PURGATORY_TEST(purgatory_closed_from_try_complete_that_returns_true_completes_the_request) {
    struct waiter *a = watch_each(test, "A", MS, "k");
    a->on_asked = close_all;
    assert_int_equal(check_key(test, "k"), 1);
    assert_int_equal(a->result, 1);
    assert_ends(test, "aC");
}

static void destroy_all(struct waiter *self) {
    self->result = htw_purgatory_destroy(self->test->purgatory);
}

/* holds: purgatory-5 */
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

/* The timer expires while a hook runs, and leaves a mark; that is not taken back. */
static void expire_and_set_timeout(struct waiter *self) {
    self->on_asked = NULL;
    purgatory_case_advance(self->test, MS);
    self->result = set_timeout(self, MS);
}

static void cancel_and_set_timeout(struct waiter *self) {
    self->on_asked = NULL;
    self->answer = cancel(self);
    self->result = set_timeout(self, HTW_SECOND);
}

/* holds: purgatory-21 */
PURGATORY_TEST(purgatory_timeout_of_a_marked_request_does_not_keep_it) {
    struct waiter *a = watch_each(test, "a", MS, "k"), *b = a + 1;
    watch_each(test, "b", HTW_SECOND, "l");
    a->on_asked = expire_and_set_timeout;
    b->on_asked = cancel_and_set_timeout;
    assert_int_equal(check_key(test, "k"), 0);
    assert_int_equal(a->result, -ENOENT);
    assert_int_equal(check_key(test, "l"), 0);
    assert_true(b->answer);
    assert_int_equal(b->result, 0);
    assert_ends(test, "aE bX");
}

/* ---- the end of all */

/* holds: purgatory-12 */
PURGATORY_TEST(purgatory_closed_ends_all_and_refuses_new_requests) {
    watch(purgatory_case_waiter(test, 'a'), MS, "k");
    watch(purgatory_case_waiter(test, 'b'), HTW_NEVER_NS, "k", "l", "m");
    watch(purgatory_case_waiter(test, 'c'), 0, "n", "l");
    assert_int_equal(htw_purgatory_close(test->purgatory, waiter_visit, test), 3);
    for (unsigned i = 0; i < 3; i++) {
        struct waiter *waiter = &test->waiters[i];
        assert_int_equal(waiter->visited + waiter->ended + waiter->released, 3);
        assert_int_equal(waiter->reason, HTW_REASON_CLOSED);
    }
    assert_waiting(test, 0, 0, 0, 0);
    assert_int_equal(submit(purgatory_case_waiter(test, 'z'), MS, "k"), -ESHUTDOWN);
}

/* ---- requests in a scope, as htw/scope.h tells */

static struct htw_scope scopes[2]; /* of the waiters a and b */

static void cancel_waiter(struct htw_scope *scope, enum htw_scope_end why) {
    (void)why;
    cancel(&purgatory_case.waiters[scope - scopes]);
}

static void exit_scope(struct waiter *self) {
    struct htw_scope *scope = &scopes[self - purgatory_case.waiters];
    htw_scope_exit(scope);
    memset(scope, 0xa5, sizeof(*scope)); /* it is not used any more */
}

PURGATORY_TEST(purgatory_request_in_a_scope_is_cancelled_when_that_ends) {
    struct htw_scheduler *scheduler = test->scheduler;
    struct htw_scope rpc;
    assert_int_equal(htw_scope_enter(&rpc, scheduler, NULL, 5 * MS, NULL), HTW_SCOPE_OPEN);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(htw_scope_enter(&scopes[i], scheduler, &rpc, HTW_NEVER_NS, cancel_waiter),
                         HTW_SCOPE_OPEN);
    struct waiter *waiters = watch_each(test, "ab", HTW_NEVER_NS, "k");
    waiters[0].on_released = waiters[1].on_released = exit_scope;
    assert_int_equal(htw_pending(scheduler), 1); /* one timer for all */
    assert_true(complete(&waiters[0]));
    assert_log_after(test, 5 * MS, "aC a= bX b=");
    assert_int_equal(htw_scope_exit(&rpc), HTW_SCOPE_DEADLINE);
}

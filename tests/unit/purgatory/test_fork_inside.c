/* SPDX-License-Identifier: MIT */
/*
 * test_fork_inside.c - a child that returns from the hook or visitor in which it was forked ends there,
 * whatever call that is in.
 */
/* holds: purgatory-14 */
#include "../../support/purgatory_case.h"
#include "../../support/returning_child.h"

static struct returning_child child;

static void fork_now(struct waiter *self) {
    (void)self;
    returning_child_fork(&child);
}

THRESHOLD_TEST(purgatory_child_that_returns_from_try_complete_ends) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    a->on_asked = fork_now;
    watch(a, HTW_SECOND, "k", "l", "m", "n");
    returning_child_assert_ended(&child, "a hook try_complete");
    assert_int_equal(check_key(test, "l"), 0);
    returning_child_assert_ended(&child, "a hook try_complete");
    assert_int_equal(check_key_later(test, "l"), 0);
    purgatory_case_advance(test, 0);
    returning_child_assert_ended(&child, "a hook try_complete");
}

/* ---- what ends request a */

static void check_its_key(struct purgatory_case *test) {
    assert_int_equal(check_key(test, "k"), 1);
}

static void let_it_expire(struct purgatory_case *test) {
    purgatory_case_advance(test, HTW_SECOND);
}

static void cancel_it(struct purgatory_case *test) {
    assert_true(cancel(&test->waiters[0]));
}

static void cancel_its_key(struct purgatory_case *test) {
    assert_int_equal(cancel_key(test, "k"), 1);
}

static void advance_its_threshold(struct purgatory_case *test) {
    assert_int_equal(advance_to(test, htw_threshold_value(test->threshold) + 1), 1);
}

static void end_all_of_its_threshold(struct purgatory_case *test) {
    assert_int_equal(htw_threshold_end_all(test->threshold, HTW_REASON_CLOSED, waiter_visit, test),
                     1);
}

static void close_all(struct purgatory_case *test) {
    assert_int_equal(htw_purgatory_close(test->purgatory, waiter_visit, test), 1);
}

static const struct way {
    void (*end)(struct purgatory_case *test);
    bool on_threshold, has_visitor;
} ways[] = {
    { check_its_key, false, false },
    { let_it_expire, false, false },
    { cancel_it, false, false },
    { cancel_its_key, false, true },
    { advance_its_threshold, true, false },
    { end_all_of_its_threshold, true, true },
    { close_all, false, true },
};

static void end_request(const struct way *way, size_t hook, const char *code) {
    struct purgatory_case *test = &purgatory_case;
    purgatory_case_setup_threshold();
    struct waiter *a = purgatory_case_waiter(test, 'a');
    *(void (**)(struct waiter *))((char *)a + hook) = fork_now;
    a->yes_at = 3; /* not while it is submitted */
    if (way->on_threshold)
        assert_int_equal(waiter_await(a, 101, HTW_SECOND), HTW_WATCHED);
    else
        watch(a, HTW_SECOND, "k");
    way->end(test);
    returning_child_assert_ended(&child, code);
    purgatory_case_teardown();
}

UNIT_TEST(purgatory_child_that_returns_from_a_last_hook_or_visitor_ends) {
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        end_request(&ways[i], offsetof(struct waiter, on_ended), "a hook on_complete");
        end_request(&ways[i], offsetof(struct waiter, on_released), "a hook release");
        if (ways[i].has_visitor)
            end_request(&ways[i], offsetof(struct waiter, on_visited), "a visitor");
    }
}

/* SPDX-License-Identifier: MIT */
/* test_later.c - htw_purgatory_check_later(): events for callers that hold locks. */
#include "../../support/purgatory_case.h"

static struct waiter *watch_two(struct purgatory_case *test) {
    watch(purgatory_case_waiter(test, 'a'), HTW_SECOND, "k", "l", "m");
    watch(purgatory_case_waiter(test, 'b'), HTW_SECOND, "k");
    purgatory_case_forget_log(test);
    return test->waiters;
}

/* holds: purgatory-10 */
PURGATORY_TEST(purgatory_checks_later_run_no_hook_in_the_call_and_are_merged) {
    watch_two(test);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 100; i++)
            assert_int_equal(check_key_later(test, "k"), 0);
        assert_log(test, "");
        assert_log_after(test, 0, "a? b?");
    }
}

PURGATORY_TEST(purgatory_checks_later_of_different_keys_are_all_made) {
    static const char *const keys[] = { "", "k", "kk" };
    for (char name = 'a'; name <= 'c'; name++)
        watch(purgatory_case_waiter(test, name), HTW_SECOND, keys[name - 'a']);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(check_key_later(test, keys[i]), 0);
    purgatory_case_advance(test, 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(test->waiters[i].asked, 2 + 1);
}

PURGATORY_TEST(purgatory_check_later_that_is_pending_ends_with_the_purgatory) {
    static const char *const keys[] = { "k", "l", "m" };
    watch_two(test);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(check_key_later(test, keys[i]), 0);
    /* The end of the case closes, destroys, and looks whether all was given back. */
}

/* ---- waiters come and go */

/* The queued check must not die with the last waiter, or each new one would bring another. */
/* holds: purgatory-10 */
PURGATORY_TEST(purgatory_checks_later_are_merged_while_requests_come_and_go) {
    size_t before = test->memory.live_bytes;
    struct waiter *a = purgatory_case_waiter(test, 'a');
    a->name = '\0';
    for (unsigned i = 0; i < 1000; i++) {
        a->asked = 0;
        watch(a, HTW_NEVER_NS, "k");
        assert_int_equal(check_key_later(test, "k"), 0);
        assert_waiting(test, 1, 1, 1, 0);
        assert_true(cancel(a));
        assert_waiting(test, 0, 0, 0, 0);
    }
    a->asked = 0;
    watch(a, HTW_NEVER_NS, "k");
    purgatory_case_advance(test, 0);
    assert_int_equal(a->asked, 2 + 1);
    assert_int_equal(htw_purgatory_check(test->purgatory, "k", 1), 0);
    assert_true(cancel(a));
    assert_int_equal(test->memory.live_bytes, before);
}

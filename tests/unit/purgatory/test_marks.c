/* SPDX-License-Identifier: MIT */
/*
 * test_marks.c - hooks that complete or cancel their own request, which is then marked and ends
 * after the hook, or other requests, which end at once.
 */
/* holds: purgatory-5 */
#include "../../support/purgatory_case.h"

/* In its n-th call, `try_complete` cancels its own request or, with itself for a peer, completes it.
   In the first call the request is on no key yet. */
static unsigned ends_at;

static void end_itself(struct waiter *self) {
    if (self->asked == ends_at)
        self->answer = self->peer == NULL ? cancel(self) : complete(self);
}

PURGATORY_TEST(purgatory_request_that_ends_itself_when_asked_ends_so) {
    static const struct {
        const char *name, *log;
        bool completes;
        int64_t count;
    } cases[] = { { "a", "a? aX a=", false, 0 },
                  { "a", "a? aC a=", true, 0 },
                  { "A", "a? aC a=", false, 1 } }; /* a yes counts */
    ends_at = 3;
    for (unsigned i = 0; i < 3; i++) {
        struct waiter *a = watch_each(test, cases[i].name, HTW_SECOND, "k");
        a->on_asked = end_itself;
        a->peer = cases[i].completes ? a : NULL;
        int64_t count = check_key(test, "k");
        assert_true(a->answer);
        assert_true(cases[i].completes || count == cases[i].count);
        assert_log(test, cases[i].log);
    }
}

/* It was answered that the cancel will come, so it does, and not the refusal; and what it has on
   its keys is given back once. */
UNIT_TEST(purgatory_request_cancelled_and_then_refused_by_the_limit_ends_once) {
    static const char *const keys[] = { "k", "l", "m", "n", NULL };
    for (unsigned way = 0; way < 8; way++) {
        struct purgatory_case test;
        purgatory_case_begin_limited(&test, 1);
        watch(purgatory_case_waiter(&test, 'b'), HTW_SECOND, "k");
        purgatory_case_forget_log(&test);
        struct waiter *a = purgatory_case_waiter(&test, 'a');
        a->on_asked = end_itself;
        ends_at = 1 + way / 4;
        assert_int_equal(waiter_submit(a, HTW_SECOND, keys + way % 4), HTW_FINISHED);
        assert_ends(&test, "aX");
        assert_waiting(&test, 1, 1, 1, 1);
        purgatory_case_end(&test);
    }
}

static void end_itself_again(struct waiter *self) {
    self->answer = complete(self) || cancel(self);
}

/* holds: purgatory-1 */
PURGATORY_TEST(purgatory_request_that_has_ended_cannot_be_ended_again) {
    for (unsigned way = 0; way < 4; way++) {
        struct waiter *a = watch_each(test, "a", HTW_SECOND, "k");
        a->answer = true;
        a->on_ended = end_itself_again;
        a->ready = true;
        if (way == 0)
            assert_int_equal(check_key(test, "k"), 1);
        else if (way == 1)
            purgatory_case_advance(test, HTW_SECOND);
        else if (way == 2)
            assert_true(complete(a));
        else
            assert_true(cancel(a));
        assert_false(a->answer);
        assert_int_equal(a->ended, 1);
    }
}

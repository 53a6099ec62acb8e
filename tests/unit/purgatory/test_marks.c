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

PURGATORY_TEST(purgatory_request_that_ends_itself_when_submitted_is_finished) {
    for (unsigned way = 0; way < 4; way++) {
        struct waiter *a = purgatory_case_waiter(test, 'a');
        ends_at = 1 + way / 2;
        a->on_asked = end_itself;
        a->peer = way % 2 == 0 ? NULL : a;
        assert_int_equal(submit(a, HTW_SECOND, "k", "l", "m"), HTW_FINISHED);
        assert_true(a->answer);
        assert_ends(test, way % 2 == 0 ? "aX" : "aC");
        assert_int_equal(a->released, 1);
        assert_true(ends_at == 1 || a->asked == 2);
        assert_waiting(test, 0, 0, 0, 0);
        assert_int_equal(htw_purgatory_delayed(test->purgatory), 0);
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

/* The first call says how it ends; all later ones are answered false. */
static void mark_twice(struct waiter *self) {
    bool first = self->peer == NULL ? complete(self) : cancel(self);
    self->answer = first && !complete(self) && !cancel(self);
}

PURGATORY_TEST(purgatory_request_is_marked_once) {
    for (unsigned way = 0; way < 2; way++) {
        struct waiter *a = watch_each(test, "a", HTW_SECOND, "k");
        a->on_asked = mark_twice;
        a->peer = way == 0 ? NULL : a;
        check_key(test, "k");
        assert_true(a->answer);
        assert_log(test, way == 0 ? "a? aC a=" : "a? aX a=");
    }
}

static void end_peers(struct waiter *self) {
    struct waiter *all = self->test->waiters;
    self->answer = cancel(&all[2]) && complete(&all[3]);
}

PURGATORY_TEST(purgatory_hooks_may_end_others) {
    struct waiter *w = watch_each(test, "abcd", HTW_SECOND, "k");
    w[1].ready = true;
    w[1].on_ended = end_peers;
    assert_int_equal(check_key(test, "k"), 1);
    assert_true(w[1].answer);
    assert_ends(test, "bC cX dC");
    assert_true(cancel(&w[0]));
    w = watch_each(test, "abcd", HTW_SECOND, "k");
    w[1].on_released = end_peers;
    assert_true(cancel(&w[1]));
    assert_true(w[1].answer);
    assert_log(test, "bX b= cX c= dC d=");
}

/* All of one tick: the first that expires ends the others, which then must not expire. */
static void end_all_others(struct waiter *self) {
    for (struct waiter *other = self->test->waiters; other->name != '\0'; other++)
        if (other->life == WAITER_PENDING)
            self->result += other->name % 2 == 0 ? cancel(other) : complete(other);
}

PURGATORY_TEST(purgatory_request_ended_by_one_that_expires_does_not_expire) {
    struct waiter *w = watch_each(test, "abcde", HTW_SECOND, "k");
    int64_t ended = 0;
    for (unsigned i = 0; i < 5; i++)
        w[i].on_ended = end_all_others;
    purgatory_case_advance(test, HTW_SECOND);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(w[i].ended, 1);
        ended += w[i].result;
    }
    assert_int_equal(ended, 4);
    assert_int_equal(test->ends[HTW_REASON_EXPIRED], 1);
}

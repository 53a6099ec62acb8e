/* SPDX-License-Identifier: MIT */
/*
 * test_walk.c - a check or cancel of a key goes on where it was, whatever hooks do meanwhile to the
 * request that is asked, to those before and behind it, and to the key.
 *
 * The walk pins the cell of four requests in which it is, and the one in which it ends.
 */
/* holds: purgatory-7 */
#include "../../support/purgatory_case.h"

/* ---- the request stays */

static void cancel_peer(struct waiter *self) {
    self->answer = cancel(self->peer);
}

/* The one that was asked before has no owner any more, and ends at once. */
PURGATORY_TEST(purgatory_walk_goes_on_when_the_request_before_is_cancelled) {
    struct waiter *w = watch_each(test, "abc", HTW_SECOND, "k");
    w[1].on_asked = cancel_peer;
    w[1].peer = &w[0];
    assert_check_log(test, "k", 0, "a? b? aX a= c?");
    assert_waiting(test, 2, 2, 1, 2);
}

PURGATORY_TEST(purgatory_walk_goes_on_when_the_request_behind_is_cancelled) {
    struct waiter *w = watch_each(test, "abc", HTW_SECOND, "k");
    w[0].on_asked = cancel_peer;
    w[0].peer = &w[1];
    assert_check_log(test, "k", 0, "a? bX b= c?");
    assert_waiting(test, 2, 2, 1, 2);
}

PURGATORY_TEST(purgatory_walk_ends_when_the_last_request_is_cancelled) {
    struct waiter *w = watch_each(test, "ab", HTW_SECOND, "k");
    w[0].on_asked = cancel_peer;
    w[0].peer = &w[1];
    assert_check_log(test, "k", 0, "a? bX b=");
    assert_waiting(test, 1, 1, 1, 1);
}

/* ---- it is marked in its hook */

static void cancel_itself(struct waiter *self) {
    self->answer = cancel(self);
}

PURGATORY_TEST(purgatory_walk_goes_on_behind_a_request_that_cancels_itself) {
    struct waiter *w = watch_each(test, "abc", HTW_SECOND, "k");
    for (unsigned i = 0; i < 3; i++)
        w[i].on_asked = cancel_itself;
    assert_check_log(test, "k", 0, "a? aX a= b? bX b= c? cX c=");
    assert_waiting(test, 0, 0, 0, 0);
}

static void check_other_key(struct waiter *self) {
    self->result = check_key(self->test, "l");
}

/* The event on another key of the request marks it, so it is asked once more. */
PURGATORY_TEST(purgatory_walk_goes_on_behind_a_request_that_is_asked_again) {
    struct waiter *w = watch_each(test, "abc", HTW_SECOND, "k", "l");
    w[0].on_asked = check_other_key;
    assert_int_equal(check_key(test, "k"), 0);
    assert_log(test, "a? b? c? a? b? c? b? c?");
    assert_waiting(test, 3, 6, 2, 3);
}

static void complete_itself(struct waiter *self) {
    self->answer = complete(self);
}

/* It was not ready: htw_request_complete() has ended it, and the turn is still that of another one. */
PURGATORY_TEST(purgatory_check_at_most_goes_on_behind_a_request_that_completes_itself) {
    struct waiter *w = watch_each(test, "aBc", HTW_SECOND, "k");
    w[0].on_asked = complete_itself;
    assert_int_equal(check_key_at_most(test, "k", 1), 1);
    assert_true(w[0].answer);
    assert_log(test, "a? aC a= b? bC b=");
    assert_waiting(test, 1, 1, 1, 1);
}

PURGATORY_TEST(purgatory_check_at_most_ends_with_a_request_that_is_asked_again) {
    struct waiter *w = watch_each(test, "abc", HTW_SECOND, "k", "l");
    w[0].on_asked = check_other_key;
    w[0].yes_at = 2;
    assert_int_equal(check_key_at_most(test, "k", 1), 1);
    assert_log(test, "a? b? c? aC a=");
    assert_waiting(test, 2, 4, 2, 2);
    assert_int_equal(cancel_key(test, "k"), 2);
    assert_waiting(test, 0, 0, 0, 0);
}

/* ---- it ends */

static uint64_t keys_seen, watched_seen;

static void read_stats(struct waiter *self) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    self->result = htw_purgatory_get_stats(self->test->purgatory, &stats);
    keys_seen = stats.keys;
    watched_seen = stats.watched;
}

/* The walk ends when it unlinks the request: so the key is gone before on_complete. */
/* holds: purgatory-6 */
PURGATORY_TEST(purgatory_key_is_freed_before_the_last_hook_of_its_last_request) {
    struct waiter *w = watch_each(test, "Ab", HTW_SECOND, "k");
    w[0].on_asked = cancel_peer;
    w[0].peer = &w[1];
    w[0].on_ended = read_stats;
    keys_seen = 7;
    assert_check_log(test, "k", 1, "a? bX b= aC a=");
    assert_int_equal(keys_seen, 0);
    assert_int_equal(watched_seen, 0);
}

/* Nothing of the walk is left on the key when on_complete runs. */
PURGATORY_TEST(purgatory_check_at_most_leaves_the_key_before_the_last_hook) {
    struct waiter *w = watch_each(test, "Abc", HTW_SECOND, "k");
    w[0].on_ended = cancel_peer;
    w[0].peer = &w[1];
    w[1].on_ended = cancel_peer;
    w[1].peer = &w[2];
    w[2].on_released = read_stats;
    keys_seen = 7;
    assert_int_equal(check_key_at_most(test, "k", 1), 1);
    assert_log(test, "a? aC bX cX c= b= a=");
    assert_int_equal(keys_seen, 0);
}

static void cancel_peer_and_watch_another(struct waiter *self) {
    struct waiter *d = purgatory_case_waiter(self->test, 'd');
    self->answer = cancel(self->peer);
    self->result = submit(d, HTW_SECOND, "k");
}

/* The walk is at a place without a request then, with the neighbours changing on both sides. */
PURGATORY_TEST(purgatory_walk_goes_on_when_the_ended_request_changes_its_neighbours) {
    struct waiter *w = watch_each(test, "aBcd", HTW_SECOND, "k");
    assert_int_equal(cancel(&w[3]), true);
    purgatory_case_forget_log(test);
    w[1].on_ended = cancel_peer_and_watch_another;
    w[1].peer = &w[2];
    assert_check_log(test, "k", 1, "a? b? bC cX c= d? d? b=");
    assert_waiting(test, 2, 2, 1, 2);
}

/* All behind the walk goes, and the key stays until the walk has seen that. */
PURGATORY_TEST(purgatory_walk_ends_when_nothing_is_left_behind_it) {
    struct waiter *w = watch_each(test, "Ab", HTW_SECOND, "k");
    w[0].on_ended = cancel_peer;
    w[0].peer = &w[1];
    assert_check_log(test, "k", 1, "a? aC bX b= a=");
    assert_waiting(test, 0, 0, 0, 0);
}

/* ---- walks in walks, and keys of many */

static void check_same_key(struct waiter *self) {
    self->result = check_key(self->test, "k");
}

/* The inner walk meets the places of the outer one. */
PURGATORY_TEST(purgatory_walk_passes_the_places_of_another_one) {
    struct waiter *w = watch_each(test, "aBcDe", HTW_SECOND, "k");
    w[1].on_ended = check_same_key;
    assert_check_log(test, "k", 1, "a? b? bC a? c? d? dC d= e? b= c? e?");
    assert_int_equal(w[1].result, 1);
    assert_waiting(test, 3, 3, 1, 3);
}

PURGATORY_TEST(purgatory_walk_goes_on_among_requests_on_many_keys) {
    struct waiter *w = watch_each(test, "abc", HTW_SECOND, "k", "l", "m", "n");
    w[1].on_asked = cancel_itself;
    assert_int_equal(check_key(test, "m"), 0);
    assert_log(test, "a? b? bX b= c?");
    assert_waiting(test, 2, 8, 4, 2);
}

static void close_all(struct waiter *self) {
    self->result = htw_purgatory_close(self->test->purgatory, waiter_visit, self->test);
}

/* Its key is an orphan when the walk goes on. */
PURGATORY_TEST(purgatory_walk_survives_a_close_in_a_hook) {
    struct waiter *w = watch_each(test, "abc", HTW_SECOND, "k");
    w[1].on_asked = close_all;
    assert_check_log(test, "k", 0, "a? b? a! aS a= c! cS c= bS b=");
    assert_int_equal(w[1].result, 3);
    assert_waiting(test, 0, 0, 0, 0);
}

/* ---- cells: a b c d | e f g h | i j k l */

static void cancel_all_between(struct waiter *self, char first, char last) {
    for (char name = first; name <= last; name++)
        self->answer = cancel(&self->test->waiters[name - 'a']);
}

static void cancel_efgh(struct waiter *self) {
    cancel_all_between(self, 'e', 'h');
}

PURGATORY_TEST(purgatory_walk_goes_on_when_the_cell_behind_goes) {
    struct waiter *w = watch_each(test, "abcdefghijkl", HTW_SECOND, "k");
    w[1].on_asked = cancel_efgh;
    assert_check_log(test, "k", 0, "a? b? eX e= fX f= gX g= hX h= c? d? i? j? k? l?");
    assert_waiting(test, 8, 8, 1, 8);
}

static void cancel_abcd(struct waiter *self) {
    cancel_all_between(self, 'a', 'd');
}

PURGATORY_TEST(purgatory_walk_goes_on_when_the_cell_before_goes) {
    struct waiter *w = watch_each(test, "abcdefghijkl", HTW_SECOND, "k");
    w[4].on_asked = cancel_abcd;
    assert_check_log(test, "k", 0, "a? b? c? d? e? aX a= bX b= cX c= dX d= f? g? h? i? j? k? l?");
    assert_waiting(test, 8, 8, 1, 8);
    assert_check_log(test, "k", 0, "e? f? g? h? i? j? k? l?");
}

static void cancel_others_and_watch_two(struct waiter *self) {
    cancel_all_between(self, 'a', 'e');
    cancel_all_between(self, 'g', 'l');
    self->result = submit(purgatory_case_waiter(self->test, 'm'), HTW_SECOND, "k");
    self->result = submit(purgatory_case_waiter(self->test, 'n'), HTW_SECOND, "k");
}

/* Of the cell in which the walk is, and of that in which it ends, only the places are left. */
PURGATORY_TEST(purgatory_walk_ends_where_it_was_to_end_when_all_others_go) {
    struct waiter *w = watch_each(test, "abcdeFghijkl", HTW_SECOND, "k");
    w[5].on_ended = cancel_others_and_watch_two;
    assert_int_equal(check_key(test, "k"), 1);
    assert_log(test, "a? b? c? d? e? f? fC aX a= bX b= cX c= dX d= eX e= gX g= hX h= iX i= jX j= "
                     "kX k= lX l= m? m? n? n? f=");
    assert_waiting(test, 2, 2, 1, 2);
    assert_check_log(test, "k", 0, "m? n?");
}

static void check_and_cancel_others(struct waiter *self) {
    self->result = check_key(self->test, "k");
    cancel_all_between(self, 'a', 'g');
}

/* Two walks are in one cell, and one of them leaves it. */
PURGATORY_TEST(purgatory_walks_in_one_cell_keep_their_places) {
    struct waiter *w = watch_each(test, "abcdefgHi", HTW_SECOND, "k");
    w[7].on_ended = check_and_cancel_others;
    assert_check_log(test, "k", 1,
                     "a? b? c? d? e? f? g? h? hC a? b? c? d? e? f? g? i? "
                     "aX a= bX b= cX c= dX d= eX e= fX f= gX g= h= i?");
    assert_waiting(test, 1, 1, 1, 1);
}

PURGATORY_TEST(purgatory_cells_of_a_key_are_freed_with_their_last_requests) {
    size_t bytes = test->memory.live_bytes;
    watch_each(test, "abcdefghijkl", HTW_NEVER_NS, "a key that is longer than sixteen");
    static const char order[] = "gcalehbdkfij";
    for (const char *name = order; *name != '\0'; name++)
        assert_true(cancel(&test->waiters[*name - 'a']));
    assert_waiting(test, 0, 0, 0, 0);
    assert_int_equal(test->memory.live_bytes, bytes);
}

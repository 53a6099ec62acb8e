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

/* ---- cells: a b c d | e f g h | i j k l */

static void cancel_all_between(struct waiter *self, char first, char last) {
    for (char name = first; name <= last; name++)
        self->answer = cancel(&self->test->waiters[name - 'a']);
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

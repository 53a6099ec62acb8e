/* SPDX-License-Identifier: MIT */
/* test_list - chains and rings. */
#include "../../../src/base/list.h"

#include "../unit.h"

enum { LINKS = 4 };

struct lists {
    struct htw__link nil;
    struct htw__link *chain;
    struct htw__link ring;
    struct htw__link links[LINKS];
};

static struct lists *fresh(struct lists *lists) {
    *lists = (struct lists) { .chain = &lists->nil };
    htw__ring_init(&lists->ring);
    return lists;
}

/* The order of a list, as indices into links, in one number: links 0, 2 -> 102. */
static int order(const struct lists *lists, const struct htw__link *first,
                 const struct htw__link *end) {
    int digits = 0;
    for (const struct htw__link *link = first; link != end; link = link->_next)
        digits = digits * 10 + (int)(link - lists->links) + 1;
    return digits;
}

static int ring_order(const struct lists *lists) {
    return order(lists, lists->ring._next, &lists->ring);
}

static int chain_order(const struct lists *lists) {
    return order(lists, lists->chain, &lists->nil);
}

UNIT_TEST(chain_inserted_at_head_is_last_in_first_out) {
    struct lists lists;
    fresh(&lists);
    for (int i = 0; i < LINKS; i++)
        htw__link_insert(&lists.chain, &lists.links[i]);
    assert_int_equal(chain_order(&lists), 4321);
}

UNIT_TEST(chain_unlinked_anywhere_keeps_the_others) {
    static const int left[LINKS] = { 432, 431, 421, 321 };
    for (int i = 0; i < LINKS; i++) {
        struct lists lists;
        fresh(&lists);
        for (int j = 0; j < LINKS; j++)
            htw__link_insert(&lists.chain, &lists.links[j]);
        htw__link_unlink(&lists.links[i]);
        assert_int_equal(chain_order(&lists), left[i]);
    }
}

UNIT_TEST(chain_unlinked_to_the_last_is_empty) {
    struct lists lists;
    fresh(&lists);
    htw__link_insert(&lists.chain, &lists.links[0]);
    htw__link_unlink(&lists.links[0]);
    assert_ptr_equal(lists.chain, &lists.nil);
}

UNIT_TEST(ring_pushed_at_both_ends_keeps_the_order) {
    struct lists lists;
    fresh(&lists);
    assert_true(htw__ring_is_empty(&lists.ring));
    htw__ring_push_back(&lists.ring, &lists.links[1]);
    htw__ring_push_back(&lists.ring, &lists.links[2]);
    htw__ring_push_front(&lists.ring, &lists.links[0]);
    htw__ring_push_back(&lists.ring, &lists.links[3]);
    assert_int_equal(ring_order(&lists), 1234);
    assert_ptr_equal(htw__ring_last(&lists.ring), &lists.links[3]);
    assert_false(htw__ring_is_empty(&lists.ring));
}

UNIT_TEST(ring_unlinked_from_its_end_has_a_new_last) {
    struct lists lists;
    fresh(&lists);
    for (int i = 0; i < LINKS; i++)
        htw__ring_push_back(&lists.ring, &lists.links[i]);
    for (int i = LINKS - 1; i > 0; i--) {
        htw__link_unlink(htw__ring_last(&lists.ring));
        assert_ptr_equal(htw__ring_last(&lists.ring), &lists.links[i - 1]);
    }
    htw__link_unlink(&lists.links[0]);
    assert_true(htw__ring_is_empty(&lists.ring));
}

UNIT_TEST(ring_taken_from_both_ends_gives_null_when_empty) {
    struct lists lists;
    fresh(&lists);
    for (int i = 0; i < 3; i++)
        htw__ring_push_back(&lists.ring, &lists.links[i]);
    assert_ptr_equal(htw__ring_pop_back(&lists.ring), &lists.links[2]);
    assert_ptr_equal(htw__ring_pop_front(&lists.ring), &lists.links[0]);
    assert_ptr_equal(htw__ring_pop_back(&lists.ring), &lists.links[1]);
    assert_null(htw__ring_pop_back(&lists.ring));
    assert_null(htw__ring_pop_front(&lists.ring));
}

UNIT_TEST(ring_spliced_behind_another_joins_both_orders) {
    struct lists lists;
    fresh(&lists);
    struct htw__link other;
    htw__ring_init(&other);
    htw__ring_splice_back(&lists.ring, &other);
    assert_true(htw__ring_is_empty(&lists.ring));
    htw__ring_push_back(&lists.ring, &lists.links[0]);
    htw__ring_push_back(&lists.ring, &lists.links[1]);
    htw__ring_push_back(&other, &lists.links[2]);
    htw__ring_push_back(&other, &lists.links[3]);
    htw__ring_splice_back(&lists.ring, &other);
    assert_int_equal(ring_order(&lists), 1234);
    assert_true(htw__ring_is_empty(&other));
    htw__link_unlink(&lists.links[2]);
    htw__link_unlink(&lists.links[3]);
    assert_ptr_equal(htw__ring_last(&lists.ring), &lists.links[1]);
}

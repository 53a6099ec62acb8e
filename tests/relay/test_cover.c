/* SPDX-License-Identifier: MIT */
/* test_cover.c - when a relay has a stripe assigned that nobody has. No broker. */
#include "../../src/relay/kafka.h"

#include "../unit/unit.h"

#define BEGIN_MS 1000000
#define PATIENCE_MS 9000

/* The answer that comes at this time after the first one. */
static bool is_our_turn(struct htw__cover *cover, int32_t missing, int rank, int64_t after_ms) {
    const struct htw__cover_answer answer = { missing, rank };
    return htw__cover_is_our_turn(cover, answer, BEGIN_MS + after_ms);
}

UNIT_TEST(cover_stripe_without_an_owner_is_waited_for_first) {
    struct htw__cover cover = { .queue = NULL };
    assert_false(is_our_turn(&cover, 0, 0, 0));
    assert_false(is_our_turn(&cover, 0, 0, PATIENCE_MS - 1));
    assert_true(is_our_turn(&cover, 0, 0, PATIENCE_MS));
}

UNIT_TEST(cover_another_answer_begins_anew) {
    const int32_t others[] = { HTW__COVER_FULL, HTW__COVER_UNKNOWN, 1 };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct htw__cover cover = { .queue = NULL };
        assert_false(is_our_turn(&cover, 0, 0, 0));
        assert_false(is_our_turn(&cover, others[i], 0, 3000));
        assert_false(is_our_turn(&cover, 0, 0, 6000));
        assert_false(is_our_turn(&cover, 0, 0, 6000 + PATIENCE_MS - 1));
        assert_true(is_our_turn(&cover, 0, 0, 6000 + PATIENCE_MS));
    }
}

UNIT_TEST(cover_members_act_in_turn) {
    struct htw__cover cover = { .queue = NULL };
    assert_false(is_our_turn(&cover, 5, 2, 0));
    assert_false(is_our_turn(&cover, 5, 2, 3 * PATIENCE_MS - 1));
    assert_true(is_our_turn(&cover, 5, 2, 3 * PATIENCE_MS));
}

UNIT_TEST(cover_what_does_not_help_is_done_less_often) {
    struct htw__cover cover = { .queue = NULL };
    int64_t at_ms = 0;
    assert_false(is_our_turn(&cover, 0, 0, at_ms));
    for (int i = 0; i < 5; i++) {
        at_ms += (int64_t)PATIENCE_MS << i;
        assert_false(is_our_turn(&cover, 0, 0, at_ms - 1));
        assert_true(is_our_turn(&cover, 0, 0, at_ms));
    }
    /* Once it has helped, the next time is as the first. */
    assert_false(is_our_turn(&cover, HTW__COVER_FULL, 0, at_ms));
    assert_false(is_our_turn(&cover, 0, 0, at_ms + 1));
    assert_true(is_our_turn(&cover, 0, 0, at_ms + 1 + PATIENCE_MS));
}

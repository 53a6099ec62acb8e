/* SPDX-License-Identifier: MIT */
/* test_ids.c - ids in blocks: each block has the ids of one place. */
#include "../../../src/journal/blocks.h"
#include "../../../src/journal/place.h"
#include "../../support/random.h"
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

#define FIRST 1024u

static struct htw__ids ids;

static void begin(void) {
    memset(&ids, 0, sizeof(ids));
    ids.next_block = FIRST;
}

/* More places than can be open: a block that was forgotten is not used again, and no id is given twice. */
/* holds: journal-14 */
UNIT_TEST_BETWEEN(begin, NULL, ids_of_many_places_rise_and_are_never_given_twice) {
    enum { PLACES = 20000, GIVEN = 200000 };
    struct random_source source = { 1 };
    uint64_t *last = calloc(PLACES, sizeof(*last));
    uint64_t *place_of_block = calloc(GIVEN + FIRST, sizeof(*place_of_block));
    assert_true(last != NULL && place_of_block != NULL);
    for (int i = 0; i < GIVEN; i++) {
        uint64_t n = random_below(&source, random_one_in(&source, 2) ? 10 : PLACES);
        uint64_t id = htw__ids_give(&ids, htw__place_ready(1, (uint32_t)n));
        uint64_t *owner = &place_of_block[id / HTW__BLOCK_IDS];
        assert_true(id > last[n] && id < ids.next_block);
        assert_true(*owner == 0 || *owner == n + 1);
        *owner = n + 1;
        last[n] = id;
    }
    free(last);
    free(place_of_block);
}

/* The places that are used most stay open, whatever comes between. */
UNIT_TEST_BETWEEN(begin, NULL, ids_of_a_place_in_use_stay_in_its_block) {
    for (uint64_t i = 0; i < HTW__BLOCK_IDS; i++) {
        assert_int_equal(htw__ids_give(&ids, 7) % HTW__BLOCK_IDS, i);
        htw__ids_give(&ids, 1000 + i);
    }
}

UNIT_TEST(place_of_what_is_delayed_is_in_order_of_time_before_all_else) {
    static const int64_t times[] = { INT64_MIN, HTW_MINUTE, HTW_HOUR, HTW_NEVER_NS };
    for (size_t i = 1; i < COUNT_OF(times); i++)
        assert_true(htw__place_delayed(times[i - 1], HTW__QUEUE_MAX) <
                    htw__place_delayed(times[i], 0));
    assert_true(htw__place_delayed(HTW_NEVER_NS, UINT32_MAX) < htw__place_ready(0, 0));
    assert_true(htw__place_ready(1, UINT32_MAX) < htw__place_ready(2, 0));
    assert_true(htw__place_ready(HTW__QUEUE_MAX, UINT32_MAX) < htw__place_buried(0));
    assert_true(htw__place_buried(HTW__QUEUE_MAX) < htw__place_done(0, 0));
    assert_true(htw__place_done(HTW_NEVER_NS, HTW__QUEUE_MAX) <= INT64_MAX);
    assert_int_equal(htw__place_bucket(htw__place_done(HTW_HOUR, 5)), 60);
    assert_int_equal(htw__place_priority(htw__place_ready(5, 1234)), 1234);
    assert_int_equal(htw__place_class_of(htw__place_done(1, 1)), HTW__PLACE_DONE);
}

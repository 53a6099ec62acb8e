/* SPDX-License-Identifier: MIT */
/* test_delay_queue - near and far buckets, earliest first. */
#include "../../../src/wheel/delay_queue.h"

#include "../../support/failing_allocator.h"
#include "../unit.h"

#include <errno.h>

/* Eight near buckets, and two levels above. */
enum { NEAR = 8, IDS = 24 };

static const struct htw_allocator *const memory = &htw__default_allocator;

static struct htw__delay_queue reserved(void) {
    struct htw__delay_queue queue;
    htw__delay_queue_init(&queue, NEAR);
    assert_int_equal(htw__delay_queue_reserve(&queue, memory, IDS), 0);
    return queue;
}

static void expect_top(const struct htw__delay_queue *queue, uint64_t key, uint32_t id) {
    assert_true(htw__delay_queue_is_valid(queue));
    assert_int_equal(htw__delay_queue_top_key(queue), key);
    assert_int_equal(htw__delay_queue_top_id(queue), id);
}

UNIT_TEST(delay_queue_without_buckets_is_empty) {
    struct htw__delay_queue queue = reserved();
    assert_true(htw__delay_queue_is_empty(&queue));
    assert_true(htw__delay_queue_is_valid(&queue));
    assert_int_equal(htw__delay_queue_top_key(&queue), HTW__DELAY_QUEUE_ABSENT);
    assert_int_equal(htw__delay_queue_count(&queue), 0);
    htw__delay_queue_fini(&queue, memory);
}

UNIT_TEST(delay_queue_gives_near_and_far_buckets_by_key) {
    struct htw__delay_queue queue = reserved();
    htw__delay_queue_offer(&queue, 6, 14); /* near ids are keys modulo NEAR */
    htw__delay_queue_offer(&queue, 20, 13);
    htw__delay_queue_offer(&queue, 3, 11);
    htw__delay_queue_offer(&queue, 10, 12);
    static const uint32_t ids[] = { 3, 10, 20, 6 };
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(htw__delay_queue_count(&queue), 4 - i);
        expect_top(&queue, 11 + i, ids[i]);
        htw__delay_queue_pop(&queue);
        assert_int_equal(htw__delay_queue_key(&queue, ids[i]), HTW__DELAY_QUEUE_ABSENT);
    }
    assert_true(htw__delay_queue_is_empty(&queue));
    htw__delay_queue_fini(&queue, memory);
}

UNIT_TEST(delay_queue_asked_for_less_room_keeps_what_it_has) {
    struct htw__delay_queue queue = reserved();
    uint64_t *keys = queue.keys;
    assert_int_equal(htw__delay_queue_reserve(&queue, memory, IDS - 1), 0);
    assert_int_equal(queue.capacity, IDS);
    assert_ptr_equal(queue.keys, keys);
    htw__delay_queue_fini(&queue, memory);
}

UNIT_TEST(delay_queue_with_equal_keys_gives_the_higher_level_first) {
    struct htw__delay_queue queue = reserved();
    htw__delay_queue_offer(&queue, 4, 12);
    htw__delay_queue_offer(&queue, 9, 12);
    htw__delay_queue_offer(&queue, 17, 12);
    static const uint32_t ids[] = { 17, 9, 4 };
    for (uint32_t i = 0; i < 3; i++) {
        expect_top(&queue, 12, ids[i]);
        htw__delay_queue_pop(&queue);
    }
    htw__delay_queue_fini(&queue, memory);
}

UNIT_TEST(delay_queue_near_keys_wrap_around_their_slots) {
    struct htw__delay_queue queue = reserved();
    for (uint64_t key = 5; key < 5 + NEAR; key++)
        htw__delay_queue_offer(&queue, (uint32_t)key % NEAR, key);
    for (uint64_t key = 5; key < 100; key++) { /* as the clock goes on, so does the window */
        expect_top(&queue, key, (uint32_t)key % NEAR);
        htw__delay_queue_pop(&queue);
        htw__delay_queue_offer(&queue, (uint32_t)key % NEAR, key + NEAR);
    }
    htw__delay_queue_fini(&queue, memory);
}

UNIT_TEST(delay_queue_offered_an_earlier_key_takes_it_and_ignores_a_later_one) {
    struct htw__delay_queue queue = reserved();
    htw__delay_queue_offer(&queue, 9, 30);
    htw__delay_queue_offer(&queue, 17, 20);
    htw__delay_queue_offer(&queue, 9, 10);
    expect_top(&queue, 10, 9);
    htw__delay_queue_offer(&queue, 9, 40);
    expect_top(&queue, 10, 9);
    assert_int_equal(htw__delay_queue_count(&queue), 2);
    htw__delay_queue_fini(&queue, memory);
}

UNIT_TEST(delay_queue_grown_keeps_its_buckets) {
    struct htw__delay_queue queue;
    htw__delay_queue_init(&queue, NEAR);
    assert_int_equal(htw__delay_queue_reserve(&queue, memory, NEAR), 0);
    htw__delay_queue_offer(&queue, 1, 1);
    assert_int_equal(htw__delay_queue_reserve(&queue, memory, IDS), 0);
    htw__delay_queue_offer(&queue, 23, 9);
    expect_top(&queue, 1, 1);
    htw__delay_queue_pop(&queue);
    expect_top(&queue, 9, 23);
    htw__delay_queue_fini(&queue, memory);
}

UNIT_TEST(delay_queue_without_memory_stays_as_it_was) {
    for (size_t nth = 1; nth <= 2; nth++) {
        struct failing_allocator source;
        failing_allocator_init(&source);
        struct htw__delay_queue queue;
        htw__delay_queue_init(&queue, NEAR);
        assert_int_equal(htw__delay_queue_reserve(&queue, &source.allocator, NEAR), 0);
        htw__delay_queue_offer(&queue, 2, 2);
        failing_allocator_fail(&source, nth, false);
        assert_int_equal(htw__delay_queue_reserve(&queue, &source.allocator, IDS), -ENOMEM);
        expect_top(&queue, 2, 2);
        htw__delay_queue_fini(&queue, &source.allocator);
        assert_int_equal(source.live_blocks, 0);
        assert_null(source.error);
        failing_allocator_fini(&source);
    }
}

UNIT_TEST(delay_queue_that_disagrees_with_itself_is_found_invalid) {
    struct htw__delay_queue queue = reserved();
    htw__delay_queue_offer(&queue, 3, 3);
    htw__delay_queue_offer(&queue, 12, 5);
    queue.keys[4] = 4;
    assert_false(htw__delay_queue_is_valid(&queue));
    queue.keys[4] = HTW__DELAY_QUEUE_ABSENT;
    queue.first_near = 2;
    assert_false(htw__delay_queue_is_valid(&queue));
    queue.first_near = 3;
    queue.keys[12] = 4;
    assert_false(htw__delay_queue_is_valid(&queue));
    queue.keys[12] = 5;
    queue.far.entries[0].id = UINT32_MAX - 1; /* out of range, and not looked up */
    assert_false(htw__delay_queue_is_valid(&queue));
    queue.far.entries[0].id = 12;
    queue.near.summary = 0;
    assert_false(htw__delay_queue_is_valid(&queue));
    queue.near.summary = 1 | (uint64_t)1 << 40;
    assert_false(htw__delay_queue_is_valid(&queue));
    queue.near.words[40] = 1; /* no near bucket has this number */
    assert_false(htw__delay_queue_is_valid(&queue));
    queue.near.words[40] = 0;
    queue.near.summary = 1;
    assert_true(htw__delay_queue_is_valid(&queue));
    htw__delay_queue_fini(&queue, memory);
}

/* SPDX-License-Identifier: MIT */
/* test_delay_queue - buckets of several levels, earliest first. */
#include "../../../src/wheel/delay_queue.h"

#include "../../support/failing_allocator.h"
#include "../unit.h"

#include <errno.h>

/* Three levels of eight buckets: 1, 8 and 64 ticks wide. */
enum { BITS = 3, NEAR = 8, IDS = 24 };

static const struct htw_allocator *const memory = &htw__default_allocator;

static struct htw__delay_queue reserved(void) {
    struct htw__delay_queue queue;
    htw__delay_queue_init(&queue, BITS);
    assert_int_equal(htw__delay_queue_reserve(&queue, memory, IDS), 0);
    return queue;
}

static void expect_top(const struct htw__delay_queue *queue, uint64_t key, uint32_t id) {
    assert_true(htw__delay_queue_is_valid(queue));
    assert_int_equal(htw__delay_queue_top(queue).key, key);
    assert_int_equal(htw__delay_queue_top(queue).id, id);
}

/* Offers the bucket of a level that holds the deadline. Returns its number. */
static uint32_t offer(struct htw__delay_queue *queue, uint32_t level, uint64_t deadline) {
    uint32_t id = level << BITS | (uint32_t)(deadline >> (BITS * level)) % NEAR;
    htw__delay_queue_offer(queue, id, deadline, 0);
    return id;
}

UNIT_TEST(delay_queue_without_buckets_is_empty) {
    struct htw__delay_queue queue = reserved();
    assert_true(htw__delay_queue_is_empty(&queue));
    assert_true(htw__delay_queue_is_valid(&queue));
    assert_int_equal(htw__delay_queue_count(&queue), 0);
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
    offer(&queue, 1, 12);
    offer(&queue, 0, 12);
    offer(&queue, 2, 12);
    for (uint32_t level = 3; level-- > 0;) {
        assert_int_equal(htw__delay_queue_top(&queue).id >> BITS, level);
        assert_int_equal(htw__delay_queue_top(&queue).key, 12);
        assert_true(htw__delay_queue_is_valid(&queue));
        htw__delay_queue_pop(&queue);
    }
    htw__delay_queue_fini(&queue, memory);
}

UNIT_TEST(delay_queue_keeps_the_moment_at_which_a_bucket_was_queued) {
    struct htw__delay_queue queue = reserved();
    htw__delay_queue_offer(&queue, 2, 10, 7);
    htw__delay_queue_offer(&queue, 10, 22, 8);
    htw__delay_queue_offer(&queue, 10, 20, 9); /* an earlier key: it was queued before */
    assert_int_equal(htw__delay_queue_since(&queue, 2), 7);
    assert_int_equal(htw__delay_queue_since(&queue, 10), 8);
    htw__delay_queue_pop(&queue);
    htw__delay_queue_offer(&queue, 2, 18, 20);
    assert_int_equal(htw__delay_queue_since(&queue, 2), 20);
    htw__delay_queue_fini(&queue, memory);
}

/* Keys in random order beside a plain table: every top is the least of all. */
UNIT_TEST(delay_queue_in_random_use_agrees_with_a_search) {
    struct htw__delay_queue queue = reserved();
    uint64_t numbers = 88172645463325252u;
    uint64_t clock = 0;
    for (int step = 0; step < 20000; step++) {
        numbers = numbers * 6364136223846793005u + 1442695040888963407u;
        uint32_t level = (uint32_t)(numbers >> 33) % 3;
        uint64_t bucket = (clock >> (BITS * level)) + 1 + (numbers >> 40) % (NEAR - 1);
        uint64_t within = (numbers >> 50) & ((UINT64_C(1) << (BITS * level)) - 1);
        offer(&queue, level, (bucket << (BITS * level)) + within);
        if (numbers >> 63 != 0)
            continue;
        struct htw__delay_queue_entry least = { HTW__DELAY_QUEUE_ABSENT, 0 };
        for (uint32_t id = 0; id < IDS; id++)
            if (htw__delay_queue_key(&queue, id) <= least.key)
                least = (struct htw__delay_queue_entry) { htw__delay_queue_key(&queue, id), id };
        expect_top(&queue, least.key, least.id);
        clock = least.key;
        htw__delay_queue_pop(&queue);
    }
    htw__delay_queue_fini(&queue, memory);
}

UNIT_TEST(delay_queue_grown_keeps_its_buckets) {
    struct htw__delay_queue queue;
    htw__delay_queue_init(&queue, BITS);
    assert_int_equal(htw__delay_queue_reserve(&queue, memory, NEAR), 0);
    htw__delay_queue_offer(&queue, 1, 1, 5);
    assert_int_equal(htw__delay_queue_reserve(&queue, memory, IDS), 0);
    assert_int_equal(htw__delay_queue_since(&queue, 1), 5);
    uint32_t id = offer(&queue, 2, 500);
    expect_top(&queue, 1, 1);
    htw__delay_queue_pop(&queue);
    expect_top(&queue, 500, id);
    htw__delay_queue_fini(&queue, memory);
}

UNIT_TEST(delay_queue_without_memory_stays_as_it_was) {
    struct failing_allocator source;
    failing_allocator_init(&source);
    struct htw__delay_queue queue;
    htw__delay_queue_init(&queue, BITS);
    assert_int_equal(htw__delay_queue_reserve(&queue, &source.allocator, NEAR), 0);
    offer(&queue, 0, 2);
    failing_allocator_fail(&source, 1, false);
    assert_int_equal(htw__delay_queue_reserve(&queue, &source.allocator, IDS), -ENOMEM);
    expect_top(&queue, 2, 2);
    htw__delay_queue_fini(&queue, &source.allocator);
    assert_int_equal(source.live_blocks, 0);
    assert_null(source.error);
    failing_allocator_fini(&source);
}

/* Changes `field`, expects that this is found, and restores it. */
#define assert_invalid(queue, field, value)              \
    do {                                                 \
        __typeof__(field) intact_ = (field);             \
        (field) = (value);                               \
        assert_false(htw__delay_queue_is_valid(&queue)); \
        (field) = intact_;                               \
        assert_true(htw__delay_queue_is_valid(&queue));  \
    } while (0)

UNIT_TEST(delay_queue_that_disagrees_with_itself_is_found_invalid) {
    struct htw__delay_queue queue = reserved();
    offer(&queue, 0, 3);
    uint32_t far = offer(&queue, 1, 34);
    assert_invalid(queue, queue.keys[4], 4);
    assert_invalid(queue, queue.keys[far], 35);
    assert_invalid(queue, queue.queued[0].summary, 0);
    assert_invalid(queue, queue.queued[0].summary, 1 | UINT64_C(1) << 40);
    assert_invalid(queue, queue.queued[1].words[0], 0);
    assert_invalid(queue, queue.queued[2].words[63], 1);
    assert_invalid(queue, queue.heap[0].key, 2);
    assert_invalid(queue, queue.heap[0].id, 4);
    assert_invalid(queue, queue.heap[1].key, 33);
    assert_invalid(queue, queue.heap[1].id, far + 1);
    assert_invalid(queue, queue.positions[0], 1);
    assert_invalid(queue, queue.positions[1], 2);
    assert_invalid(queue, queue.heap_count, 1);
    assert_invalid(queue, queue.heap_count, 3);
    /* Each level where it says, and the later one at the top. */
    struct htw__delay_queue_entry first = queue.heap[0];
    queue.heap[0] = queue.heap[1];
    queue.heap[1] = first;
    queue.positions[0] = 1;
    queue.positions[1] = 0;
    assert_false(htw__delay_queue_is_valid(&queue));
    htw__delay_queue_fini(&queue, memory);
    queue = reserved();
    assert_invalid(queue, queue.heap[0].key, 3);
    htw__delay_queue_fini(&queue, memory);
}

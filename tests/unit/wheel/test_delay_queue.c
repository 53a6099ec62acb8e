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

/* Offers the bucket of a level that holds the deadline. Returns its number. */
static uint32_t offer(struct htw__delay_queue *queue, uint32_t level, uint64_t deadline) {
    uint32_t id = level << BITS | (uint32_t)(deadline >> (BITS * level)) % NEAR;
    htw__delay_queue_offer(queue, id, deadline, 0);
    return id;
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

/* SPDX-License-Identifier: MIT */
/* The memory of keys. */
#include "../../../src/purgatory/key_pool.h"
#include "../../support/failing_allocator.h"
#include "../unit.h"

#include <string.h>

#define SLOTS 1000

struct held {
    char *slot;
    uint8_t number;
};

static void allocate(struct htw__key_pool *pool, struct held *held, unsigned char content) {
    held->slot = htw__key_pool_allocate(pool, &held->number);
    assert_non_null(held->slot);
    memset(held->slot, content, HTW__SLOT_BYTES);
}

static void key_pool_slots_are_aligned_and_apart(void **state) {
    (void)state;
    struct htw__key_pool pool;
    struct held held[SLOTS];
    htw__key_pool_init(&pool, &htw__default_allocator);
    for (int i = 0; i < SLOTS; i++)
        allocate(&pool, &held[i], (unsigned char)i);
    for (int i = 0; i < SLOTS; i++) {
        assert_int_equal((uintptr_t)held[i].slot % HTW__SLOT_BYTES, 0);
        for (unsigned byte = 0; byte < HTW__SLOT_BYTES; byte++)
            assert_int_equal((unsigned char)held[i].slot[byte], (unsigned char)i);
        htw__key_pool_free(&pool, held[i].slot, held[i].number);
    }
    assert_int_equal(htw__key_pool_memory(&pool), 0);
}

static void key_pool_without_slots_in_use_holds_no_memory(void **state) {
    (void)state;
    struct htw__key_pool pool;
    struct held held[SLOTS];
    htw__key_pool_init(&pool, &htw__default_allocator);
    assert_int_equal(htw__key_pool_memory(&pool), 0);
    for (int i = 0; i < SLOTS; i++)
        allocate(&pool, &held[i], 1);
    assert_true(htw__key_pool_memory(&pool) >= SLOTS * HTW__SLOT_BYTES);
    assert_true(htw__key_pool_memory(&pool) <= (SLOTS + HTW__CHUNK_SLOTS) * 66);
    for (int i = SLOTS; i-- > 0;) /* in the other order */
        htw__key_pool_free(&pool, held[i].slot, held[i].number);
    assert_int_equal(htw__key_pool_memory(&pool), 0);
}

static void key_pool_with_free_slots_does_not_grow(void **state) {
    (void)state;
    struct htw__key_pool pool;
    struct held held[SLOTS];
    htw__key_pool_init(&pool, &htw__default_allocator);
    for (int i = 0; i < SLOTS; i++)
        allocate(&pool, &held[i], 1);
    size_t memory = htw__key_pool_memory(&pool);
    for (int round = 0; round < 10; round++) {
        for (int i = round; i < SLOTS; i += 7)
            htw__key_pool_free(&pool, held[i].slot, held[i].number);
        for (int i = round; i < SLOTS; i += 7)
            allocate(&pool, &held[i], 2);
        assert_int_equal(htw__key_pool_memory(&pool), memory);
    }
    for (int i = 0; i < SLOTS; i++)
        htw__key_pool_free(&pool, held[i].slot, held[i].number);
}

static void key_pool_with_empty_chunks_frees_them(void **state) {
    (void)state;
    struct htw__key_pool pool;
    struct held held[SLOTS];
    htw__key_pool_init(&pool, &htw__default_allocator);
    for (int i = 0; i < SLOTS; i++)
        allocate(&pool, &held[i], 1);
    for (int i = 100; i < SLOTS; i++)
        htw__key_pool_free(&pool, held[i].slot, held[i].number);
    assert_true(htw__key_pool_memory(&pool) <= 300 * HTW__SLOT_BYTES);
    for (int i = 0; i < 100; i++)
        htw__key_pool_free(&pool, held[i].slot, held[i].number);
    assert_int_equal(htw__key_pool_memory(&pool), 0);
}

static void key_pool_at_the_edge_of_a_chunk_does_not_allocate_each_time(void **state) {
    (void)state;
    struct failing_allocator allocator;
    struct htw__key_pool pool;
    struct held held[HTW__CHUNK_SLOTS + 1];
    failing_allocator_init(&allocator);
    htw__key_pool_init(&pool, &allocator.allocator);
    for (unsigned i = 0; i <= HTW__CHUNK_SLOTS; i++)
        allocate(&pool, &held[i], 1);
    size_t calls = allocator.calls;
    for (int round = 0; round < 100; round++) {
        htw__key_pool_free(&pool, held[0].slot, held[0].number);
        htw__key_pool_free(&pool, held[1].slot, held[1].number);
        allocate(&pool, &held[0], 1);
        allocate(&pool, &held[1], 1);
    }
    assert_true(allocator.calls == calls);
    for (unsigned i = 0; i <= HTW__CHUNK_SLOTS; i++)
        htw__key_pool_free(&pool, held[i].slot, held[i].number);
    assert_int_equal(allocator.live_blocks, 0);
    assert_null(allocator.error);
    failing_allocator_fini(&allocator);
}

static void key_pool_without_memory_allocates_nothing(void **state) {
    (void)state;
    struct failing_allocator allocator;
    struct htw__key_pool pool;
    uint8_t number;
    failing_allocator_init(&allocator);
    htw__key_pool_init(&pool, &allocator.allocator);
    failing_allocator_fail(&allocator, 1, false);
    assert_null(htw__key_pool_allocate(&pool, &number));
    assert_int_equal(htw__key_pool_memory(&pool), 0);
    struct held held;
    allocate(&pool, &held, 1);
    htw__key_pool_free(&pool, held.slot, held.number);
    assert_int_equal(allocator.live_blocks, 0);
    failing_allocator_fini(&allocator);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_pool_slots_are_aligned_and_apart),
        cmocka_unit_test(key_pool_without_slots_in_use_holds_no_memory),
        cmocka_unit_test(key_pool_with_free_slots_does_not_grow),
        cmocka_unit_test(key_pool_with_empty_chunks_frees_them),
        cmocka_unit_test(key_pool_at_the_edge_of_a_chunk_does_not_allocate_each_time),
        cmocka_unit_test(key_pool_without_memory_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Cells out of chunks. */
#include "../../../src/purgatory/key_pool.h"
#include "../../support/failing_allocator.h"
#include "../unit.h"

#include <string.h>

#define CELLS 1000

struct held {
    char *cell;
    uint8_t number;
};

static void take(struct htw__key_pool *cells, struct held *held, unsigned char content) {
    held->cell = htw__key_pool_allocate(cells, &held->number);
    assert_non_null(held->cell);
    memset(held->cell, content, HTW__CELL_BYTES);
}

static void cells_taken_are_aligned_and_apart(void **state) {
    (void)state;
    struct htw__key_pool cells;
    struct held held[CELLS];
    htw__key_pool_init(&cells, &htw__default_allocator);
    for (int i = 0; i < CELLS; i++)
        take(&cells, &held[i], (unsigned char)i);
    for (int i = 0; i < CELLS; i++) {
        assert_int_equal((uintptr_t)held[i].cell % HTW__CELL_BYTES, 0);
        for (unsigned byte = 0; byte < HTW__CELL_BYTES; byte++)
            assert_int_equal((unsigned char)held[i].cell[byte], (unsigned char)i);
        htw__key_pool_free(&cells, held[i].cell, held[i].number);
    }
    assert_int_equal(htw__key_pool_memory(&cells), 0);
}

static void cells_none_taken_hold_no_memory(void **state) {
    (void)state;
    struct htw__key_pool cells;
    struct held held[CELLS];
    htw__key_pool_init(&cells, &htw__default_allocator);
    assert_int_equal(htw__key_pool_memory(&cells), 0);
    for (int i = 0; i < CELLS; i++)
        take(&cells, &held[i], 1);
    assert_true(htw__key_pool_memory(&cells) >= CELLS * HTW__CELL_BYTES);
    assert_true(htw__key_pool_memory(&cells) <= (CELLS + HTW__CHUNK_CELLS) * 66);
    for (int i = CELLS; i-- > 0;) /* in the other order */
        htw__key_pool_free(&cells, held[i].cell, held[i].number);
    assert_int_equal(htw__key_pool_memory(&cells), 0);
}

static void cells_given_back_are_used_before_the_pool_grows(void **state) {
    (void)state;
    struct htw__key_pool cells;
    struct held held[CELLS];
    htw__key_pool_init(&cells, &htw__default_allocator);
    for (int i = 0; i < CELLS; i++)
        take(&cells, &held[i], 1);
    size_t memory = htw__key_pool_memory(&cells);
    for (int round = 0; round < 10; round++) {
        for (int i = round; i < CELLS; i += 7)
            htw__key_pool_free(&cells, held[i].cell, held[i].number);
        for (int i = round; i < CELLS; i += 7)
            take(&cells, &held[i], 2);
        assert_int_equal(htw__key_pool_memory(&cells), memory);
    }
    for (int i = 0; i < CELLS; i++)
        htw__key_pool_free(&cells, held[i].cell, held[i].number);
}

static void cells_empty_chunks_go_back(void **state) {
    (void)state;
    struct htw__key_pool cells;
    struct held held[CELLS];
    htw__key_pool_init(&cells, &htw__default_allocator);
    for (int i = 0; i < CELLS; i++)
        take(&cells, &held[i], 1);
    for (int i = 100; i < CELLS; i++)
        htw__key_pool_free(&cells, held[i].cell, held[i].number);
    assert_true(htw__key_pool_memory(&cells) <= 300 * HTW__CELL_BYTES);
    for (int i = 0; i < 100; i++)
        htw__key_pool_free(&cells, held[i].cell, held[i].number);
    assert_int_equal(htw__key_pool_memory(&cells), 0);
}

static void cells_at_the_edge_of_a_chunk_do_not_allocate_each_time(void **state) {
    (void)state;
    struct failing_allocator allocator;
    struct htw__key_pool cells;
    struct held held[HTW__CHUNK_CELLS + 1];
    failing_allocator_init(&allocator);
    htw__key_pool_init(&cells, &allocator.allocator);
    for (unsigned i = 0; i <= HTW__CHUNK_CELLS; i++)
        take(&cells, &held[i], 1);
    size_t calls = allocator.calls;
    for (int round = 0; round < 100; round++) {
        htw__key_pool_free(&cells, held[0].cell, held[0].number);
        htw__key_pool_free(&cells, held[1].cell, held[1].number);
        take(&cells, &held[0], 1);
        take(&cells, &held[1], 1);
    }
    assert_true(allocator.calls == calls);
    for (unsigned i = 0; i <= HTW__CHUNK_CELLS; i++)
        htw__key_pool_free(&cells, held[i].cell, held[i].number);
    assert_int_equal(allocator.live_blocks, 0);
    assert_null(allocator.error);
    failing_allocator_fini(&allocator);
}

static void cells_without_memory_are_refused(void **state) {
    (void)state;
    struct failing_allocator allocator;
    struct htw__key_pool cells;
    uint8_t number;
    failing_allocator_init(&allocator);
    htw__key_pool_init(&cells, &allocator.allocator);
    failing_allocator_fail(&allocator, 1, false);
    assert_null(htw__key_pool_allocate(&cells, &number));
    assert_int_equal(htw__key_pool_memory(&cells), 0);
    struct held held;
    take(&cells, &held, 1);
    htw__key_pool_free(&cells, held.cell, held.number);
    assert_int_equal(allocator.live_blocks, 0);
    failing_allocator_fini(&allocator);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_taken_are_aligned_and_apart),
        cmocka_unit_test(cells_none_taken_hold_no_memory),
        cmocka_unit_test(cells_given_back_are_used_before_the_pool_grows),
        cmocka_unit_test(cells_empty_chunks_go_back),
        cmocka_unit_test(cells_at_the_edge_of_a_chunk_do_not_allocate_each_time),
        cmocka_unit_test(cells_without_memory_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_cell_pool.c - cells out of chunks. */
#include "../../../src/purgatory/cell_pool.h"
#include "../../support/failing_allocator.h"
#include "../unit.h"

#define CELLS 1000

static struct failing_allocator memory;
static struct htw__cell_pool pool;

static struct htw__key_cell *held[CELLS];

static void allocate(int i) {
    held[i] = htw__cell_allocate(&pool);
    assert_non_null(held[i]);
}

static void allocate_first(int count) {
    for (int i = 0; i < count; i++)
        allocate(i);
}

static void release(int i) {
    htw__cell_free(held[i]);
}

static void set_up(void) {
    failing_allocator_init(&memory);
    htw__cell_pool_init(&pool, &memory.allocator);
}

/* All cells are free by then. */
static void tear_down(void) {
    assert_int_equal(htw__cell_pool_memory(&pool), 0);
    assert_all_released(&memory);
}

UNIT_TEST_BETWEEN(set_up, tear_down, cell_pool_with_free_cells_does_not_grow) {
    allocate_first(CELLS);
    size_t bytes = htw__cell_pool_memory(&pool);
    for (int round = 0; round < 10; round++) {
        for (int i = round; i < CELLS; i += 7)
            release(i);
        for (int i = round; i < CELLS; i += 7)
            allocate(i);
        assert_int_equal(htw__cell_pool_memory(&pool), bytes);
    }
    for (int i = 0; i < CELLS; i++)
        release(i);
}

UNIT_TEST_BETWEEN(set_up, tear_down, cell_pool_at_the_edge_of_a_chunk_does_not_allocate_each_time) {
    allocate_first(HTW__CHUNK_CELLS + 1);
    size_t calls = memory.calls;
    for (int round = 0; round < 100; round++) {
        release(0);
        release(1);
        allocate(0);
        allocate(1);
    }
    assert_int_equal(memory.calls, calls);
    for (int i = 0; i <= (int)HTW__CHUNK_CELLS; i++)
        release(i);
}

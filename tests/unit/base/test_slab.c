/* SPDX-License-Identifier: MIT */
/* test_slab - generations and pages of a slab at their end. The model of the scheduler has cells at random. */
#include "../../../src/base/slab.h"

#include "../../support/failing_allocator.h"

#include "../unit.h"

/* The name of a cell, like a handle. */
struct name {
    uint32_t index, generation;
};

static struct failing_allocator memory;
static struct htw__slab slab;

static void begin(uint32_t index_bits, uint32_t generation_bits) {
    failing_allocator_init(&memory);
    htw__slab_init(&slab, &memory.allocator, index_bits, generation_bits);
}

static void end(void) {
    htw__slab_fini(&slab);
    assert_all_released(&memory);
}

static int add_page(void) {
    struct htw__cell *cells = htw__slab_allocate_page(&slab);
    if (cells == NULL)
        return -ENOMEM;
    int error = htw__slab_add_page(&slab, cells);
    if (error != 0)
        htw__slab_release_page(&slab, cells);
    return error;
}

/* Allocates a cell without adding a page, or returns NULL. */
static struct htw__cell *allocate_from_pages(void) {
    uint32_t index;
    struct htw__cell *cell = htw__slab_allocate(&slab, &index);
    assert_true(cell == NULL || index == htw__slab_index(&slab, cell));
    return cell;
}

/* Allocates a cell; adds a page if there is no free one. */
static struct htw__cell *allocate(void) {
    struct htw__cell *cell = allocate_from_pages();
    if (cell == NULL) {
        assert_int_equal(add_page(), 0);
        cell = allocate_from_pages();
    }
    assert_non_null(cell);
    assert_int_equal(cell->status & HTW__STATUS_STATE, 0);
    cell->status |= 1;
    return cell;
}

static bool remove_page(uint32_t spare) {
    struct htw__cell *cells = htw__slab_remove_page(&slab, spare);
    if (cells == NULL)
        return false;
    htw__slab_release_page(&slab, cells);
    return true;
}

static struct name name_of(const struct htw__cell *cell) {
    return (struct name) { htw__slab_index(&slab, cell), htw__status_generation(cell->status) };
}

/* The cell of a name; NULL: the name is stale. */
static struct htw__cell *find(struct name name) {
    struct htw__cell *cell = htw__slab_find(&slab, name.index);
    return cell != NULL && htw__status_generation(cell->status) == name.generation &&
                   (cell->status & HTW__STATUS_STATE) != 0
               ? cell
               : NULL;
}

UNIT_TEST(slab_that_is_full_refuses_another_page) {
    begin(HTW__SLAB_PAGE_BITS + 2, 32);
    for (unsigned i = 0; i < 4 * HTW__SLAB_PAGE_CELLS; i++)
        assert_int_equal(name_of(allocate()).index, i);
    assert_null(allocate_from_pages());
    assert_int_equal(add_page(), -ENOMEM);
    assert_null(allocate_from_pages());
    htw__slab_free(&slab, htw__slab_find(&slab, 5000));
    assert_int_equal(name_of(allocate()).index, 5000);
    end();
}

/* ---- generations */

UNIT_TEST(slab_cell_whose_generations_are_used_up_is_retired_with_its_page) {
    begin(HTW__SLAB_PAGE_BITS + 1, 16);
    struct htw__cell *cell = allocate();
    uint32_t index = name_of(cell).index;
    for (uint32_t generation = 1; generation <= UINT16_MAX; generation++) {
        assert_int_equal(name_of(cell).index, index);
        assert_int_equal(name_of(cell).generation, generation);
        htw__slab_free(&slab, cell);
        cell = allocate();
    }
    assert_true(name_of(cell).index != index);
    assert_int_equal(name_of(cell).generation, 1);
    htw__slab_free(&slab, cell);
    assert_null(find((struct name) { index, UINT16_MAX })); /* its last name is stale */
    for (unsigned i = 0; i < HTW__SLAB_PAGE_CELLS - 1; i++)
        assert_true(name_of(allocate()).index != index);
    assert_null(allocate_from_pages());
    for (unsigned i = 0; i < HTW__SLAB_PAGE_CELLS; i++)
        if (i != index)
            htw__slab_free(&slab, htw__slab_find(&slab, i));
    assert_true(remove_page(0));
    for (unsigned round = 0; round < 2;
         round++) { /* the other page comes again, the first one never */
        cell = allocate();
        assert_true(name_of(cell).index >= HTW__SLAB_PAGE_CELLS);
        htw__slab_free(&slab, cell);
        assert_true(remove_page(0));
    }
    cell = allocate();
    assert_int_equal(add_page(), -ENOMEM);
    end();
}

UNIT_TEST(slab_page_added_again_goes_on_above_its_generations) {
    begin(20, 32);
    struct htw__cell *cell = NULL;
    for (unsigned i = 0; i < 9; i++) {
        cell = allocate();
        htw__slab_free(&slab, cell);
    }
    cell = allocate();
    struct name old = name_of(cell), neighbour = { old.index + 1, 1 };
    assert_int_equal(old.generation, 10);
    htw__slab_free(&slab, cell);
    assert_true(remove_page(0));
    assert_null(htw__slab_find(&slab, old.index));
    assert_int_equal(add_page(), 0);
    assert_null(htw__slab_find(&slab, old.index)); /* fresh again */
    cell = allocate();
    assert_int_equal(name_of(cell).index, old.index);
    assert_true(name_of(cell).generation > old.generation);
    assert_null(find(old));
    cell = allocate();
    assert_int_equal(name_of(cell).index, neighbour.index);
    assert_null(find(neighbour));
    end();
}

UNIT_TEST(slab_page_of_retired_cells_stays) {
    begin(HTW__SLAB_PAGE_BITS, 16);
    assert_int_equal(add_page(), 0);
    /* 2^28 steps would take too long: the generations are set to their last. */
    struct htw__cell *cells[HTW__SLAB_PAGE_CELLS];
    for (unsigned i = 0; i < HTW__SLAB_PAGE_CELLS; i++) {
        cells[i] = allocate();
        cells[i]->status |= (uint64_t)UINT16_MAX << 32;
    }
    for (unsigned i = 0; i < HTW__SLAB_PAGE_CELLS; i++)
        htw__slab_free(&slab, cells[i]);
    assert_null(allocate_from_pages());
    assert_false(remove_page(0)); /* it goes with the slab */
    assert_int_equal(add_page(), -ENOMEM);
    end();
}

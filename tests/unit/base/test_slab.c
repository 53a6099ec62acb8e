/* SPDX-License-Identifier: MIT */
/* test_slab - cells, names, generations and pages of a slab. */
#include "../../../src/base/slab.h"

#include "../../support/failing_allocator.h"
#include "../../support/random.h"

#include "../unit.h"

#include <errno.h>
#include <stdlib.h>

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
    assert_null(memory.error);
    assert_int_equal(memory.live_blocks, 0);
    failing_allocator_fini(&memory);
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

UNIT_TEST(slab_page_of_retired_cells_is_removed) {
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
    assert_true(remove_page(5)); /* it has no cell to allocate, so it does not count as spare */
    assert_int_equal(add_page(), -ENOMEM);
    assert_null(htw__slab_find(&slab, 0));
    end();
}

/* ---- a history at random, against a list of names */

enum { LIVE_MAX = 6 * HTW__SLAB_PAGE_CELLS, STALE_MAX = 4096 };

struct history {
    struct random_source random;
    struct name *live;
    struct htw__cell **cells;
    uint64_t *marks; /* what was written into the cells */
    size_t live_count;
    struct name *stale;
    size_t stale_count;
};

static void step_allocate(struct history *history) {
    struct htw__cell *cell = allocate_from_pages();
    if (cell == NULL) {
        if (random_one_in(&history->random, 2))
            failing_allocator_fail(&memory, 1, false);
        int error = add_page();
        assert_int_equal(error == 0, memory.fail_at == 0 || memory.calls < memory.fail_at);
        failing_allocator_relent(&memory);
        return;
    }
    size_t i = history->live_count++;
    cell->status |= 1 + random_below(&history->random, HTW__STATUS_STATE - 1);
    history->cells[i] = cell;
    history->live[i] = name_of(cell);
    history->marks[i] = random_next(&history->random);
    for (unsigned word = 0; word < 7; word++)
        cell->content[word] = history->marks[i] + word;
}

static void check_live(const struct history *history, size_t i) {
    struct htw__cell *cell = find(history->live[i]);
    assert_ptr_equal(cell, history->cells[i]);
    for (unsigned word = 0; word < 7; word++)
        assert_int_equal(cell->content[word], history->marks[i] + word);
}

static void note_stale(struct history *history, size_t i) {
    check_live(history, i);
    size_t place = history->stale_count++ % STALE_MAX;
    history->stale[place] = history->live[i];
}

static void step_renew(struct history *history, size_t i) {
    note_stale(history, i);
    assert_true(htw__slab_renew(&slab, history->cells[i]));
    assert_int_equal(history->cells[i]->status & HTW__STATUS_STATE, 0);
    history->cells[i]->status |= 1 + random_below(&history->random, HTW__STATUS_STATE - 1);
    history->live[i] = name_of(history->cells[i]);
}

static void step_free(struct history *history, size_t i) {
    note_stale(history, i);
    htw__slab_free(&slab, history->cells[i]);
    size_t last = --history->live_count;
    history->live[i] = history->live[last];
    history->cells[i] = history->cells[last];
    history->marks[i] = history->marks[last];
}

static void check_stale(const struct history *history) {
    size_t count = history->stale_count < STALE_MAX ? history->stale_count : STALE_MAX;
    for (size_t i = 0; i < count; i++) {
        assert_null(find(history->stale[i]));
        struct htw__cell *cell = htw__slab_find(&slab, history->stale[i].index);
        if (cell != NULL) /* a generation never comes back */
            assert_true(htw__status_generation(cell->status) != history->stale[i].generation);
    }
}

static void run_history(uint64_t seed) {
    struct history history = { .random = { seed } };
    history.live = calloc(LIVE_MAX, sizeof(*history.live));
    history.cells = calloc(LIVE_MAX, sizeof(struct htw__cell *));
    history.marks = calloc(LIVE_MAX, sizeof(*history.marks));
    history.stale = calloc(STALE_MAX, sizeof(*history.stale));
    begin(HTW__SLAB_PAGE_BITS + 4, 32);
    for (unsigned phase = 0; phase < 30; phase++) {
        size_t target = random_below(&history.random, 3) == 0
                            ? 0
                            : (size_t)random_below(&history.random, LIVE_MAX);
        while (history.live_count != target)
            if (history.live_count < target && !random_one_in(&history.random, 4))
                step_allocate(&history);
            else if (history.live_count > 0 && random_one_in(&history.random, 4))
                step_renew(&history, (size_t)random_below(&history.random, history.live_count));
            else if (history.live_count > 0)
                step_free(&history, (size_t)random_below(&history.random, history.live_count));
        for (size_t i = 0; i < history.live_count; i += 1 + i % 7)
            check_live(&history, i);
        check_stale(&history);
        assert_int_equal(htw__slab_bytes(&slab), memory.live_bytes);
        uint32_t spare = (uint32_t)random_below(&history.random, 3);
        while (random_below(&history.random, 3) > 0 && remove_page(spare))
            check_stale(&history);
    }
    while (history.live_count > 0)
        step_free(&history, history.live_count - 1);
    while (remove_page(0))
        ;
    assert_int_equal(slab.present_count, 0);
    end();
    free(history.live);
    free(history.cells);
    free(history.marks);
    free(history.stale);
}

UNIT_TEST(slab_in_random_use_agrees_with_a_list) {
    for (uint64_t seed = 1; seed <= 4; seed++) {
        print_message("seed %llu\n", (unsigned long long)seed);
        run_history(seed);
    }
}

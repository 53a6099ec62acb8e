/* SPDX-License-Identifier: MIT */
#include "../../src/histogram.h"

#include "unit.h"

static struct htw__histogram histogram;

static int empty(void **state) {
    (void)state;
    htw__histogram_init(&histogram);
    return 0;
}

static uint64_t count_of_all_cells(void) {
    uint64_t count = 0;
    size_t cursor = 0;
    struct htw__histogram_cell cell;
    while (htw__histogram_next(&histogram, &cursor, &cell))
        count += cell.count;
    return count;
}

static void histogram_without_values_is_all_zero(void **state) {
    (void)state;
    assert_int_equal(htw__histogram_count(&histogram), 0);
    assert_int_equal(htw__histogram_min(&histogram), 0);
    assert_int_equal(htw__histogram_max(&histogram), 0);
    assert_int_equal(htw__histogram_percentile(&histogram, 50.0), 0);
    assert_int_equal(count_of_all_cells(), 0);
}

static void histogram_of_small_values_is_exact(void **state) {
    (void)state;
    for (uint64_t value = 100; value >= 1; value--)
        htw__histogram_record(&histogram, value);
    assert_int_equal(htw__histogram_min(&histogram), 1);
    assert_int_equal(htw__histogram_max(&histogram), 100);
    assert_int_equal(htw__histogram_percentile(&histogram, 0.0), 1);
    assert_int_equal(htw__histogram_percentile(&histogram, 50.0), 50);
    assert_int_equal(htw__histogram_percentile(&histogram, 98.5), 99);
    assert_int_equal(htw__histogram_percentile(&histogram, 99.0), 99);
    assert_int_equal(htw__histogram_percentile(&histogram, 100.0), 100);
}

/* A lone value must come out of its own cell, close enough and never too small. */
static void assert_is_recorded_well(uint64_t value) {
    struct htw__histogram_cell cell;
    size_t cursor = 0;
    htw__histogram_init(&histogram);
    htw__histogram_record(&histogram, value);
    assert_true(htw__histogram_next(&histogram, &cursor, &cell));
    assert_int_equal(cell.count, 1);
    assert_true(cell.low <= value && value <= cell.high);
    assert_true(cell.high - cell.low <= value / 64);
    assert_false(htw__histogram_next(&histogram, &cursor, &cell));
    assert_true(htw__histogram_percentile(&histogram, 50.0) == value);
}

static void histogram_of_any_magnitude_is_close(void **state) {
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        assert_is_recorded_well(UINT64_C(1) << bit);
        assert_is_recorded_well((UINT64_C(1) << bit) - 1);
        assert_is_recorded_well((UINT64_C(1) << bit) + (UINT64_C(1) << bit) / 3);
    }
    assert_is_recorded_well(UINT64_MAX);
}

static void histogram_cells_cover_all_values_without_gaps(void **state) {
    (void)state;
    for (size_t i = 0; i < HTW__HISTOGRAM_CELLS; i++)
        histogram.cells[i] = 1;
    size_t cursor = 0;
    struct htw__histogram_cell cell;
    uint64_t next = 0;
    for (size_t i = 0; i < HTW__HISTOGRAM_CELLS; i++) {
        assert_true(htw__histogram_next(&histogram, &cursor, &cell));
        assert_true(cell.low == next);
        assert_true(cell.high >= cell.low);
        next = cell.high + 1;
    }
    assert_true(next == 0); /* the last cell ends with UINT64_MAX */
    assert_false(htw__histogram_next(&histogram, &cursor, &cell));
}

static void histogram_percentile_is_never_too_small(void **state) {
    (void)state;
    enum { VALUES = 1000 };
    for (uint64_t i = 1; i <= VALUES; i++)
        htw__histogram_record(&histogram, i * 1000003);
    for (uint64_t percent = 1; percent <= 100; percent++) {
        uint64_t exact = percent * (VALUES / 100) * 1000003;
        uint64_t told = htw__histogram_percentile(&histogram, (double)percent);
        assert_true(told >= exact);
        assert_true(told - exact <= exact / 64);
    }
    assert_int_equal(count_of_all_cells(), VALUES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(histogram_without_values_is_all_zero, empty),
        cmocka_unit_test_setup(histogram_of_small_values_is_exact, empty),
        cmocka_unit_test_setup(histogram_of_any_magnitude_is_close, empty),
        cmocka_unit_test_setup(histogram_cells_cover_all_values_without_gaps, empty),
        cmocka_unit_test_setup(histogram_percentile_is_never_too_small, empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

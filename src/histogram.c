/* SPDX-License-Identifier: MIT */
#include "histogram.h"

#include <string.h>

#define CELLS_PER_POWER (UINT64_C(1) << HTW__HISTOGRAM_CELL_BITS)

static size_t cell_of(uint64_t value) {
    if (value < CELLS_PER_POWER)
        return (size_t)value;
    unsigned top_bit = 63u - (unsigned)__builtin_clzll(value);
    unsigned shift = top_bit - HTW__HISTOGRAM_CELL_BITS;
    /* The leading bit of `value >> shift` stands for the first of the 64 cells, and so
     * advances the index by the one power that lies below all the shifted ones. */
    return ((size_t)shift << HTW__HISTOGRAM_CELL_BITS) + (size_t)(value >> shift);
}

static uint64_t cell_low(size_t cell) {
    if (cell < CELLS_PER_POWER)
        return cell;
    size_t shift = (cell >> HTW__HISTOGRAM_CELL_BITS) - 1;
    return (CELLS_PER_POWER + (cell & (CELLS_PER_POWER - 1))) << shift;
}

static uint64_t cell_high(size_t cell) {
    return cell + 1 < HTW__HISTOGRAM_CELLS ? cell_low(cell + 1) - 1 : UINT64_MAX;
}

void htw__histogram_init(struct htw__histogram *histogram) {
    memset(histogram, 0, sizeof(*histogram));
}

void htw__histogram_record(struct htw__histogram *histogram, uint64_t value) {
    if (histogram->count == 0 || value < histogram->min)
        histogram->min = value;
    if (value > histogram->max)
        histogram->max = value;
    histogram->count++;
    histogram->cells[cell_of(value)]++;
}

uint64_t htw__histogram_count(const struct htw__histogram *histogram) {
    return histogram->count;
}

uint64_t htw__histogram_min(const struct htw__histogram *histogram) {
    return histogram->min;
}

uint64_t htw__histogram_max(const struct htw__histogram *histogram) {
    return histogram->max;
}

uint64_t htw__histogram_percentile(const struct htw__histogram *histogram, double percent) {
    /* Rounded up, since half a value below is no value; 0 percent is the first value. */
    double exact = percent / 100.0 * (double)histogram->count;
    uint64_t rank = (uint64_t)exact;
    if ((double)rank < exact || rank == 0)
        rank++;

    size_t cursor = 0;
    uint64_t passed = 0;
    struct htw__histogram_cell cell;
    while (htw__histogram_next(histogram, &cursor, &cell)) {
        passed += cell.count;
        if (passed >= rank)
            return cell.high < histogram->max ? cell.high : histogram->max;
    }
    return histogram->max;
}

bool htw__histogram_next(const struct htw__histogram *histogram, size_t *cursor,
                         struct htw__histogram_cell *ret_cell) {
    size_t cell = *cursor;
    while (cell < HTW__HISTOGRAM_CELLS && histogram->cells[cell] == 0)
        cell++;
    *cursor = cell + 1;
    if (cell >= HTW__HISTOGRAM_CELLS)
        return false;
    *ret_cell = (struct htw__histogram_cell) {
        .low = cell_low(cell),
        .high = cell_high(cell),
        .count = histogram->cells[cell],
    };
    return true;
}

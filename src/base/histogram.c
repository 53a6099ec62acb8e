/* SPDX-License-Identifier: MIT */
/* histogram.c - histograms of durations. */
#include "histogram.h"

#include <string.h>

#define CELLS_PER_POWER (UINT64_C(1) << HTW__HISTOGRAM_CELL_BITS)

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
    htw__counter_set(&histogram->min, UINT64_MAX);
}

uint64_t htw__histogram_count(const struct htw__histogram *histogram) {
    return htw__counter_read(&histogram->count);
}

uint64_t htw__histogram_sum(const struct htw__histogram *histogram) {
    return htw__counter_read(&histogram->sum);
}

/* Not by the count: a reader may see that of the first value, and its minimum not yet. */
uint64_t htw__histogram_min(const struct htw__histogram *histogram) {
    uint64_t min = htw__counter_read(&histogram->min);
    return min <= htw__counter_read(&histogram->max) ? min : 0;
}

uint64_t htw__histogram_max(const struct htw__histogram *histogram) {
    return htw__counter_read(&histogram->max);
}

/* Not the count, which need not agree with the cells that a reader sees. */
static uint64_t count_in_cells(const struct htw__histogram *histogram) {
    uint64_t count = 0;
    for (size_t i = 0; i < HTW__HISTOGRAM_CELLS; i++)
        count += htw__counter_read(&histogram->cells[i]);
    return count;
}

/* An extreme value, if it lies in its cell; otherwise a reader was not told of it yet, or was
 * told of a later one, and takes the cell's own end. */
static uint64_t extreme(uint64_t value, const struct htw__histogram_cell *cell, uint64_t end) {
    return cell->low <= value && value <= cell->high ? value : end;
}

uint64_t htw__histogram_percentile(const struct htw__histogram *histogram, double percent) {
    /* Rounded up, since half a value below is no value; 0 percent is the first value. */
    double exact = percent / 100.0 * (double)count_in_cells(histogram);
    uint64_t rank = (uint64_t)exact;
    if ((double)rank < exact || rank == 0)
        rank++;

    /* Cells only grow, so that the rank is reached, whatever is recorded meanwhile. */
    size_t cursor = 0;
    uint64_t passed = 0;
    struct htw__histogram_cell cell = { 0 };
    while (passed < rank && htw__histogram_next(histogram, &cursor, &cell))
        passed += cell.count;
    /* In the last cell, the values do not exceed the maximum. */
    return extreme(htw__histogram_max(histogram), &cell, cell.high);
}

void htw__histogram_merge(struct htw__histogram *into, const struct htw__histogram *from) {
    size_t cursor = 0;
    uint64_t count = 0;
    struct htw__histogram_cell first = { 0 };
    struct htw__histogram_cell last = { 0 };
    while (htw__histogram_next(from, &cursor, &last)) {
        htw__counter_add(&into->cells[cursor - 1], last.count);
        if (count == 0)
            first = last;
        count += last.count;
    }
    if (count == 0)
        return;

    uint64_t min = extreme(htw__counter_read(&from->min), &first, first.low);
    if (min < htw__counter_read(&into->min))
        htw__counter_set(&into->min, min);
    uint64_t max = extreme(htw__counter_read(&from->max), &last, last.high);
    if (max > htw__counter_read(&into->max))
        htw__counter_set(&into->max, max);
    htw__counter_add(&into->sum, htw__histogram_sum(from));
    htw__counter_add(&into->count, count);
}

bool htw__histogram_next(const struct htw__histogram *histogram, size_t *cursor,
                         struct htw__histogram_cell *ret_cell) {
    uint64_t count = 0;
    size_t cell = *cursor;
    while (cell < HTW__HISTOGRAM_CELLS && (count = htw__counter_read(&histogram->cells[cell])) == 0)
        cell++;
    *cursor = cell + 1;
    if (cell >= HTW__HISTOGRAM_CELLS)
        return false;
    *ret_cell = (struct htw__histogram_cell) {
        .low = cell_low(cell),
        .high = cell_high(cell),
        .count = count,
    };
    return true;
}

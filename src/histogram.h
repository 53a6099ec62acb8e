/* SPDX-License-Identifier: MIT */
/*
 * histogram.h - how often which value occurred, for any 64-bit values, in a fixed
 * amount of memory and with a relative error of at most 1/64.
 *
 * Log-linear: each power of two is divided into 64 cells of equal width (the idea of
 * HdrHistogram). Values below 128 have cells of their own. One thread at a time.
 */
#ifndef HTW_SRC_HISTOGRAM_H
#define HTW_SRC_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTW__HISTOGRAM_CELL_BITS 6u

/* The values below 64, and then 64 cells for each of the 58 powers of two that follow. */
#define HTW__HISTOGRAM_CELLS ((64u - HTW__HISTOGRAM_CELL_BITS + 1u) << HTW__HISTOGRAM_CELL_BITS)

struct htw__histogram {
    uint64_t count;
    uint64_t min;
    uint64_t max;
    uint64_t cells[HTW__HISTOGRAM_CELLS];
};

/* Makes it empty. */
void htw__histogram_init(struct htw__histogram *histogram);

/* Counts one value. O(1). */
void htw__histogram_record(struct htw__histogram *histogram, uint64_t value);

/* How many values were counted. */
uint64_t htw__histogram_count(const struct htw__histogram *histogram);

/* The least and the greatest value, exactly; 0 when empty. */
uint64_t htw__histogram_min(const struct htw__histogram *histogram);
uint64_t htw__histogram_max(const struct htw__histogram *histogram);

/*
 * A value that at least `percent` (0 to 100) of the values do not exceed, never too
 * small, and too great by 1/64 at most; 0 when empty. O(cells).
 */
uint64_t htw__histogram_percentile(const struct htw__histogram *histogram, double percent);

/* A cell that is not empty: it stands for the values from `low` to `high`, both included. */
struct htw__histogram_cell {
    uint64_t low;
    uint64_t high;
    uint64_t count;
};

/*
 * Gives the next cell that is not empty, in ascending order; false when there is none.
 * `*cursor` is 0 at first.
 */
bool htw__histogram_next(const struct htw__histogram *histogram, size_t *cursor,
                         struct htw__histogram_cell *ret_cell);

#endif /* HTW_SRC_HISTOGRAM_H */

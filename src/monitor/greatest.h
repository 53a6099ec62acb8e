/* SPDX-License-Identifier: MIT */
/*
 * greatest.h - chooses the greatest of any number of rows, one after the other: so that an answer is bounded whatever a
 * program has. The caller keeps the rows, and adds up those that have no place.
 */
#ifndef HTW_SRC_MONITOR_GREATEST_H
#define HTW_SRC_MONITOR_GREATEST_H

#include <stdbool.h>
#include <stdint.h>

#define HTW__ROWS_SHOWN 64u    /* at most, of each source */
#define HTW__ROWS_IN_ALL 1024u /* of all sources, about */
#define HTW__ROWS_LEAST 4u     /* of each source, however many there are */

struct htw__greatest {
    uint32_t most, count;
    uint64_t weights[HTW__ROWS_SHOWN];
};

/* For one of so many sources. */
void htw__greatest_init(struct htw__greatest *self, uint32_t sources);

/* Whether a row is among the greatest up to now. */
bool htw__greatest_takes(const struct htw__greatest *self, uint64_t weight);

/* The place for such a row, below `most`. `*ret_is_taken`: another row is there, which has no place any more. */
uint32_t htw__greatest_place(struct htw__greatest *self, uint64_t weight, bool *ret_is_taken);

/* The places in the order of their weights, the greatest first. */
void htw__greatest_sort(const struct htw__greatest *self, uint32_t order[HTW__ROWS_SHOWN]);

#endif /* HTW_SRC_MONITOR_GREATEST_H */

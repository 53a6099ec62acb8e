/* SPDX-License-Identifier: MIT */
/* table.h - tables that fit the width of the terminal: nothing of them is cut off. */
#ifndef HTW_TOP_TABLE_H
#define HTW_TOP_TABLE_H

#include "draw.h"

#include <stddef.h>

#define HTW__COLUMNS_MAX 8

/* A column of numbers, at least as wide as its title. */
struct htw__column {
    const char *title;
    unsigned width;
    enum htw__how how;
    const char *member;
};

struct htw__table_row {
    char subject[HTW__ANSWER_TEXT_SIZE];            /* what the row is about */
    char where[HTW__ANSWER_TEXT_SIZE + 2];          /* a function of it, */
    char place[HTW__ANSWER_TEXT_SIZE + 24];         /* ... and a file; "": none */
    char texts[HTW__COLUMNS_MAX][HTW__FIGURE_SIZE]; /* numbers */
};

struct htw__table {
    const char *subject;
    struct htw__column columns[HTW__COLUMNS_MAX];
    unsigned column_count;
    const struct htw__table_row *rows;
    size_t row_count;
};

/*
 * Where all rows fit, a row is a line: the numbers, and what it is about, without folders if need be. Otherwise a row has
 * what it is about on lines of its own, and below that each number with its title.
 */
void htw__table_draw(const struct htw__table *table, struct htw__page *page);

#endif /* HTW_TOP_TABLE_H */

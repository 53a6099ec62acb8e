/* SPDX-License-Identifier: MIT */
/* table.h - tables that fit the width of the terminal: nothing of them is cut off. */
#ifndef HTW_TOP_TABLE_H
#define HTW_TOP_TABLE_H

#include "figures.h"
#include "lines.h"

#include <stddef.h>

#define HTW__COLUMNS_MAX 8

/* A column of numbers, at least as wide as its title. */
struct htw__column {
    const char *title;
    unsigned width;
    int how;       /* for the one who fills it in: how a number is shown, */
    size_t offset; /* ... and where it is in a struct */
};

struct htw__table_row {
    char subject[256]; /* what the row is about; "": a number says it */
    char where[136];   /* a function of it, */
    char place[272];   /* ... and a file; "": none */
    char texts[HTW__COLUMNS_MAX][HTW__FIGURE_SIZE]; /* numbers */
};

/*
 * Where all rows fit, a row is a line: the numbers, and what it is about, without folders if need be. Otherwise a row has
 * what it is about on lines of its own, and below that each number with its title.
 */
void htw__table_draw(const struct htw__drawing *self, const struct htw__column *columns,
                     unsigned column_count, const char *subject, const struct htw__table_row *rows,
                     size_t row_count);

#endif /* HTW_TOP_TABLE_H */

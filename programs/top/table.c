/* SPDX-License-Identifier: MIT */
/* table.c - tables that fit the width of the terminal. */
#include "table.h"

#include <string.h>

#define FIGURE 6 /* characters of most numbers */
#define MARGIN 2 /* at the left of a line, and between columns */

static const char *place_of(const struct htw__table_row *row, bool is_short) {
    const char *slash = is_short ? strrchr(row->place, '/') : NULL;
    return slash != NULL ? slash + 1 : row->place;
}

/* What a row is about, on one line. */
static size_t length_of(const struct htw__table_row *row, bool is_short) {
    const char *place = place_of(row, is_short);
    size_t length = strlen(row->subject);
    length += *row->where != '\0' ? MARGIN + strlen(row->where) : 0;
    return length + (*place != '\0' ? MARGIN + strlen(place) : 0);
}

static bool fits(const struct htw__table *table, unsigned width, bool is_short) {
    size_t numbers = 0;
    for (unsigned i = 0; i < table->column_count; i++)
        numbers += MARGIN + table->columns[i].width;
    for (size_t i = 0; i < table->row_count; i++)
        if (numbers + MARGIN + length_of(&table->rows[i], is_short) > width)
            return false;
    return true;
}

static void draw_line(const struct htw__table *table, struct htw__page *page,
                      const struct htw__table_row *row, bool is_short) {
    const char *place = place_of(row, is_short);
    for (unsigned i = 0; i < table->column_count; i++)
        htw__page_add(page, "  %*s", (int)table->columns[i].width, row->texts[i]);
    htw__page_add(page, "  " HTW__GOOD "%s" HTW__PLAIN, row->subject);
    if (*row->where != '\0')
        htw__page_add(page, "  %s", row->where);
    if (*place != '\0')
        htw__page_add(page, HTW__LABEL "  %s" HTW__PLAIN, place);
    htw__page_end_line(page);
}

static void draw_titles(const struct htw__table *table, struct htw__page *page) {
    htw__page_add(page, HTW__LABEL);
    for (unsigned i = 0; i < table->column_count; i++)
        htw__page_add(page, "  %*s", (int)table->columns[i].width, table->columns[i].title);
    htw__page_add(page, "  %s" HTW__PLAIN, table->subject);
    htw__page_end_line(page);
}

/* Numbers that are there are below each other in all rows. */
static void draw_lines(const struct htw__table *table, struct htw__page *page,
                       const struct htw__table_row *row) {
    htw__page_add(page, "  ");
    htw__page_flow_text(page, HTW__GOOD, row->subject);
    htw__page_flow_text(page, HTW__PLAIN, row->where);
    htw__page_flow_text(page, HTW__LABEL, row->place);
    htw__page_end_line(page);
    htw__page_add(page, "    ");
    for (unsigned i = 0; i < table->column_count; i++) {
        const char *title = table->columns[i].title;
        htw__page_break(page, strlen(title) + 1 + FIGURE);
        htw__page_add(page, HTW__LABEL "%s " HTW__PLAIN "%-*s  ", title, FIGURE, row->texts[i]);
    }
    htw__page_end_line(page);
}

void htw__table_draw(const struct htw__table *table, struct htw__page *page) {
    bool is_short = !fits(table, page->width, false);
    bool is_wide = !is_short || fits(table, page->width, true);
    if (is_wide)
        draw_titles(table, page);
    for (size_t i = 0; i < table->row_count; i++) {
        if (is_wide)
            draw_line(table, page, &table->rows[i], is_short);
        else
            draw_lines(table, page, &table->rows[i]);
    }
}

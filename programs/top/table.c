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

static int title_size(const struct htw__column *column, bool is_total) {
    return (int)strcspn(column->title, is_total ? "/" : "");
}

static void draw_titles(const struct htw__table *table, struct htw__page *page, bool is_total) {
    htw__page_add(page, HTW__LABEL);
    for (unsigned i = 0; i < table->column_count; i++)
        htw__page_add(page, "  %*.*s", (int)table->columns[i].width,
                      title_size(&table->columns[i], is_total), table->columns[i].title);
    htw__page_add(page, "  %s" HTW__PLAIN, table->subject);
    htw__page_end_line(page);
}

/* Numbers that are there are below each other in all rows. */
static void draw_lines(const struct htw__table *table, struct htw__page *page,
                       const struct htw__table_row *row, bool is_total) {
    htw__page_add(page, "  ");
    htw__page_flow_text(page, HTW__GOOD, row->subject);
    htw__page_flow_text(page, HTW__PLAIN, row->where);
    htw__page_flow_text(page, HTW__LABEL, row->place);
    if (*row->subject != '\0') {
        htw__page_end_line(page);
        htw__page_add(page, "    ");
    }
    for (unsigned i = 0; i < table->column_count; i++) {
        int size = title_size(&table->columns[i], is_total);
        htw__page_break(page, (size_t)size + 1 + FIGURE);
        htw__page_add(page, HTW__LABEL "%.*s " HTW__PLAIN "%-*s  ", size, table->columns[i].title,
                      FIGURE, row->texts[i]);
    }
    htw__page_end_line(page);
}

void htw__table_draw(const struct htw__table *table, struct htw__page *page, bool is_total) {
    bool is_short = !fits(table, page->width, false);
    bool is_wide = !is_short || fits(table, page->width, true);
    if (is_wide)
        draw_titles(table, page, is_total);
    for (size_t i = 0; i < table->row_count; i++) {
        if (is_wide)
            draw_line(table, page, &table->rows[i], is_short);
        else
            draw_lines(table, page, &table->rows[i], is_total);
    }
}

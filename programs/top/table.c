/* SPDX-License-Identifier: MIT */
/* table.c - tables that fit the width of the terminal. */
#include "table.h"

#include <string.h>

#define FIGURE 6 /* characters of most numbers */
#define MARGIN 2 /* at the left of a line, and between columns */

static const char *without_folders(const char *place) {
    const char *slash = strrchr(place, '/');
    return slash != NULL ? slash + 1 : place;
}

/* What a row is about, on one line. */
static size_t length_of(const struct htw__table_row *row, bool is_short) {
    const char *place = is_short ? without_folders(row->place) : row->place;
    size_t length = strlen(row->subject);
    length += *row->where != '\0' ? MARGIN + strlen(row->where) : 0;
    return length + (*place != '\0' ? MARGIN + strlen(place) : 0);
}

static bool fits(const struct htw__drawing *self, size_t numbers, const struct htw__table_row *rows,
                 size_t row_count, bool is_short) {
    for (size_t i = 0; i < row_count; i++)
        if (numbers + MARGIN + length_of(&rows[i], is_short) > self->view->width)
            return false;
    return true;
}

static void draw_line(const struct htw__drawing *self, const struct htw__column *columns,
                      unsigned column_count, const struct htw__table_row *row, bool is_short) {
    const char *place = is_short ? without_folders(row->place) : row->place;
    for (unsigned i = 0; i < column_count; i++)
        htw__page_add(self->page, "  %*s", (int)columns[i].width, row->texts[i]);
    htw__page_add(self->page, "  " HTW__GOOD "%s" HTW__PLAIN, row->subject);
    if (*row->where != '\0')
        htw__page_add(self->page, "  %s", row->where);
    if (*place != '\0')
        htw__page_add(self->page, HTW__LABEL "  %s" HTW__PLAIN, place);
    htw__line_end(self);
}

static void draw_titles(const struct htw__drawing *self, const struct htw__column *columns,
                        unsigned column_count, const char *subject) {
    htw__page_add(self->page, HTW__LABEL);
    for (unsigned i = 0; i < column_count; i++)
        htw__page_add(self->page, "  %*s", (int)columns[i].width, columns[i].title);
    htw__page_add(self->page, "  %s" HTW__PLAIN, subject);
    htw__line_end(self);
}

/* Numbers that are there are below each other in all rows. */
static void draw_lines(const struct htw__drawing *self, const struct htw__column *columns,
                       unsigned column_count, const struct htw__table_row *row) {
    htw__page_add(self->page, "  ");
    htw__flow_add_text(self, HTW__GOOD, row->subject);
    htw__flow_add_text(self, HTW__PLAIN, row->where);
    htw__flow_add_text(self, HTW__LABEL, row->place);
    if (*row->subject != '\0') {
        htw__line_end(self);
        htw__page_add(self->page, "    ");
    }
    for (unsigned i = 0; i < column_count; i++) {
        htw__flow_break(self, strlen(columns[i].title) + 1 + FIGURE);
        htw__page_add(self->page, HTW__LABEL "%s " HTW__PLAIN "%-*s  ", columns[i].title, FIGURE,
                      row->texts[i]);
    }
    htw__line_end(self);
}

void htw__table_draw(const struct htw__drawing *self, const struct htw__column *columns,
                     unsigned column_count, const char *subject, const struct htw__table_row *rows,
                     size_t row_count) {
    size_t numbers = 0;
    for (unsigned i = 0; i < column_count; i++)
        numbers += MARGIN + columns[i].width;
    bool is_short = !fits(self, numbers, rows, row_count, false);
    bool is_wide = !is_short || fits(self, numbers, rows, row_count, true);
    if (is_wide)
        draw_titles(self, columns, column_count, subject);
    for (size_t i = 0; i < row_count; i++) {
        if (is_wide)
            draw_line(self, columns, column_count, &rows[i], is_short);
        else
            draw_lines(self, columns, column_count, &rows[i]);
    }
}

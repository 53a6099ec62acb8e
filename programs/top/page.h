/* SPDX-License-Identifier: MIT */
/*
 * page.h - lines of text with styles: what is shown, before it gets to a terminal or to a file.
 *
 * A byte below HTW__STYLE_END inside a line is a style, which goes to the end of the line or to the next
 * one. All other text is printable.
 */
#ifndef HTW_TOP_PAGE_H
#define HTW_TOP_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum htw__style {
    HTW__STYLE_PLAIN = 1,
    HTW__STYLE_TITLE,
    HTW__STYLE_LABEL, /* what does not change */
    HTW__STYLE_GOOD,
    HTW__STYLE_WARNING,
    HTW__STYLE_COOL, /* three degrees of heat */
    HTW__STYLE_WARM,
    HTW__STYLE_HOT,
    HTW__STYLE_END
};

/* For format strings. */
#define HTW__PLAIN "\1"
#define HTW__TITLE "\2"
#define HTW__LABEL "\3"
#define HTW__GOOD "\4"
#define HTW__WARNING "\5"

struct htw__page {
    FILE *stream; /* to which lines are written, */
    char *bytes;  /* ... and in which each ends with NUL */
    size_t size;
    size_t line_count;
    size_t column;   /* characters on the line that is being written */
    unsigned width;  /* of a line that flows; at least 20 count */
    bool has_failed; /* no memory: there are no lines */
};

void htw__page_free(struct htw__page *page);
void htw__page_clear(struct htw__page *page, unsigned width);

/* The characters of a text, without styles. */
size_t htw__page_width(const char *text);

/* Appends to the line that is being written, as printf(); and ends it. */
void htw__page_add(struct htw__page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void htw__page_end_line(struct htw__page *page);

/* Begins another line unless so many characters fit this one. */
void htw__page_break(struct htw__page *page, size_t width);

/* Adds to the line, as printf(), what belongs together; to the next line, if it does not fit this one. */
void htw__page_flow(struct htw__page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a text of any length; and words of which each may begin a line, and does where a newline is before it. */
void htw__page_flow_text(struct htw__page *page, const char *style, const char *text);
void htw__page_flow_words(struct htw__page *page, const char *words);

/* The first line, when the last one has ended, and the one after `line`; NULL: there is none. */
const char *htw__page_first(struct htw__page *page);
const char *htw__page_next(const struct htw__page *page, const char *line);

/* Writes all lines without styles. */
void htw__page_print(struct htw__page *page, FILE *stream);

#endif /* HTW_TOP_PAGE_H */

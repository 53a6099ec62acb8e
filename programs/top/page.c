/* SPDX-License-Identifier: MIT */
/* page.c - lines of text with styles. */
#include "page.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 512 /* longer than anything that is added at once */
#define INDENT 4u    /* of lines that go on */

void htw__page_free(struct htw__page *page) {
    if (page->stream != NULL)
        (void)fclose(page->stream);
    free(page->bytes);
    *page = (struct htw__page) { NULL, NULL, 0, 0, 0, 0, false };
}

void htw__page_clear(struct htw__page *page, unsigned width) {
    htw__page_free(page);
    page->width = width;
    page->stream = open_memstream(&page->bytes, &page->size);
    page->has_failed = page->stream == NULL;
}

size_t htw__page_width(const char *text) {
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += (unsigned char)*text >= HTW__STYLE_END && ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static void add(struct htw__page *page, const char *text) {
    if (!page->has_failed)
        page->has_failed = fputs(text, page->stream) < 0;
    page->column += htw__page_width(text);
}

void htw__page_add(struct htw__page *page, const char *format, ...) {
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    add(page, text);
}

void htw__page_end_line(struct htw__page *page) {
    if (!page->has_failed)
        page->has_failed = putc('\0', page->stream) < 0;
    page->line_count++;
    page->column = 0;
}

void htw__page_break(struct htw__page *page, size_t width) {
    if (page->column <= INDENT || page->column + width <= page->width)
        return;
    htw__page_end_line(page);
    add(page, "    ");
}

/* Blanks at the end need no room. */
static size_t room_for(const char *text) {
    size_t size = strlen(text), blanks = 0;
    while (blanks < size && text[size - blanks - 1] == ' ')
        blanks++;
    return htw__page_width(text) - blanks;
}

void htw__page_flow(struct htw__page *page, const char *format, ...) {
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    htw__page_break(page, room_for(text));
    add(page, text);
}

void htw__page_flow_text(struct htw__page *page, const char *style, const char *text) {
    size_t length = strlen(text), most = page->width > INDENT + 8 ? page->width - INDENT : 8;
    if (length == 0)
        return;
    for (; length > most; text += most, length -= most)
        htw__page_flow(page, "%s%.*s" HTW__PLAIN, style, (int)most, text);
    htw__page_flow(page, "%s%s" HTW__PLAIN "  ", style, text);
}

void htw__page_flow_words(struct htw__page *page, const char *words) {
    while (*words != '\0') {
        size_t length = strcspn(words, " \n");
        htw__page_break(page, length);
        htw__page_add(page, "%.*s ", (int)length, words);
        words += length;
        if (*words == '\n')
            htw__page_end_line(page);
        words += *words != '\0';
    }
}

const char *htw__page_first(struct htw__page *page) {
    page->has_failed = page->has_failed || fflush(page->stream) != 0;
    return page->has_failed || page->size == 0 ? NULL : page->bytes;
}

const char *htw__page_next(const struct htw__page *page, const char *line) {
    const char *next = line + strlen(line) + 1;
    return next < page->bytes + page->size ? next : NULL;
}

void htw__page_print(struct htw__page *page, FILE *stream) {
    for (const char *line = htw__page_first(page); line != NULL;
         line = htw__page_next(page, line)) {
        size_t end = strlen(line);
        while (end > 0 && (line[end - 1] == ' ' || (unsigned char)line[end - 1] < HTW__STYLE_END))
            end--;
        for (size_t i = 0; i < end; i++)
            if ((unsigned char)line[i] >= HTW__STYLE_END)
                putc(line[i], stream);
        putc('\n', stream);
    }
}

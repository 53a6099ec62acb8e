/* SPDX-License-Identifier: MIT */
/* text.h - a text that grows. A failure stays: the caller looks at the end. */
#ifndef HTW_SRC_MONITOR_TEXT_H
#define HTW_SRC_MONITOR_TEXT_H

#include "../base/alloc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* No answer is longer. */
#define HTW__TEXT_MAX ((size_t)16 * 1024 * 1024)

struct htw__answer_text {
    const struct htw_allocator *allocator;
    char *bytes; /* NULL: none yet */
    size_t size, capacity;
    bool has_failed;
};

void htw__text_init(struct htw__answer_text *text, const struct htw_allocator *allocator);
void htw__text_fini(struct htw__answer_text *text);

static inline bool htw__text_ends_with(const struct htw__answer_text *text, char c) {
    return text->size > 0 && text->bytes[text->size - 1] == c;
}

/* Appends as printf(). Without memory, or beyond HTW__TEXT_MAX, nothing is appended any more. */
void htw__text_add(struct htw__answer_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A stream that appends, without a buffer of its own, for fclose(). NULL: no memory; the text has failed. */
FILE *htw__text_stream(struct htw__answer_text *text);

/* Separates an element of a list, or a member of an object, from the one before it. */
void htw__text_separate(struct htw__answer_text *text);

/* Appends a text that the program has chosen, escaped as JSON and Prometheus want it. Bytes that are not printable
   ASCII are shown as '?'. */
void htw__text_add_escaped(struct htw__answer_text *text, const char *string);

/* Appends a string of JSON after `before`; for "": null. */
void htw__text_add_string(struct htw__answer_text *text, const char *before, const char *string);

#endif /* HTW_SRC_MONITOR_TEXT_H */

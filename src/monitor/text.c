/* SPDX-License-Identifier: MIT */
/* text.c - a text that grows. */
#include "text.h"

#include <stdarg.h>
#include <string.h>

#define CAPACITY_FIRST ((size_t)4096)

void htw__text_init(struct htw__answer_text *text, const struct htw_allocator *allocator) {
    *text = (struct htw__answer_text) { .allocator = allocator };
}

void htw__text_fini(struct htw__answer_text *text) {
    htw__release(text->allocator, text->bytes, text->capacity);
    htw__text_init(text, text->allocator);
}

/* Room for `more` bytes and a NUL. */
static bool reserve(struct htw__answer_text *text, size_t more) {
    size_t capacity = text->capacity == 0 ? CAPACITY_FIRST : text->capacity;
    while (capacity - text->size <= more)
        capacity *= 2;
    if (capacity == text->capacity)
        return true;
    char *bytes = capacity <= HTW__TEXT_MAX ? htw__allocate(text->allocator, capacity) : NULL;
    if (bytes == NULL)
        return false;
    if (text->size > 0)
        memcpy(bytes, text->bytes, text->size);
    htw__release(text->allocator, text->bytes, text->capacity);
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void htw__text_add(struct htw__answer_text *text, const char *format, ...) {
    va_list arguments, again;
    size_t room = text->capacity - text->size;
    if (text->has_failed)
        return;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(room > 0 ? text->bytes + text->size : NULL, room, format, arguments);
    text->has_failed = size < 0 || !reserve(text, (size_t)size);
    if (!text->has_failed && (size_t)size >= room)
        vsnprintf(text->bytes + text->size, (size_t)size + 1, format, again);
    if (!text->has_failed)
        text->size += (size_t)size;
    va_end(again);
    va_end(arguments);
}

static ssize_t append(void *cookie, const char *bytes, size_t size) {
    htw__text_add(cookie, "%.*s", (int)size, bytes);
    return (ssize_t)size;
}

FILE *htw__text_stream(struct htw__answer_text *text) {
    FILE *stream = fopencookie(text, "w", (cookie_io_functions_t) { .write = append });
    text->has_failed |= stream == NULL;
    if (stream != NULL)
        (void)setvbuf(stream, NULL, _IONBF, 0);
    return stream;
}

void htw__text_separate(struct htw__answer_text *text) {
    if (!htw__text_ends_with(text, '[') && !htw__text_ends_with(text, '{'))
        htw__text_add(text, ",");
}

void htw__text_add_escaped(struct htw__answer_text *text, const char *string) {
    for (; *string != '\0'; string++) {
        if (*string == '"' || *string == '\\')
            htw__text_add(text, "\\");
        htw__text_add(text, "%c", *string >= ' ' && *string <= '~' ? *string : '?');
    }
}

void htw__text_add_string(struct htw__answer_text *text, const char *before, const char *string) {
    htw__text_add(text, *string != '\0' ? "%s\"" : "%snull", before);
    htw__text_add_escaped(text, string);
    if (*string != '\0')
        htw__text_add(text, "\"");
}

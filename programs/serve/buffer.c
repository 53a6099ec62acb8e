/* SPDX-License-Identifier: MIT */
/* buffer.c - how a buffer grows. */
#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CAPACITY_MIN 256

/* Up to this size a buffer doubles. Beyond, it grows by an eighth and this size, to waste less. */
#define GROWTH_MAX ((size_t)256 << 10)

bool htw__buffer_reserve(struct htw__buffer *buffer, size_t more) {
    if (more <= buffer->capacity - buffer->size)
        return true;
    if (more > SIZE_MAX / 4 - buffer->size) {
        buffer->failed = true;
        return false;
    }
    size_t capacity = buffer->capacity == 0 ? CAPACITY_MIN : buffer->capacity;
    while (capacity - buffer->size < more && capacity < GROWTH_MAX)
        capacity *= 2;
    while (capacity - buffer->size < more)
        capacity = more > GROWTH_MAX ? buffer->size + more : capacity + capacity / 8 + GROWTH_MAX;
    char *bytes = realloc(buffer->bytes, capacity);
    if (bytes == NULL) {
        buffer->failed = true;
        return false;
    }
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

void htw__buffer_append(struct htw__buffer *buffer, const void *bytes, size_t size) {
    if (size == 0 || buffer->failed || !htw__buffer_reserve(buffer, size))
        return;
    memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
}

void htw__buffer_print(struct htw__buffer *buffer, const char *format, ...) {
    char text[HTW__BUFFER_TEXT + 1];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (size > 0)
        htw__buffer_append(buffer, text, strlen(text));
}

void htw__buffer_number(struct htw__buffer *buffer, uint64_t number) {
    char digits[20], *at = digits + sizeof(digits);
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    htw__buffer_append(buffer, at, (size_t)(digits + sizeof(digits) - at));
}

void htw__buffer_drop(struct htw__buffer *buffer, size_t size) {
    buffer->size -= size;
    if (buffer->size > 0 && size > 0)
        memmove(buffer->bytes, buffer->bytes + size, buffer->size);
}

void htw__buffer_fini(struct htw__buffer *buffer) {
    free(buffer->bytes);
    *buffer = (struct htw__buffer) { .bytes = NULL };
}

/* SPDX-License-Identifier: MIT */
/* buffer.c - how a buffer grows. */
#include "buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 256

/* Up to this size a buffer doubles. Beyond, it grows by an eighth and this size, to waste less. */
#define GROWTH_MAX ((size_t)256 << 10)

bool buffer_reserve(struct buffer *buffer, size_t more) {
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

void buffer_append(struct buffer *buffer, const void *bytes, size_t size) {
    if (size == 0 || buffer->failed || !buffer_reserve(buffer, size))
        return;
    memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
}

void buffer_drop(struct buffer *buffer, size_t size) {
    buffer->size -= size;
    if (buffer->size > 0 && size > 0)
        memmove(buffer->bytes, buffer->bytes + size, buffer->size);
}

void buffer_fini(struct buffer *buffer) {
    free(buffer->bytes);
    *buffer = (struct buffer) { .bytes = NULL };
}

/* SPDX-License-Identifier: MIT */
#include "buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 256

bool buffer_reserve(struct buffer *buffer, size_t more) {
    if (more <= buffer->capacity - buffer->size)
        return true;
    size_t capacity = buffer->capacity == 0 ? CAPACITY_MIN : buffer->capacity;
    while (capacity - buffer->size < more && capacity <= SIZE_MAX / 4)
        capacity *= 2;
    char *bytes = capacity - buffer->size < more ? NULL : realloc(buffer->bytes, capacity);
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

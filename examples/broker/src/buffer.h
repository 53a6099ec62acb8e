/* SPDX-License-Identifier: MIT */
/* buffer.h - bytes that grow at the end. A zeroed buffer is empty. */
#ifndef BROKER_BUFFER_H
#define BROKER_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
    char *bytes;
    size_t size;
    size_t capacity;
    bool failed; /* an allocation has failed; later appends were dropped */
};

/* Makes room for `more` bytes at the end. Returns false, and sets `failed`, if there is no memory.
   */
bool buffer_reserve(struct buffer *buffer, size_t more);

void buffer_append(struct buffer *buffer, const void *bytes, size_t size);

/* Removes the first `size` bytes. */
void buffer_drop(struct buffer *buffer, size_t size);

/* Empties the buffer and frees its memory. */
void buffer_fini(struct buffer *buffer);

#endif /* BROKER_BUFFER_H */

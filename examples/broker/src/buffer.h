/* SPDX-License-Identifier: MIT */
/* buffer.h - bytes that grow at the end; zeroed, it is empty. */
#ifndef BROKER_BUFFER_H
#define BROKER_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
    char *bytes;
    size_t size;
    size_t capacity;
    bool failed; /* memory was lacking: what was appended since is not there */
};

/* Makes room for `more` bytes behind the end; false, and `failed`: no memory. */
bool buffer_reserve(struct buffer *buffer, size_t more);

void buffer_append(struct buffer *buffer, const void *bytes, size_t size);

/* Takes away the first `size` bytes. */
void buffer_drop(struct buffer *buffer, size_t size);

/* Empties it and gives its memory back. */
void buffer_fini(struct buffer *buffer);

#endif /* BROKER_BUFFER_H */

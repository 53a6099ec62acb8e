/* SPDX-License-Identifier: MIT */
/* buffer.h - bytes that grow at the end. A zeroed buffer is empty. */
#ifndef HTW_SERVE_BUFFER_H
#define HTW_SERVE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct htw__buffer {
    char *bytes;
    size_t size;
    size_t capacity;
    bool failed; /* an allocation has failed; later appends were dropped */
};

/* Makes room for `more` bytes at the end. Returns false, and sets `failed`, if there is no memory.
   */
bool htw__buffer_reserve(struct htw__buffer *buffer, size_t more);

void htw__buffer_append(struct htw__buffer *buffer, const void *bytes, size_t size);

static inline void htw__buffer_text(struct htw__buffer *buffer, const char *text) {
    htw__buffer_append(buffer, text, strlen(text));
}

/* In decimal digits. */
void htw__buffer_number(struct htw__buffer *buffer, uint64_t number);

/* Appends text, as printf() makes it: at most HTW__BUFFER_TEXT bytes. */
#define HTW__BUFFER_TEXT 2048
void htw__buffer_print(struct htw__buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Removes the first `size` bytes. */
void htw__buffer_drop(struct htw__buffer *buffer, size_t size);

/* Empties the buffer and frees its memory. */
void htw__buffer_fini(struct htw__buffer *buffer);

#endif /* HTW_SERVE_BUFFER_H */
